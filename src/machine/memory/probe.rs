//! Reads from addresses that may not contain memory.

use core::arch::asm;

/// Reads the word at `address`, or returns None if it cannot be read. vectors.S skips a fault only
/// in this load and in the one in [`try_read_byte`].
///
/// The address must be mapped and 4-byte aligned. If it is in a device, it must be the address of a
/// register that can be read without side effects: GICR_PIDR2, GITS_PIDR2, W_IIDR, WDOGPERIPHID0,
/// CNTTIDR, CNTP_CTL, or a UART status register.
pub fn try_read_word(address: u64) -> Option<u32> {
    load(address, false)
}

/// Reads the byte at `address`, like [`try_read_word`].
pub fn try_read_byte(address: u64) -> Option<u32> {
    load(address, true)
}

fn load(address: u64, is_byte: bool) -> Option<u32> {
    let readable: u64;
    let value: u64;
    // SAFETY: probe_load loads one word or byte, stores nothing, and changes only x0 to x2 and x30;
    // it returns 0 if its load faults. A load from a device register can affect only the device, so
    // the probe never changes program memory, regardless of the address.
    unsafe {
        asm!(
            "bl probe",
            inout("x0") address => readable,
            inout("x1") u64::from(is_byte) => value,
            out("x2") _,
            out("x30") _,
            options(nostack)
        );
    }
    (readable != 0).then_some(value as u32)
}
