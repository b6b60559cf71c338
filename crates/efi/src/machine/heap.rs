//! The heap. All heap pages are allocated from EFI once, so that later heap allocations do not
//! change the memory map.

use core::mem::MaybeUninit;

use sync::Heap;

/// The heap size: enough for two modified copies of a maximum-size device tree with
/// [`device_tree::ITEMS_MAX`] nodes and properties.
pub const HEAP_SIZE: usize = 48 << 20;

#[global_allocator]
static HEAP: Heap = Heap::new(|| true);

/// Adds memory to the heap.
pub fn add(memory: &'static mut [MaybeUninit<u8>]) {
    HEAP.add(memory);
}
