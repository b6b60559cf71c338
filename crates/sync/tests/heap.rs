//! The heap on the host: its regions, and the uses it rejects.

#![cfg(not(loom))]

use std::alloc::{GlobalAlloc, Layout};
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

use sync::Heap;

fn panic_of<T: std::fmt::Debug>(act: impl FnOnce() -> T) -> String {
    let caught = catch_unwind(AssertUnwindSafe(act)).expect_err("a panic");
    match caught.downcast_ref::<&str>() {
        Some(text) => (*text).to_owned(),
        None => caught
            .downcast_ref::<String>()
            .expect("a panic's message")
            .clone(),
    }
}

fn block_of(heap: &Heap) -> *mut u8 {
    // SAFETY: the layout's size is not zero.
    unsafe { heap.alloc(LAYOUT) }
}

fn free(heap: &Heap, block: *mut u8) {
    // SAFETY: each test frees only blocks returned by block_of(), each once.
    unsafe { heap.dealloc(block, LAYOUT) };
}

const LAYOUT: Layout = Layout::new::<[u64; 8]>();

#[test]
fn forbidden_uses_panic_with_a_message() {
    let heap = Heap::new(|| true);
    let memory = vec![MaybeUninit::uninit(); 160].leak();
    let addresses = memory.as_ptr_range();
    heap.add(memory);
    let panic_message = |heap: &Heap| panic_of(|| block_of(heap));
    let block = block_of(&heap);
    assert!(addresses.contains(&block.cast_const().cast()) && block.addr().is_multiple_of(16));
    heap.begin_round();
    assert_eq!(panic_message(&heap), "heap: used in a round");
    heap.end_round();
    heap.mark();
    let later = block_of(&heap);
    assert_eq!(panic_message(&heap), "heap: 64 bytes requested, 32 free");
    let live = panic_of(|| heap.assert_all_freed());
    assert_eq!(live, "heap: a scenario did not free 1 blocks");
    free(&heap, block);
    free(&heap, later);
    heap.assert_all_freed();
    let not_lead = panic_message(&Heap::new(|| false));
    assert_eq!(not_lead, "heap: used by a CPU that is not the lead");
}

#[test]
fn the_first_region_is_used_until_there_is_a_second() {
    let heap = Heap::new(|| true);
    let none = panic_of(|| block_of(&heap));
    assert_eq!(none, "heap: 64 bytes requested, 0 free");
    heap.add(vec![MaybeUninit::uninit(); 160].leak());
    let first = block_of(&heap);
    heap.add(vec![MaybeUninit::uninit(); 160].leak());
    // A block in the first region grows into the second region. No bytes are freed. SAFETY: the
    // block was allocated with this layout.
    let grown = unsafe { heap.realloc(first, LAYOUT, 80) };
    assert_ne!(grown, first);
    free(&heap, block_of(&heap));
    let full = panic_of(|| [block_of(&heap), block_of(&heap)]);
    assert_eq!(full, "heap: 64 bytes requested, 16 free");
}
