//! CPU indices.

use core::fmt;

use serde::{Deserialize, Serialize};

/// The maximum number of CPUs on a board.
pub const CPU_MAX: usize = 512;

/// A CPU's index in the board's list of CPUs, which is in MPIDR order.
///
/// An index does not prove that the board has such a CPU. It is less than [`CPU_MAX`] unless it was
/// converted from an untrusted number.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct CpuIndex(u16);

impl CpuIndex {
    /// Returns the CPU with this index in the list.
    ///
    /// # Panics
    /// Panics if `index` is not less than [`CPU_MAX`].
    pub const fn new(index: usize) -> Self {
        assert!(index < CPU_MAX, "a board has at most CPU_MAX CPUs");
        Self(index as u16)
    }

    /// Returns the index in the list.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the indices of the first `count` CPUs.
    ///
    /// # Panics
    /// Panics if `count` is more than [`CPU_MAX`].
    pub fn all(count: usize) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
        assert!(count <= CPU_MAX, "a board has at most CPU_MAX CPUs");
        (0..count as u16).map(Self)
    }
}

/// Converts an untrusted index. There may be no CPU with this index.
impl From<u16> for CpuIndex {
    fn from(index: u16) -> Self {
        Self(index)
    }
}

impl From<CpuIndex> for u16 {
    fn from(index: CpuIndex) -> Self {
        index.0
    }
}

impl From<CpuIndex> for u32 {
    fn from(index: CpuIndex) -> Self {
        index.0.into()
    }
}

impl fmt::Display for CpuIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&u32::from(self.0), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_indices_are_in_order_and_keep_their_values() {
        let all: std::vec::Vec<_> = CpuIndex::all(CPU_MAX).collect();
        assert!(all.is_sorted() && all.iter().map(|cpu| cpu.index()).eq(0..CPU_MAX));
        assert_eq!(all.last(), Some(&CpuIndex::new(CPU_MAX - 1)));
    }
}
