//! The CPUs of the fake machine and of the synthetic run.

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
