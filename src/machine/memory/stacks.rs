//! The CPUs' stacks: above each an emergency stack, on which exceptions are
//! handled, and below each a page that stays unmapped.

use hardware::board::Room;

use crate::machine::boot::layout;
use crate::machine::memory::tables::{MapError, PAGE, Pages, TranslationTables};

const STACK: u64 = 2 * PAGE;

pub const BYTES_PER_CPU: u64 = PAGE + STACK + layout::EMERGENCY_STACK;

pub struct CpuStack(Pages);

impl CpuStack {
    /// Maps a CPU's stacks, which take the first [`BYTES_PER_CPU`] bytes of `room`, all
    /// but the guard page.
    /// Fails where a page is in use already.
    pub fn map(tables: &mut TranslationTables, room: &mut Room) -> Result<Self, MapError> {
        let _guard = room.split_off(PAGE);
        Pages::map(tables, room.split_off(BYTES_PER_CPU - PAGE)).map(Self)
    }

    /// Returns the address where the stack begins, which grows downwards, and where the
    /// emergency stack ends.
    pub const fn top(&self) -> u64 {
        self.0.region().base + STACK
    }
}
