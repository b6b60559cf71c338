//! The heap, which uses one region after another: a few KiB while the device tree is read, then
//! working memory.
//!
//! Only one CPU uses the heap, and never during a round. Any other use, or running out of
//! memory, causes a panic with a message.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::{AtomicU8, Ordering};

use crate::bump::Bump;

const FREE: u8 = 0;
const IN_USE: u8 = 1;
const IN_ROUND: u8 = 2;

/// A heap that can be used only by the CPU for which `is_allowed` returns true.
pub struct Heap {
    /// The region in use.
    region: UnsafeCell<Bump>,
    state: AtomicU8,
    is_allowed: fn() -> bool,
}

// SAFETY: `region` is accessed only in `with_region`, by the single caller that has changed `state`
// from FREE to IN_USE.
unsafe impl Sync for Heap {}

impl Heap {
    /// Returns a heap with no memory.
    pub const fn new(is_allowed: fn() -> bool) -> Self {
        Self {
            region: UnsafeCell::new(Bump::new(0, 0)),
            state: AtomicU8::new(FREE),
            is_allowed,
        }
    }

    /// Calls `act` with the region, or panics if the heap must not be used now.
    fn with_region<T>(&self, act: impl FnOnce(&mut Bump) -> T) -> T {
        assert!(
            (self.is_allowed)(),
            "heap: used by a CPU that is not the lead"
        );
        match self.state.swap(IN_USE, Ordering::Acquire) {
            FREE => {}
            IN_ROUND => panic!("heap: used in a round"),
            _ => panic!("heap: used during an exception or a panic"),
        }
        // SAFETY: `state` was FREE and is IN_USE until the store below, so no other reference to
        // the region exists.
        let region = unsafe { &mut *self.region.get() };
        let result = act(region);
        self.state.store(FREE, Ordering::Release);
        result
    }

    /// Makes `memory` the region for all later blocks. Blocks in the previous region stay where
    /// they are, and its remaining bytes are not used again.
    pub fn add(&self, memory: &'static mut [MaybeUninit<u8>]) {
        let size = memory.len();
        let base = memory.as_mut_ptr().expose_provenance();
        self.with_region(|region| *region = Bump::new(base, base + size));
    }

    /// Starts a round, during which any use of the heap causes a panic.
    pub fn begin_round(&self) {
        self.state.store(IN_ROUND, Ordering::Relaxed);
    }

    /// Ends the round.
    pub fn end_round(&self) {
        self.state.store(FREE, Ordering::Relaxed);
    }

    /// Sets a mark; [`Self::assert_all_freed`] checks that all later blocks have been freed.
    pub fn mark(&self) {
        self.with_region(Bump::mark);
    }

    /// Checks that all blocks after the mark have been freed.
    ///
    /// # Panics
    /// Panics if a block is still in use.
    pub fn assert_all_freed(&self) {
        let live = self.with_region(|region| region.live());
        assert!(live == 0, "heap: a scenario did not free {live} blocks");
    }

    fn take(&self, layout: Layout) -> *mut u8 {
        let size = layout.size();
        let align = layout.align();
        let taken = self.with_region(|region| (region.take(size, align), region.free_bytes()));
        match taken {
            (Some(at), _) => ptr::with_exposed_provenance_mut(at),
            (None, free) => panic!("heap: {size} bytes requested, {free} free"),
        }
    }
}

// SAFETY: blocks lie in regions that belong only to this heap. They are aligned as requested, and
// do not overlap any other block in use (`Bump`). Calls never unwind into the caller, because a
// panic ends the run.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.take(layout)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        self.with_region(|region| region.free(block.addr(), layout.size()));
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let old = layout.size();
        if self.with_region(|region| region.resize(block.addr(), old, size)) {
            return block;
        }
        // SAFETY: the caller passes a size that does not overflow with this alignment.
        let new = self.take(unsafe { Layout::from_size_align_unchecked(size, layout.align()) });
        // SAFETY: both blocks are at least that size, and the new one does not overlap any block in
        // use.
        unsafe { ptr::copy_nonoverlapping(block, new, old.min(size)) };
        self.with_region(|region| region.free(block.addr(), old));
        new
    }
}
