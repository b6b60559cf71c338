//! A range of physical addresses.

use serde::Deserialize;

/// A range of physical addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// First address.
    pub base: u64,
    /// Size in bytes.
    pub size: u64,
}

impl Window {
    /// First address behind it; the check has seen to it that there is one.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.base.saturating_add(self.size)
    }

    /// Whether the two have an address in common.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.base < other.end() && other.base < self.end()
    }
}
