//! Working memory: one region of the board's memory, handed out piece by
//! piece and never taken back.

use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::slice;

use psci_bench::board::Region;

use super::mmu::PAGE;

/// A mapped region, and how much of it is handed out.
pub struct Arena {
    next: u64,
    end: u64,
}

impl Arena {
    /// An arena over `region`.
    ///
    /// # Safety
    /// The region must be mapped as memory, and nothing else may use it.
    pub unsafe fn new(region: Region) -> Self {
        Self {
            next: region.base,
            end: region.base + region.size,
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
        // memory that new()'s caller gave to this arena alone, and it hands no
        // byte out twice. A MaybeUninit needs no particular contents.
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

/// Whole pages of an arena's memory, mapped for good: who has this is the only
/// one who knows of them.
pub struct Pages(Region);

impl Pages {
    /// Where they are.
    pub const fn region(&self) -> Region {
        self.0
    }

    /// Takes the first `bytes` bytes away, rounded up to whole pages, as far as
    /// there are so many.
    pub fn split_off(&mut self, bytes: u64) -> Self {
        let size = bytes.div_ceil(PAGE).saturating_mul(PAGE).min(self.0.size);
        let base = self.0.base;
        self.0.base += size;
        self.0.size -= size;
        Self(Region { base, size })
    }
}

/// Pages zeroed, to become translation tables.
pub fn zero(pages: Region) {
    // SAFETY: the caller has just mapped it, for this use alone.
    unsafe { (pages.base as *mut u8).write_bytes(0, pages.size as usize) };
}

/// The bytes of a region that stays as it is from now on.
///
/// # Safety
/// The region must be mapped memory, and nobody may write to it again.
pub unsafe fn bytes(region: Region) -> &'static [u8] {
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(region.base as *const u8, region.size as usize) }
}
