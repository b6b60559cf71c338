//! The heap of the payload.

use sync::Heap;

use crate::machine::cpu::registers;

/// The heap, for the lead alone.
#[global_allocator]
pub static HEAP: Heap = Heap::new(registers::is_lead);

// A plan's memory is computed with the heap's rounding.
const _: () = assert!(suite::scenario::BLOCK == sync::bump::ALIGN);
