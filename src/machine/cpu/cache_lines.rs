//! Eviction of cache lines.

use core::arch::asm;
use core::ops::Range;

use crate::machine::cpu::{instructions, registers};

/// Cleans and invalidates the data cache lines of these addresses, to the point of coherency, and
/// invalidates their instruction cache lines.
///
/// # Safety
/// The addresses are mapped and can be read.
pub unsafe fn evict(addresses: Range<u64>) {
    let line = registers::shortest_line_bytes();
    let mut at = addresses.start & !(line - 1);
    while at < addresses.end {
        // SAFETY: maintenance by address does not change what memory contains, and does not fault
        // on an address that can be read.
        unsafe { asm!("dc civac, {at}", "ic ivau, {at}", at = in(reg) at, options(nostack)) };
        at += line;
    }
    instructions::complete_accesses();
}
