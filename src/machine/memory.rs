//! Working memory: one region of the board's memory, handed out piece by
//! piece and never taken back.

use core::alloc::Layout;
use core::arch::asm;
use core::mem::MaybeUninit;
use core::slice;

use psci_bench::board::{Region, Room, free_memory};

use super::mmu::{Kind, MapError, PAGE, Tables};

/// Pages, and how much of them is handed out.
pub struct Arena {
    next: u64,
    end: u64,
}

impl Arena {
    /// An arena over these pages.
    pub const fn new(Pages(Region { base, size }): Pages) -> Self {
        Self {
            next: base,
            end: base + size,
        }
    }

    /// Takes room for `count` values of this layout.
    #[inline(never)]
    fn take(&mut self, count: usize, one: Layout) -> Option<u64> {
        let size = one.size().checked_mul(count)?;
        let start = self.next.checked_next_multiple_of(one.align() as u64)?;
        let end = start.checked_add(size as u64)?;
        if end > self.end {
            return None;
        }
        self.next = end;
        Some(start)
    }

    /// Takes room for `count` values and fills it by `make`, which is given
    /// each value's index.
    pub fn take_slice<T>(
        &mut self,
        count: usize,
        mut make: impl FnMut(usize) -> T,
    ) -> Option<&'static mut [T]> {
        let base = self.take(count, Layout::new::<T>())? as *mut MaybeUninit<T>;
        // SAFETY: take() reserved count values from base on, aligned for T, in
        // pages that are this arena's alone, and it hands no byte out
        // twice. A MaybeUninit needs no particular contents.
        let slots = unsafe { slice::from_raw_parts_mut(base, count) };
        for (index, slot) in slots.iter_mut().enumerate() {
            slot.write(make(index));
        }
        // SAFETY: each of them was written just above.
        Some(unsafe { slots.assume_init_mut() })
    }

    /// Takes whole pages, at least `bytes` bytes, and leaves them as they are.
    pub fn take_pages(&mut self, bytes: u64) -> Option<Pages> {
        let pages = usize::try_from(bytes.div_ceil(PAGE)).ok()?;
        let page = Layout::from_size_align(PAGE as usize, PAGE as usize).ok()?;
        Some(Pages(Region {
            base: self.take(pages, page)?,
            size: pages as u64 * PAGE,
        }))
    }
}

/// Whole pages of memory, mapped for good: who has this is the only one who
/// knows of them.
pub struct Pages(Region);

impl Pages {
    /// Maps memory that the board has to spare.
    ///
    /// # Errors
    /// Where a page is in use all the same.
    pub fn map(tables: &mut Tables, room: Room) -> Result<Self, MapError> {
        let region = room.region();
        tables.map_unused(region, Kind::Memory)?;
        Ok(Self(region))
    }

    /// Where they are.
    pub const fn region(&self) -> Region {
        self.0
    }

    /// Takes the first `bytes` bytes away, rounded up to whole pages, as far as
    /// there are so many.
    pub fn split_off(&mut self, bytes: u64) -> Self {
        Self(free_memory::split_off(&mut self.0, bytes))
    }

    /// Fills them with zeroes, which a table walk sees before any descriptor
    /// that is stored later. A function of its own for `tests/entries`.
    #[inline(never)]
    pub fn zero(&mut self) {
        let Region { base, size } = self.0;
        // SAFETY: mapped memory, and these pages' only owner asks for it.
        unsafe { (base as *mut u8).write_bytes(0, size as usize) };
        // SAFETY: a barrier only.
        unsafe { asm!("dsb ishst", options(nostack)) };
    }
}
