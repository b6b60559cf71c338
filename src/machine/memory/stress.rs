//! The loads and their buffer.
//!
//! The stores and the cache maintenance are in `stress.S`, so that they are executed as written,
//! not transformed by a compiler.

use core::arch::global_asm;

use aarch64_cpu::asm::barrier;
use hardware::board::Region;
use hardware::image::Conduit;
use suite::plan::Load;

use crate::machine::memory::tables::Pages;

global_asm!(include_str!("stress.S"));

pub type Function = unsafe extern "C" fn(first: u64, bytes: u64, line: u64, block: u64);

unsafe extern "C" {
    fn stress_idle(first: u64, bytes: u64, line: u64, block: u64);
    fn stress_write(first: u64, bytes: u64, line: u64, block: u64);
    fn stress_zero(first: u64, bytes: u64, line: u64, block: u64);
    fn stress_nontemporal(first: u64, bytes: u64, line: u64, block: u64);
    fn stress_clean(first: u64, bytes: u64, line: u64, block: u64);
    fn stress_smc(first: u64, bytes: u64, line: u64, block: u64);
    fn stress_hvc(first: u64, bytes: u64, line: u64, block: u64);
}

/// Returns the functions that make up a load; they run in turn. Plain stores replace DC ZVA if
/// `zero` is false. Calls use `conduit`.
pub fn functions_of_load(load: Load, zero: bool, conduit: Conduit) -> [Function; 4] {
    let zeroes: Function = if zero { stress_zero } else { stress_write };
    match load {
        // A CPU does not suspend in this loop.
        Load::Idle | Load::Suspend => [stress_idle; 4],
        Load::Write => [stress_write; 4],
        Load::Zero => [zeroes; 4],
        Load::Nontemporal => [stress_nontemporal; 4],
        Load::Clean => [stress_clean; 4],
        Load::Smc => match conduit {
            Conduit::Smc => [stress_smc; 4],
            Conduit::Hvc => [stress_hvc; 4],
        },
        Load::Mixed => [stress_write, zeroes, stress_nontemporal, stress_clean],
    }
}

/// The memory that a CPU's load writes to. Holding a value proves that the pages are mapped, have
/// been written to once, and have no other owner. The buffer may be empty.
pub struct StressBuffer(Pages);

impl StressBuffer {
    /// Writes to all of `pages` once, because a hypervisor may allocate memory only on the first
    /// access.
    pub fn new(pages: Pages) -> Self {
        let Region { base, size } = pages.region();
        if size > 0 {
            // SAFETY: stress_write stores only to the `size` bytes starting at the base. The size
            // is a multiple of 4096, and therefore of the 64 bytes stored in each iteration. The
            // pages are mapped memory owned only by this buffer. stress_write uses x0 and x1.
            unsafe { stress_write(base, size, 0, 0) };
        }
        barrier::dsb(barrier::SY);
        Self(pages)
    }

    pub const fn region(&self) -> Region {
        self.0.region()
    }
}
