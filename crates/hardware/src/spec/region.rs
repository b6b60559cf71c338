//! Physical address regions.

use serde::Deserialize;

/// The page size in bytes, which is also the size and alignment of a small device's registers.
pub const PAGE: u64 = 0x1000;
/// The first address that the payload cannot map.
pub const ADDRESSES: u64 = 1 << 48;

/// A physical address region whose end address fits in 64 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// First address.
    pub base: u64,
    /// Size in bytes.
    pub size: u64,
}

impl Region {
    /// Returns the address after the last byte.
    pub const fn end(&self) -> u64 {
        self.base.saturating_add(self.size)
    }

    /// Returns true if this region contains all of `other`.
    pub const fn contains(&self, other: &Self) -> bool {
        self.base <= other.base && other.end() <= self.end()
    }

    /// Returns true if the regions have at least one byte in common.
    pub const fn overlaps(&self, other: &Self) -> bool {
        self.base < other.end() && other.base < self.end()
    }

    /// Returns true if the region consists of whole pages that can be mapped, as required for a
    /// small device's registers.
    pub const fn is_page(&self) -> bool {
        self.size >= PAGE && self.base.is_multiple_of(PAGE) && self.base < ADDRESSES
    }
}
