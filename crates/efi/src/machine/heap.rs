//! The payload's heap, in pages allocated from EFI once, so that lists and strings do not change
//! the memory map.

use core::mem::MaybeUninit;

use sync::Heap;

/// The size of the heap: enough for a device tree of the maximum size with
/// [`device_tree::ITEMS_MAX`] nodes and properties, modified twice.
pub const HEAP_SIZE: usize = 48 << 20;

#[global_allocator]
static HEAP: Heap = Heap::new(|| true);

/// Gives the heap its memory.
pub fn add(memory: &'static mut [MaybeUninit<u8>]) {
    HEAP.add(memory);
}
