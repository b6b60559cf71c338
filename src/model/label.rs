//! What a CPU is called: by its cluster and core, as the board labels them.

use core::fmt;

use crate::board::Cpu;
use crate::model::Run;

/// A CPU's name in a sentence, such as `1.3`; with its thread, `1.3.0`, where
/// the board has such.
#[derive(Clone, Copy)]
pub(crate) struct Label {
    cpu: Cpu,
    threads: bool,
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cpu {
            cluster,
            core,
            thread,
            ..
        } = self.cpu;
        write!(f, "{}.{}", u64::from(cluster), u64::from(core))?;
        if self.threads {
            write!(f, ".{}", u64::from(thread))?;
        }
        Ok(())
    }
}

impl Run<'_> {
    /// The CPU at `index` of the board's order.
    pub(crate) fn cpu(&self, index: usize) -> &Cpu {
        const NONE: Cpu = Cpu {
            mpidr: 0,
            cluster: 0,
            core: 0,
            thread: 0,
        };
        self.cpus.get(index).unwrap_or(&NONE)
    }

    /// Its name.
    pub(crate) fn label(&self, index: usize) -> Label {
        Label {
            cpu: *self.cpu(index),
            threads: self.threads() > 1,
        }
    }

    /// The most threads that a core has.
    pub(crate) fn threads(&self) -> u64 {
        1 + self
            .cpus
            .iter()
            .map(|c| u64::from(c.thread))
            .max()
            .unwrap_or(0)
    }

    /// The core's number where there is room for but one: threads are
    /// counted through, so that no two CPUs share a number.
    pub(crate) fn core_number(&self, cpu: &Cpu) -> u64 {
        u64::from(cpu.core) * self.threads() + u64::from(cpu.thread)
    }
}
