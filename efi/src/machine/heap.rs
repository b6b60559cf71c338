//! The heap: the payload's, in pages that EFI gives once, so that lists and strings leave the
//! memory map as it is.

use core::mem::MaybeUninit;

#[path = "../../../src/machine/memory/heap.rs"]
#[allow(dead_code, reason = "rounds and scenarios are the payload's")]
mod payload_heap;

/// Size of the heap: enough for a device tree of [`device_tree::ITEMS_MAX`] nodes and properties
/// and the largest size, changed twice.
pub const HEAP_SIZE: usize = 48 << 20;

#[global_allocator]
static HEAP: payload_heap::Heap = payload_heap::Heap::new(|| true);

/// Gives the heap its memory.
pub fn add(memory: &'static mut [MaybeUninit<u8>]) {
    HEAP.add(memory);
}
