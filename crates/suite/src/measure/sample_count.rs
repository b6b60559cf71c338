//! How far a scenario's current step has gotten.

/// The number of valid and requested samples in a scenario's current step, across the CPUs that need
/// samples. The payload keeps the count in memory as one word, and the host reads it there while the
/// payload runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleCount {
    /// The number of valid samples so far.
    pub kept: u32,
    /// The number of samples requested.
    pub requested: u32,
}

impl SampleCount {
    /// Returns the count as one word.
    pub const fn to_word(self) -> u64 {
        (self.requested as u64) << 32 | self.kept as u64
    }

    /// Returns the count in a word from [`Self::to_word`].
    pub const fn from_word(word: u64) -> Self {
        Self {
            kept: word as u32,
            requested: (word >> 32) as u32,
        }
    }
}
