//! Reading an address of which nobody knows whether anything is there.

use core::arch::asm;

/// Reads the word at `address`, or finds that it can not be read: vectors.S
/// steps over a fault of exactly this load.
///
/// The address must be mapped, and aligned to 4. Of a device it must be that of a
/// register that reading does nothing to. Such are those that are read here:
/// GICR_PIDR2, W_IIDR and WDOGPERIPHID0, which are constant; CNTTIDR, which tells
/// what is implemented; and CNTP_CTL, the state of a timer.
pub fn word(address: u64) -> Option<u32> {
    let readable: u64;
    let value: u64;
    // SAFETY: probe_word loads one word, stores nothing, and changes x0 to x2
    // and x30 alone; a fault of its load comes back as 0. So no memory of the
    // program's changes, whatever the address: a load from a register may do
    // something to the device, and to nothing else.
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
