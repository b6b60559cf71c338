//! The CPUs' stacks: above each an emergency stack, on which exceptions are
//! handled, and below each a page that stays unmapped.

use psci_bench::board::Room;

use super::boot;
use super::memory::Pages;
use super::mmu::{MapError, PAGE, Tables};

/// Bytes of a CPU's stack.
const STACK: u64 = 2 * PAGE;

/// Bytes from one CPU's stacks to the next's.
pub const STEP: u64 = PAGE + STACK + boot::EMERGENCY_STACK;

/// A CPU's stacks, which nobody else has.
pub struct Stack(Pages);

impl Stack {
    /// Maps a CPU's stacks, which take the first [`STEP`] bytes of `room`, all
    /// but the guard page.
    ///
    /// # Errors
    /// Where a page is in use all the same.
    pub fn map(tables: &mut Tables, room: &mut Room) -> Result<Self, MapError> {
        let _guard = room.split_off(PAGE);
        Pages::map(tables, room.split_off(STEP - PAGE)).map(Self)
    }

    /// Where the stack begins, which grows downwards, and the emergency stack
    /// ends.
    pub const fn top(&self) -> u64 {
        self.0.region().base + STACK
    }
}
