//! A secure interrupt that is pending at a CPU and that no firmware takes.
//!
//! The GIC signals only the pending interrupt with the highest priority. In the non-secure state, a
//! secure one is signaled as an FIQ (IHI 0069, "Interrupt assignment to IRQ and FIQ signals"). If the
//! firmware does not take FIQs (SCR_EL3.FIQ is 0), it stays pending and hides all others. Each WFI
//! and each CPU_SUSPEND then returns immediately.

use core::sync::atomic::{AtomicU64, Ordering};

use hardware::board::Mpidr;

use crate::machine::cpu::{instructions, registers};

const NOT_SEEN: u64 = u64::MAX;

/// The MPIDR of the last CPU that saw a pending secure interrupt, or [`NOT_SEEN`].
static SEEN_BY: AtomicU64 = AtomicU64::new(NOT_SEEN);

/// Records it if a secure interrupt is pending at this CPU. Called only after an interrupt could not
/// be acknowledged, because a waiting CPU must not access memory that other CPUs use.
pub fn record_if_pending() {
    if instructions::is_fiq_pending() {
        SEEN_BY.store(registers::mpidr().number(), Ordering::Relaxed);
    }
}

/// Returns the CPU that recorded a secure interrupt since the last call, if any.
pub fn take_recorded() -> Option<Mpidr> {
    let seen_by = SEEN_BY.load(Ordering::Relaxed);
    SEEN_BY.store(NOT_SEEN, Ordering::Relaxed);
    (seen_by != NOT_SEEN).then(|| Mpidr::new(seen_by))
}
