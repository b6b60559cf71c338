//! A CPU, and its name in tables and sentences.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::run::Run;
use crate::board;
use crate::measure::Identity;
use crate::spec::hex;

/// A CPU of the board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// The affinity fields of its MPIDR_EL1; None in TFTF's logs and tables.
    #[serde(with = "hex::option")]
    pub mpidr: Option<u64>,
    /// Number of its cluster.
    pub cluster: u16,
    /// Number of its core in the cluster.
    pub core: u16,
    /// Number of its thread in the core.
    pub thread: u16,
    /// MIDR_EL1, caches and clocks; None for a CPU that was never up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
}

/// A CPU's name in a sentence, such as `1.3`; with its thread, `1.3.0`, on a board
/// whose cores have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    cluster: u16,
    core: u16,
    thread: Option<u16>,
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.cluster, self.core)?;
        match self.thread {
            Some(thread) => write!(f, ".{thread}"),
            None => Ok(()),
        }
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

impl Run {
    /// Returns the CPU at `index` of the board's order; one without a MPIDR if
    /// there is none.
    #[must_use]
    pub fn cpu(&self, index: u16) -> Cpu {
        self.cpus
            .get(usize::from(index))
            .copied()
            .unwrap_or_default()
    }

    /// Returns the name of the CPU at `index`.
    #[must_use]
    pub fn label(&self, index: u16) -> Label {
        let cpu = self.cpu(index);
        Label {
            cluster: cpu.cluster,
            core: cpu.core,
            thread: (self.threads() > 1).then_some(cpu.thread),
        }
    }

    /// Returns the largest number of threads that a core has.
    #[must_use]
    pub fn threads(&self) -> u64 {
        let threads = self.cpus.iter().map(|cpu| u64::from(cpu.thread));
        threads.max().unwrap_or(0) + 1
    }

    /// Returns the first CPU of each cluster, by index in the board's order.
    pub(crate) fn cluster_heads(&self) -> impl Iterator<Item = u16> {
        let is_first = |index: &u16| {
            let cluster = self.cpu(*index).cluster;
            let first = self.cpus.iter().position(|cpu| cpu.cluster == cluster);
            first == Some(usize::from(*index))
        };
        (0..self.cpus.len() as u16).filter(is_first)
    }

    /// Returns the core's number where a table has one column for core and thread:
    /// threads are counted through, so that no two CPUs of a cluster share one.
    #[must_use]
    pub fn core_number(&self, cpu: &Cpu) -> u64 {
        u64::from(cpu.core) * self.threads() + u64::from(cpu.thread)
    }
}
