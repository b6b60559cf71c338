//! The places in memory that `boot.S` and the linker script define.

use psci_bench::board::Region;

use crate::machine::memory::tables::PAGE;
use crate::machine::round::channel::CpuChannel;

/// Bytes of the stack above each CPU's own that exceptions are handled on.
pub const EMERGENCY_STACK: u64 = 2 * PAGE;

unsafe extern "C" {
    /// `boot.S`: where CPU_ON sends a CPU.
    pub safe fn secondary_entry();
    /// The image's first byte.
    static __image_start: u8;
    /// The byte after its last.
    static __image_end: u8;
    /// Where the root translation table is; `boot.S` stores it.
    static root_table: u64;
    /// Where the slots begin and end, for the entries to find a CPU's own.
    static mut slot_directory: [u64; 2];
}

/// Where the image is, without an appended tree.
pub fn image() -> Region {
    let base = (&raw const __image_start) as u64;
    Region {
        base,
        size: (&raw const __image_end) as u64 - base,
    }
}

/// Tells the entries where the slots are, before any other CPU is turned on
/// and before the first suspend.
pub fn set_channel_directory(slots: &'static [CpuChannel]) {
    let range = slots.as_ptr_range();
    // SAFETY: an aligned pair of words that boot.S reserves for this. The lead
    // alone stores them, once, while no other CPU is on that could load them.
    unsafe { slot_directory = [range.start as u64, range.end as u64] };
}

/// Address of the root translation table.
pub fn root_table_address() -> u64 {
    // SAFETY: an aligned word of the image, which boot.S has stored and nobody
    // stores again.
    unsafe { root_table }
}
