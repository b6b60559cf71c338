//! The heap: pages that EFI gives once, so that lists and strings leave the memory map as it is.

use core::alloc::{GlobalAlloc, Layout};
use core::ptr;

use psci_bench::spec::bump::Bump;
use spin::Mutex;

/// Size of the heap: enough for a device tree of [`device_tree::ITEMS_MAX`] nodes and properties
/// and the largest size, changed twice.
pub const HEAP_SIZE: usize = 48 << 20;

/// The heap, without memory at first.
pub struct Heap(Mutex<Bump>);

#[global_allocator]
static HEAP: Heap = Heap(Mutex::new(Bump::new(0, 0)));

/// Gives the heap its memory, [`HEAP_SIZE`] bytes at `base`.
///
/// # Safety
/// The memory must be writable, and nothing else may use it from now on.
pub unsafe fn set(base: usize) {
    *HEAP.0.lock() = Bump::new(base, base + HEAP_SIZE);
}

// SAFETY: blocks lie in the memory that `set` was given, are aligned as asked for, and
// overlap no other that is in use (`Bump`).
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let at = self.0.lock().take(layout.size(), layout.align());
        at.map_or(ptr::null_mut(), ptr::with_exposed_provenance_mut)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        self.0.lock().free(block.addr(), layout.size());
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let old = layout.size();
        if self.0.lock().resize(block.addr(), old, size) {
            return block;
        }
        let taken = self.0.lock().take(size, layout.align());
        let new: *mut u8 = taken.map_or(ptr::null_mut(), ptr::with_exposed_provenance_mut);
        if !new.is_null() {
            // SAFETY: both blocks have that many bytes, and the new one overlaps none in use.
            unsafe { ptr::copy_nonoverlapping(block, new, old.min(size)) };
            self.0.lock().free(block.addr(), old);
        }
        new
    }
}
