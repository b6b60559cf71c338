//! Reads from addresses that may not contain memory, and of a register that may not exist.

use core::arch::asm;

/// What a probe reads, as a number that `probe` in vectors.S understands.
#[derive(Clone, Copy)]
enum Read {
    Word = 0,
    Byte = 1,
    IccSreEl1 = 2,
    DbgprcrEl1 = 3,
}

/// Reads the word at `address`, or returns None if it cannot be read. vectors.S skips a fault only
/// in a probe's read.
///
/// The address must be mapped and 4-byte aligned. If it is in a device, it must be the address of a
/// register that can be read without side effects: GICR_PIDR2, GITS_PIDR2, W_IIDR, WDOGPERIPHID0,
/// CNTTIDR, CNTP_CTL, or a UART status register.
pub fn try_read_word(address: u64) -> Option<u32> {
    probe(Read::Word, address)
}

/// Reads the byte at `address`, like [`try_read_word`].
pub fn try_read_byte(address: u64) -> Option<u32> {
    probe(Read::Byte, address)
}

/// Returns true if ICC_SRE_EL1 can be read, and thus the CPU has a GICv3 CPU interface.
/// ID_AA64PFR0_EL1.GIC is not the evidence, because some simulators leave it 0.
pub fn has_icc_sre() -> bool {
    probe(Read::IccSreEl1, 0).is_some()
}

/// Returns true if a debugger keeps this CPU's power on (DBGPRCR_EL1.CORENPDRQ, which is also
/// EDPRCR.CORENPDRQ), so that no power-down takes place.
pub fn is_power_kept_on() -> bool {
    probe(Read::DbgprcrEl1, 0).is_some_and(|value| value & 1 != 0)
}

fn probe(read: Read, address: u64) -> Option<u32> {
    let readable: u64;
    let value: u64;
    // SAFETY: probe loads one word or byte or reads one register, stores nothing, and changes only
    // x0 to x2, x30 and the flags; it returns 0 if its read faults. Reading ICC_SRE_EL1 or DBGPRCR_EL1
    // has no effect. A load from a device register can affect only the device, so the probe never
    // changes program memory, regardless of the address.
    unsafe {
        asm!(
            "bl probe",
            inout("x0") address => readable,
            inout("x1") read as u64 => value,
            out("x2") _,
            out("x30") _,
            options(nostack)
        );
    }
    (readable != 0).then_some(value as u32)
}
