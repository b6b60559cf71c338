//! Working memory: one region of the board's memory, handed out piece by
//! piece and never taken back.

use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::slice;

use psci_bench::board::Region;

use crate::machine::memory::tables::Pages;

/// Pages, and how much of them is handed out.
pub struct Arena {
    next: u64,
    end: u64,
}

impl Arena {
    pub fn new(pages: Pages) -> Self {
        let Region { base, size } = pages.region();
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
}
