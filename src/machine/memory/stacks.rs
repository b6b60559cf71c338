//! The CPU stacks. Each stack has an emergency stack for exceptions above it and an unmapped guard
//! page below it.

use hardware::board::Room;

use crate::machine::boot::layout;
use crate::machine::memory::tables::{MapError, PAGE, Pages, TranslationTables};

const STACK: u64 = 2 * PAGE;

pub const BYTES_PER_CPU: u64 = PAGE + STACK + layout::EMERGENCY_STACK;

/// A CPU's stack and emergency stack. Holding a value proves that both are mapped and owned by
/// nothing else, and that the page below the stack is unmapped. It does not prove that a CPU uses
/// them.
pub struct CpuStack(Pages);

impl CpuStack {
    /// Maps a CPU's stacks, which use the first [`BYTES_PER_CPU`] bytes of `room`, except the guard
    /// page. Returns an error if a page is already in use.
    pub fn map(tables: &mut TranslationTables, room: &mut Room) -> Result<Self, MapError> {
        let _guard = room.split_off(PAGE);
        Pages::map(tables, room.split_off(BYTES_PER_CPU - PAGE)).map(Self)
    }

    /// Returns the top of the stack, which is also the bottom of the emergency stack.
    pub const fn top(&self) -> u64 {
        self.0.region().base + STACK
    }
}
