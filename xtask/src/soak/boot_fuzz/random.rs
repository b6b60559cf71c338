//! Numbers that a seed repeats.

/// A generator of numbers that a seed repeats (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// Returns the next number, of all 64-bit numbers.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    /// Returns a number below `end`; 0 where that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        self.word().checked_rem(end as u64).unwrap_or(0) as usize
    }

    /// Returns one of `all`, which are not none.
    pub fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
}
