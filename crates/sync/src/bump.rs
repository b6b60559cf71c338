//! The bookkeeping for a heap that grows upward and has no free list.
//!
//! The bytes of a freed block are reclaimed if no block follows it. Otherwise, they are reclaimed
//! once no block after the mark is in use.

/// The alignment of all blocks in bytes, unless a larger one is requested.
pub const ALIGN: usize = 16;

/// A memory region and the addresses of its blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bump {
    end: usize,
    /// The first address after the last block.
    next: usize,
    /// The address of the mark. Blocks below it stay allocated.
    floor: usize,
    /// The number of blocks in use after the mark.
    live: usize,
}

impl Bump {
    /// Returns an empty heap from `base` up to, but not including, `end`.
    pub const fn new(base: usize, end: usize) -> Self {
        Self {
            end,
            next: base,
            floor: base,
            live: 0,
        }
    }

    /// Returns the number of free bytes.
    pub const fn free_bytes(&self) -> usize {
        self.end - self.next
    }

    /// Allocates a block aligned to `align`, which must be a power of two. Returns None if the
    /// block does not fit.
    pub fn take(&mut self, size: usize, align: usize) -> Option<usize> {
        let at = self.next.checked_next_multiple_of(align.max(ALIGN))?;
        self.set_end(at, size)?;
        self.live += 1;
        Some(at)
    }

    /// Resizes a block in place, or returns false if that is impossible.
    pub fn resize(&mut self, at: usize, old: usize, new: usize) -> bool {
        let is_last = Some(self.next) == end_of(at, old);
        new <= old && !is_last || is_last && self.set_end(at, new).is_some()
    }

    /// Frees a block. The bytes of a block before the mark or in another region are not reclaimed.
    pub fn free(&mut self, at: usize, size: usize) {
        if at < self.floor || at >= self.end {
            return;
        }
        self.live = self.live.saturating_sub(1);
        if self.live == 0 {
            self.next = self.floor;
        } else if Some(self.next) == end_of(at, size) {
            self.next = at;
        }
    }

    /// Sets the mark. The bytes of blocks before the mark are never reclaimed.
    pub fn mark(&mut self) {
        (self.floor, self.live) = (self.next, 0);
    }

    /// Returns the number of blocks in use after the mark.
    pub const fn live(&self) -> usize {
        self.live
    }

    /// Makes `at + size` the end of the last block.
    fn set_end(&mut self, at: usize, size: usize) -> Option<()> {
        self.next = end_of(at, size).filter(|block_end| *block_end <= self.end)?;
        Some(())
    }
}

/// Returns the aligned end of a block of this size.
fn end_of(at: usize, size: usize) -> Option<usize> {
    at.checked_add(size.checked_next_multiple_of(ALIGN)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_do_not_overlap() {
        let mut bump = Bump::new(0x1008, 0x1100);
        for (size, align, at) in [
            (1, 1, Some(0x1010)),
            (17, 8, Some(0x1020)),
            (8, 64, Some(0x1040)),
            (0xb1, 1, None),
            (usize::MAX, 1, None),
            (usize::MAX - 0x1050, 1, None),
            (0xb0, 1, Some(0x1050)),
            (1, 1, None),
        ] {
            assert_eq!(bump.take(size, align), at, "{size:#x}");
        }
        assert_eq!(bump.free_bytes(), 0);
    }

    /// Allocates 16-byte blocks and checks their addresses.
    fn take<const N: usize>(bump: &mut Bump, addresses: [usize; N]) {
        assert_eq!(addresses.map(|_| bump.take(16, 1)), addresses.map(Some));
    }

    fn free<const N: usize>(bump: &mut Bump, addresses: [usize; N]) {
        addresses
            .into_iter()
            .for_each(|address| bump.free(address, 16));
    }

    #[test]
    fn bytes_are_reclaimed_at_the_end_or_when_no_block_is_in_use() {
        let mut bump = Bump::new(0, 0x100);
        take(&mut bump, [0, 0x10, 0x20]);
        free(&mut bump, [0x20]);
        take(&mut bump, [0x20]);
        free(&mut bump, [0]);
        take(&mut bump, [0x30]);
        free(&mut bump, [0x30, 0x20, 0x10]);
        assert_eq!(bump.free_bytes(), 0x100);
        // Blocks before the mark are kept.
        take(&mut bump, [0, 0x10]);
        bump.mark();
        take(&mut bump, [0x20, 0x30]);
        free(&mut bump, [0, 0x20]);
        assert_eq!(bump.live(), 1);
        take(&mut bump, [0x40]);
        free(&mut bump, [0x40, 0x30]);
        assert_eq!(bump.live(), 0);
        take(&mut bump, [0x20]);
        // Only the last block can be resized in place.
        assert!(bump.resize(0x20, 16, 0x40) && !bump.resize(0x20, 0x40, 0xe1));
        take(&mut bump, [0x60]);
        assert!(!bump.resize(0x20, 0x40, 0x41) && bump.resize(0x20, 0x40, 0x20));
        assert!(bump.resize(0x60, 16, 1));
        take(&mut bump, [0x70]);
    }
}
