//! Definitions common to GICv2 and GICv3.

use core::sync::atomic::{AtomicBool, AtomicU64};

use hardware::board::{IntId, Mpidr};

pub const WAKE_SGI: IntId = IntId::sgi(0);

/// The priority of all interrupts, in the middle of the non-secure range.
pub const PRIORITY: u8 = 0xa0;

/// A CPU as a target of interrupts.
pub struct GicCpu {
    pub mpidr: Mpidr,
    /// GICv3: the address of the CPU's redistributor, or 0 until it is found. GICv2: the CPU's bit
    /// in target lists.
    pub redistributor_or_bit: AtomicU64,
    /// Set when the CPU has stopped napping and can no longer lose an SGI. Cleared when the other CPU
    /// of its pair has seen it.
    pub awaits_sgi: AtomicBool,
}

/// An interrupt that has been acknowledged and not yet completed.
pub struct Acknowledged {
    pub intid: IntId,
    /// The GICC_IAR value, which is written back to complete the interrupt.
    pub register: u32,
}

/// The reason why this CPU's part of the GIC, or its timer, cannot be set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GicError {
    NoRedistributor,
    /// ICC_SRE_EL1 does not exist, or its SRE field stays 0.
    NoSystemRegisters,
    Timeout,
    Asleep,
    /// The INTID of the timer interrupt that does not arrive.
    SilentTimer(IntId),
    /// The INTID of the timer interrupt, which does not arrive because a secure interrupt is pending.
    HiddenTimer(IntId),
    /// The INTID of the timer interrupt. The tree describes a GICv2, but the CPU has a GICv3 CPU
    /// interface.
    OtherGic(IntId),
}

impl core::fmt::Display for GicError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::SilentTimer(intid) => {
                return write!(f, "timer interrupt {intid} does not arrive");
            }
            Self::HiddenTimer(intid) => {
                return write!(
                    f,
                    "a pending FIQ hides timer interrupt {intid}: a secure interrupt that the \
                     firmware does not take (ISR_EL1.F); which device raises it, a watchdog?"
                );
            }
            Self::OtherGic(intid) => {
                return write!(
                    f,
                    "timer interrupt {intid} does not arrive; the device tree describes a GICv2, \
                     but this CPU has GICv3 registers (ID_AA64PFR0_EL1.GIC): is the tree for \
                     another GIC?"
                );
            }
            Self::NoRedistributor => {
                "no GIC redistributor has this CPU's affinity; are the regions in the GIC's reg \
                 too small?"
            }
            Self::NoSystemRegisters => "this CPU has no GICv3 system registers",
            Self::Timeout => "a GIC register write stayed pending",
            Self::Asleep => "the GIC redistributor does not wake up",
        })
    }
}
