//! The heap of the payload.

use crate::machine::cpu::registers;
use crate::machine::memory::heap::Heap;

/// The heap, for the lead alone.
#[global_allocator]
pub static HEAP: Heap = Heap::new(registers::is_lead);
