//! The heap: the payload's, in pages that EFI gives once, so that lists and strings leave the
//! memory map as it is.

use core::mem::MaybeUninit;

use sync::Heap;

/// Size of the heap: enough for a device tree of [`device_tree::ITEMS_MAX`] nodes and properties
/// and the largest size, changed twice.
pub const HEAP_SIZE: usize = 48 << 20;

#[global_allocator]
static HEAP: Heap = Heap::new(|| true);

/// Gives the heap its memory.
pub fn add(memory: &'static mut [MaybeUninit<u8>]) {
    HEAP.add(memory);
}
