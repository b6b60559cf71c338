//! Memory locations that `boot.S` and the linker script define.

use core::sync::atomic::AtomicU64;

use hardware::board::{Mpidr, Region};

use crate::machine::memory::tables::PAGE;

/// The size in bytes of the emergency stack above each CPU's own stack, used to handle exceptions.
pub const EMERGENCY_STACK: u64 = 2 * PAGE;

/// The words in a CPU's channel that `boot.S`, `vectors.S` and `timed.S` use.
#[repr(C)]
pub struct EntryRecord {
    /// The top of the CPU's stack, which grows downwards. `vectors.S` expects this field first.
    pub stack_top: u64,
    pub mpidr: Mpidr,
    /// The context ID of the CPU's last CPU_SUSPEND.
    pub suspend_context: AtomicU64,
    /// The entry point of the CPU's suspends.
    pub wake_entry: AtomicU64,
    /// The state in which the CPU was last entered: PSTATE in the layout of SPSR_ELx, and
    /// SCTLR_ELx. The entry code stores it, and the lead reads it once the CPU has reported.
    pub state: [AtomicU64; 2],
}

unsafe extern "C" {
    /// The CPU_ON entry point, in `boot.S`.
    safe fn secondary_entry();
    /// The entry point for a wake-up, in `boot.S`.
    safe fn wake_entry();
    /// The entry point for a wake-up in a round that records the registers on entry.
    safe fn noting_wake_entry();
    static __image_start: u8;
    static __image_end: u8;
    static root_table: u64;
    /// The start address of the channels, and the address just past the last one.
    static mut channel_directory: [u64; 2];
}

/// Returns the address at which a CPU starts after CPU_ON.
pub fn secondary_entry_address() -> u64 {
    secondary_entry as *const () as u64
}

/// Returns the address at which a CPU wakes up.
pub fn wake_entry_address(notes_entry: bool) -> u64 {
    if notes_entry {
        noting_wake_entry as *const () as u64
    } else {
        wake_entry as *const () as u64
    }
}

pub fn image() -> Region {
    let base = (&raw const __image_start) as u64;
    Region {
        base,
        size: (&raw const __image_end) as u64 - base,
    }
}

/// Publishes the address range of the channels, which the entry points search for a CPU's channel.
/// Must be called before any other CPU is turned on and before the first suspend.
pub fn set_channel_directory(first: u64, end: u64) {
    // SAFETY: boot.S reserves this aligned pair of words for the directory. The lead stores them
    // once, before it turns on any CPU that could load them.
    unsafe { channel_directory = [first, end] };
}

pub fn root_table_address() -> u64 {
    // SAFETY: this is an aligned word in the image, which boot.S stored and which is never written
    // again.
    unsafe { root_table }
}
