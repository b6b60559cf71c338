//! Stretches of the physical address space.

/// A stretch of the physical address space. It has a size, and its end does
/// not exceed 64 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// First address.
    pub base: u64,
    /// Size in bytes.
    pub size: u64,
}

impl Region {
    /// Returns the address after the last byte.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.base.saturating_add(self.size)
    }

    /// Says that all of `other` lies in this region.
    #[must_use]
    pub const fn contains(&self, other: &Self) -> bool {
        self.base <= other.base && other.end() <= self.end()
    }

    /// Says that the two regions share a byte.
    #[must_use]
    pub const fn overlaps(&self, other: &Self) -> bool {
        self.base < other.end() && other.base < self.end()
    }
}
