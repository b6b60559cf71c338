//! A CPU, and its name in tables and sentences.

use core::fmt;

use crate::hex;
use hardware::board::{self, CpuIndex, Mpidr};
use serde::{Deserialize, Serialize};

use crate::measure::Identity;

/// A CPU on the board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// The CPU's MPIDR; None if the CPU comes from TFTF's logs or tables.
    #[serde(with = "hex::option")]
    pub mpidr: Option<Mpidr>,
    /// The cluster, numbered from 0 in board order.
    pub cluster: u16,
    /// The core within the cluster, numbered from 0.
    pub core: u16,
    /// The thread number within the core.
    pub thread: u16,
    /// MIDR_EL1, caches and clocks; None for a CPU that has never been up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
}

/// A CPU's name in a sentence, such as `1.3`; `1.3.0` if cores have several threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    cluster: u16,
    core: u16,
    thread: Option<u16>,
}

impl Label {
    /// Returns the label for one of `cpus`, or for a CPU without an MPIDR if there is none at
    /// `index`.
    pub fn for_cpu<C>(cpus: &[C], index: CpuIndex) -> Self
    where
        for<'c> &'c C: Into<Cpu>,
    {
        let cpu: Cpu = cpus.get(index.index()).map(Into::into).unwrap_or_default();
        let has_threads = cpus.iter().any(|cpu| cpu.into().thread > 0);
        Self {
            cluster: cpu.cluster,
            core: cpu.core,
            thread: has_threads.then_some(cpu.thread),
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", u32::from(self.cluster), u32::from(self.core))?;
        match self.thread.map(u32::from) {
            Some(thread) => write!(f, ".{thread}"),
            None => Ok(()),
        }
    }
}

impl From<&Self> for Cpu {
    fn from(cpu: &Self) -> Self {
        *cpu
    }
}

impl From<&board::Cpu> for Cpu {
    fn from(cpu: &board::Cpu) -> Self {
        Self {
            mpidr: Some(cpu.mpidr),
            cluster: cpu.cluster,
            core: cpu.core,
            thread: cpu.thread,
            identity: None,
        }
    }
}
