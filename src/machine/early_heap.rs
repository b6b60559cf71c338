//! The heap of the board's reader: 6 KiB, for the lead alone.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const SIZE: usize = 6 * 1024;
const ALIGN: usize = 16;

#[global_allocator]
static HEAP: EarlyHeap = EarlyHeap {
    bytes: UnsafeCell::new([0; SIZE]),
    used: AtomicUsize::new(0),
};

#[repr(C, align(16))]
struct EarlyHeap {
    bytes: UnsafeCell<[u8; SIZE]>,
    used: AtomicUsize,
}

// SAFETY: `used` hands out each byte to one block at a time.
unsafe impl Sync for EarlyHeap {}

fn rounded(layout: Layout) -> usize {
    layout.size().next_multiple_of(ALIGN)
}

// SAFETY: `bytes` is the first field, so aligned to ALIGN; blocks lie in it, begin at
// multiples of ALIGN, and overlap no other.
unsafe impl GlobalAlloc for EarlyHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let end = |used| Some(used + rounded(layout)).filter(|end| *end <= SIZE);
        match self.used.fetch_update(Relaxed, Relaxed, end) {
            Ok(at) if layout.align() <= ALIGN => self.bytes.get().cast::<u8>().wrapping_add(at),
            _ => ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // Only the last block is given back.
        let at = block.addr() - self.bytes.get().addr();
        let last = at + rounded(layout);
        let _ = self.used.compare_exchange(last, at, Relaxed, Relaxed);
    }
}
