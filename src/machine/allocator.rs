//! The payload heap.

use sync::Heap;

use crate::machine::cpu::registers;

/// The heap, which only the lead uses.
#[global_allocator]
pub static HEAP: Heap = Heap::new(registers::is_lead);

// Plan sizes are rounded to the same block size as heap allocations.
const _: () = assert!(suite::bench::BLOCK == sync::bump::ALIGN);
