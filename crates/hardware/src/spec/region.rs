//! Regions of the physical address space.

use serde::Deserialize;

/// The size in bytes and alignment of a small device's registers.
pub const PAGE: u64 = 0x1000;
/// The first address that the payload cannot map.
pub const ADDRESSES: u64 = 1 << 48;

/// A region of the physical address space, whose end fits into 64 bits.
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

    /// Returns true if all of `other` lies in this region.
    pub const fn contains(&self, other: &Self) -> bool {
        self.base <= other.base && other.end() <= self.end()
    }

    /// Returns true if the two regions share a byte.
    pub const fn overlaps(&self, other: &Self) -> bool {
        self.base < other.end() && other.base < self.end()
    }

    /// Returns true if the region can hold a small device's registers: whole pages that can be
    /// mapped.
    pub const fn is_page(&self) -> bool {
        self.size >= PAGE && self.base.is_multiple_of(PAGE) && self.base < ADDRESSES
    }
}
