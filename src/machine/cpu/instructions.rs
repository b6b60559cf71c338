//! Single instructions that wait, order accesses, or unmask exceptions.

use core::arch::asm;

use aarch64_cpu::asm::barrier;
use aarch64_cpu::registers::Readable;

use crate::machine::cpu::sysreg::ISR_EL1;

/// Returns true if an interrupt is pending for this CPU, masked or not (ISR_EL1, bits I and F; bit
/// A is ignored, because SErrors are taken).
pub fn is_interrupt_pending() -> bool {
    // Earlier writes to timer and GIC registers take effect before this read.
    barrier::isb(barrier::SY);
    ISR_EL1.any_matching_bits_set(ISR_EL1::I::SET + ISR_EL1::F::SET)
}

/// Returns true if an FIQ is pending for this CPU. The payload enables only interrupts that are
/// signaled as IRQs, so this one is secure.
pub fn is_fiq_pending() -> bool {
    barrier::isb(barrier::SY);
    ISR_EL1.is_set(ISR_EL1::F)
}

pub fn wait_for_interrupt() {
    // SAFETY: WFI only waits; the barrier completes stores that other CPUs are waiting for.
    unsafe { asm!("dsb sy", "wfi", options(nostack)) };
}

/// Unmasks SErrors, including one that is already pending. The lead calls this function after it
/// has opened a console on which to report SErrors. (`boot.S` unmasks them at the other entry
/// points.) The image must contain only one copy of this function, because a test checks every
/// place where SErrors are unmasked.
#[inline(never)]
pub fn unmask_serrors() {
    // SAFETY: only PSTATE.A changes. boot.S has set TPIDR before any Rust code runs, so vectors.S
    // finds a stack for the dump.
    unsafe { asm!("msr daifclr, #4", options(nostack)) };
}

/// Waits until all of this CPU's memory accesses, including those to devices, have completed.
pub fn complete_accesses() {
    barrier::dsb(barrier::SY);
    barrier::isb(barrier::SY);
}

/// Yields in a loop that waits for another CPU, so that SMT threads and emulators can run that CPU
/// in the meantime.
pub fn relax() {
    // SAFETY: YIELD is a hint.
    unsafe { asm!("yield", options(nomem, nostack, preserves_flags)) };
}
