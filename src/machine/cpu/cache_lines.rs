//! Eviction of cache lines.

use core::arch::asm;
use core::ops::Range;

use crate::machine::cpu::{instructions, registers};

/// Cleans and invalidates the data cache lines at these addresses to the point of coherency, and
/// invalidates their instruction cache lines.
///
/// # Safety
/// The addresses must be mapped and readable.
pub unsafe fn evict(addresses: Range<u64>) {
    let line = registers::shortest_line_bytes();
    let mut at = addresses.start & !(line - 1);
    while at < addresses.end {
        // SAFETY: cache maintenance by address does not change memory contents, and does not fault
        // on a readable address.
        unsafe { asm!("dc civac, {at}", "ic ivau, {at}", at = in(reg) at, options(nostack)) };
        at += line;
    }
    instructions::complete_accesses();
}
