//! A CPU of the board, with the labels that tables show.

use crate::spec::words::words;
use serde::{Deserialize, Serialize};

/// The most CPUs that a board may have.
pub const CPU_MAX: usize = 512;

/// One CPU, by its number in the hardware and its labels in the topology.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// Affinity fields of MPIDR_EL1; every other bit is 0.
    pub mpidr: u64,
    /// Number of its cluster.
    pub cluster: u16,
    /// Number of its core in the cluster.
    pub core: u16,
    /// Number of its thread in the core.
    pub thread: u16,
}

words! {
    /// The source of cluster, core and thread numbers.
    pub enum LabelSource, word {
        /// The cpu-map node.
        CpuMap = "cpu-map",
        /// The affinity fields, if there is no cpu-map.
        Mpidr = "mpidr",
    }
}

/// The phandle of a CPU's node.
#[derive(Clone, Copy)]
pub(crate) struct Handle {
    pub phandle: u32,
    /// Index in the list of CPUs; `None` for a disabled CPU, which cpu-map may still name.
    pub index: Option<u16>,
}
