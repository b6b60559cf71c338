//! Makes cache lines dirty, and evicts cache lines.

use core::arch::asm;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::machine::cpu::{instructions, registers};

/// Memory whose cache lines are made dirty before a power-down, which must write them back.
pub struct DirtyLines {
    /// Only one CPU at a time uses the words, after the previous CPU has powered down and written
    /// its lines back.
    pub words: &'static [AtomicU64],
    /// The number of words in a cache line, at least 1.
    pub words_per_line: usize,
}

impl DirtyLines {
    /// Makes `bytes` bytes dirty in this CPU's cache, or as many as the memory allows.
    ///
    /// Reads one word in each line before writing it, because CPUs may treat consecutive writes
    /// without reads as a stream that bypasses the cache.
    pub fn dirty(&self, bytes: usize) {
        let count = self.words.len().min(bytes / size_of::<u64>());
        for line in self.words[..count].chunks(self.words_per_line) {
            if let [word, ..] = line {
                let value = word.load(Ordering::Relaxed);
                word.store(value.wrapping_add(1), Ordering::Relaxed);
            }
        }
        if bytes != 0 {
            instructions::complete_accesses();
        }
    }
}

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
