//! A fake machine and an example run, for the tests of this crate and its dependents.

pub mod example;
pub mod fake;
mod fake_firmware;
mod fake_timers;

use alloc::vec::Vec;

use hardware::board::Mpidr;

use crate::model::Cpu;

/// Returns CPUs in clusters of four.
pub fn board(cpus: usize) -> Vec<Cpu> {
    let cpu = |index: usize| Cpu {
        mpidr: Some(Mpidr::new((index / 4 * 0x100 + index % 4) as u64)),
        cluster: (index / 4) as u16,
        core: (index % 4) as u16,
        ..Cpu::default()
    };
    (0..cpus).map(cpu).collect()
}
