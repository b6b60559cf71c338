//! This CPU's identity and features, read from its registers.

use core::arch::asm;
use core::sync::atomic::{AtomicU64, Ordering};

use aarch64_cpu::asm::barrier;
use aarch64_cpu::registers::{
    CCSIDR_EL1, CLIDR_EL1, CNTFRQ_EL0, CSSELR_EL1, CurrentEL, HCR_EL2, ID_AA64MMFR2_EL1,
    ID_AA64PFR0_EL1, MIDR_EL1, MPIDR_EL1, Readable, VBAR_EL1, VBAR_EL2, Writeable,
};
use hardware::board::Mpidr;
use hardware::spec::caches::Caches;
use suite::measure::Identity;
use tock_registers::fields::Field;

use crate::machine::cpu::sysreg::{CTR_EL0, DCZID_EL0};

/// ID_AA64PFR0_EL1.GIC, which the aarch64-cpu crate does not define: nonzero if the GIC's system
/// registers exist.
const GIC: Field<u64, ID_AA64PFR0_EL1::Register> = Field::new(0xf, 24);

pub fn exception_level() -> u8 {
    CurrentEL.read(CurrentEL::EL) as u8
}

/// Returns true if HCR_EL2.E2H is 1 although the entry code cleared it: EL2 then uses the EL1
/// layout for registers and descriptors.
pub fn has_fixed_e2h() -> bool {
    exception_level() == 2 && HCR_EL2.is_set(HCR_EL2::E2H)
}

pub fn mpidr() -> Mpidr {
    Mpidr::new(MPIDR_EL1.get())
}

/// Returns true if Aff0 of this CPU's MPIDR is a thread number (MT).
pub fn mpidr_counts_threads() -> bool {
    MPIDR_EL1.is_set(MPIDR_EL1::MT)
}

pub fn midr() -> u64 {
    MIDR_EL1.get()
}

/// Reads this CPU's identity, except its clock. Cache sizes are not read in a KVM guest, because
/// KVM returns made-up values for CCSIDR_EL1. Interrupts stay masked, so CSSELR_EL1 cannot change
/// between its write and the read of CCSIDR_EL1.
pub fn read_identity(is_kvm_guest: bool) -> Identity {
    let wide = ID_AA64MMFR2_EL1.is_set(ID_AA64MMFR2_EL1::CCIDX);
    let levels = if is_kvm_guest { 0 } else { CLIDR_EL1.get() };
    let caches = Caches::read(levels, wide, &mut |selector| {
        CSSELR_EL1.set(selector);
        // After an ISB, CCSIDR_EL1 describes the selected cache.
        barrier::isb(barrier::SY);
        CCSIDR_EL1.get()
    });
    Identity {
        midr: midr(),
        caches,
        frequency: counter_frequency(),
        ..Identity::default()
    }
}

/// Returns the smallest data cache line size in bytes (CTR_EL0.DminLine).
pub fn data_line_bytes() -> u64 {
    4 << CTR_EL0.read(CTR_EL0::DMINLINE)
}

/// Returns the smallest cache line size in bytes, for data or instructions (CTR_EL0).
pub fn shortest_line_bytes() -> u64 {
    data_line_bytes().min(4 << CTR_EL0.read(CTR_EL0::IMINLINE))
}

/// Returns the stack pointer of the calling function.
#[inline(always)]
pub fn stack_pointer() -> u64 {
    let sp: u64;
    // SAFETY: this only reads a register.
    unsafe { asm!("mov {}, sp", out(reg) sp, options(nomem, nostack, preserves_flags)) };
    sp
}

/// Returns the number of bytes that DC ZVA zeroes, or None if it may not be used (DCZID_EL0).
pub fn dc_zva_bytes() -> Option<u64> {
    let dczid = DCZID_EL0.extract();
    (!dczid.is_set(DCZID_EL0::DZP)).then(|| 4 << dczid.read(DCZID_EL0::BS))
}

/// Returns the address of the exception vectors in use.
pub fn vector_base() -> u64 {
    match exception_level() {
        2 => VBAR_EL2.get(),
        _ => VBAR_EL1.get(),
    }
}

/// Returns CNTFRQ_EL0 in Hz, as set by the firmware.
pub fn counter_frequency() -> u64 {
    CNTFRQ_EL0.get()
}

pub fn has_gic_registers() -> bool {
    ID_AA64PFR0_EL1.read(GIC) != 0
}

/// Returns the smallest data cache line size in words, at least 1.
pub fn words_per_line() -> usize {
    (data_line_bytes() as usize / size_of::<u64>()).max(1)
}

/// The lead's [`Mpidr`] as a number; invalid until the lead has set it.
static LEAD_MPIDR: AtomicU64 = AtomicU64::new(u64::MAX);

/// Makes this CPU the lead, before any other CPU is turned on.
pub fn set_lead() {
    LEAD_MPIDR.store(mpidr().number(), Ordering::Relaxed);
}

/// Returns true if this CPU is the lead. Compares the MPIDR, because an exception may be taken
/// before the CPU is bound to its channel. Until a lead is set, only one CPU is on.
pub fn is_lead() -> bool {
    let lead = LEAD_MPIDR.load(Ordering::Relaxed);
    lead == u64::MAX || lead == mpidr().number()
}
