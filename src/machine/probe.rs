//! Reading an address of which nobody knows whether anything is there.

use core::arch::asm;

/// Reads the word at `address`, or finds that it can not be read: vectors.S
/// steps over a fault of exactly this load.
///
/// The address must be mapped, and aligned to 4.
pub fn word(address: u64) -> Option<u32> {
    let readable: u64;
    let value: u64;
    // SAFETY: probe_word loads one word, and changes x0 to x2 and x30 alone.
    // A load from Normal memory has no side effect; a fault comes back as 0.
    unsafe {
        asm!(
            "bl probe_word",
            inout("x0") address => readable,
            out("x1") value,
            out("x2") _,
            out("x30") _,
            options(nostack)
        );
    }
    (readable != 0).then_some(value as u32)
}
