//! Dirty lines in a CPU's cache, for its power-down to write back.

use crate::machine::cpu::instructions;
use crate::machine::cpu::registers;
use crate::machine::env::Env;
use core::sync::atomic::{AtomicU64, Ordering};

/// The memory that is written to, and how.
pub struct DirtyLines {
    /// One CPU at a time makes use of it: who did before has gone down since,
    /// and has written back what it had.
    pub words: &'static [AtomicU64],
    /// Words of a cache line, at least 1.
    pub line: usize,
}

impl Env {
    /// Makes so many bytes dirty in this CPU's cache, as far as there is
    /// memory for them.
    ///
    /// One word a line is read and then written. CPUs take whole lines that
    /// are only written for a stream, and send them past the cache.
    pub fn make_dirty(&self, bytes: usize) {
        let words = self.dirty.words;
        let words = words.get(..bytes / size_of::<u64>()).unwrap_or(words);
        for line in words.chunks(self.dirty.line) {
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

/// Words of the shortest line of a data cache; 1 where one has less than that.
pub fn words_per_line() -> usize {
    (registers::data_line_bytes() as usize / size_of::<u64>()).max(1)
}
