//! Dirty cache lines, which must be written back when a CPU powers down.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::machine::cpu::instructions;

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
        let words = self.words.get(..bytes / size_of::<u64>());
        let words = words.unwrap_or(self.words);
        for line in words.chunks(self.words_per_line) {
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
