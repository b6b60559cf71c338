//! What wakes a CPU: the wake source, here one of the per-CPU timers of the
//! generic timer (Arm ARM, D12). A source arms an instant of the counter, is
//! disarmed, and raises one private interrupt.

use crate::machine::cpu::registers;
use core::arch::asm;

use aarch64_cpu::registers::{
    CNTHP_CTL_EL2, CNTP_CTL_EL0, CNTP_CVAL_EL0, CNTV_CTL_EL0, CNTV_CVAL_EL0, CNTV_TVAL_EL0,
    Writeable,
};
use psci_bench::board::TimerPpis;
use psci_bench::measure::Counter;

/// CTL: ENABLE set, IMASK clear.
const ON: u64 = 1;
/// CTL: ENABLE clear.
const OFF: u64 = 0;

/// Writes a register of the virtual timer by the name that EL2 has for it where
/// E2H is 1.
macro_rules! el02 {
    ($register:literal, $value:expr) => {
        // SAFETY: writes this CPU's own timer. Kind::VirtualEl02 is chosen at EL2
        // with E2H = 1 only, where the register exists.
        unsafe { asm!(concat!("msr ", $register, ", {}"), in(reg) $value, options(nostack)) }
    };
}

/// A per-CPU timer and its interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    kind: Kind,
    /// Its interrupt: a PPI, 16 to 31.
    pub intid: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Physical,
    Hypervisor,
    Virtual,
    /// [`Kind::Virtual`] where E2H is 1: CNTV's names mean CNTHV there.
    VirtualEl02,
}

impl Timer {
    /// The timer that counts by `counter` and whose interrupt the board
    /// names: in a guest CNTV; else CNTP, or at EL2 CNTHP where there is no
    /// interrupt for CNTP. Where E2H is 1, CNTP's names mean CNTHP at EL2.
    pub fn choose(counter: Counter, exception_level: u8, ppis: &TimerPpis) -> Option<Self> {
        let (kind, intid) = match counter {
            Counter::Virtual => (Kind::Virtual, ppis.virtual_),
            _ if registers::has_fixed_e2h() => (Kind::Hypervisor, ppis.hypervisor),
            _ if ppis.physical.is_some() => (Kind::Physical, ppis.physical),
            _ if exception_level == 2 => (Kind::Hypervisor, ppis.hypervisor),
            _ => (Kind::Physical, None),
        };
        intid.map(|intid| Self { kind, intid })
    }

    /// Another timer of the CPU, to end a wait for this one: CNTV, if the board
    /// names its interrupt. In a guest this is CNTV itself, and of CNTP nobody
    /// knows whether the hypervisor has it.
    pub fn guard(self, ppis: &TimerPpis) -> Option<Self> {
        let intid = ppis.virtual_.filter(|_| self.kind != Kind::Virtual)?;
        let kind = match registers::has_fixed_e2h() {
            true => Kind::VirtualEl02,
            false => Kind::Virtual,
        };
        Some(Self { kind, intid })
    }

    /// Of a guard: raises the interrupt in so many ticks. Not by the instant, as
    /// CNTVCT may have an offset to what that is of.
    pub fn arm_within(self, ticks: u64) {
        // TVAL has 31 bits: two seconds and more of any counter (1 GHz).
        let ticks = ticks.min(i32::MAX as u64);
        if self.kind == Kind::VirtualEl02 {
            el02!("s3_5_c14_c3_0", ticks); // CNTV_TVAL_EL02
            el02!("s3_5_c14_c3_1", ON); // CNTV_CTL_EL02
        } else {
            CNTV_TVAL_EL0.set(ticks);
            CNTV_CTL_EL0.set(ON);
        }
        synchronise();
    }

    /// A timer whose interrupt goes nowhere, for want of a GIC: it can be
    /// disarmed, which is all that is asked of it then.
    pub fn unconnected() -> Self {
        Self {
            kind: Kind::Physical,
            intid: 0,
        }
    }

    /// The timer's name.
    pub fn name(self) -> &'static str {
        match self.kind {
            Kind::Physical => "CNTP",
            Kind::Hypervisor => "CNTHP",
            Kind::Virtual | Kind::VirtualEl02 => "CNTV",
        }
    }

    /// Raises the interrupt at this instant, or at once if it has passed.
    pub fn arm(self, at: u64) {
        match self.kind {
            Kind::Physical => {
                CNTP_CVAL_EL0.set(at);
                CNTP_CTL_EL0.set(ON);
            }
            Kind::VirtualEl02 => {
                el02!("s3_5_c14_c3_2", at); // CNTV_CVAL_EL02
                el02!("s3_5_c14_c3_1", ON);
            }
            Kind::Virtual => {
                CNTV_CVAL_EL0.set(at);
                CNTV_CTL_EL0.set(ON);
            }
            Kind::Hypervisor => {
                // SAFETY: writes this CPU's own EL2 timer; chosen at EL2 only.
                unsafe { asm!("msr cnthp_cval_el2, {}", in(reg) at, options(nostack)) };
                CNTHP_CTL_EL2.set(ON);
            }
        }
        synchronise();
    }

    /// Takes the interrupt back.
    pub fn disarm(self) {
        match self.kind {
            Kind::Physical => CNTP_CTL_EL0.set(OFF),
            Kind::Virtual => CNTV_CTL_EL0.set(OFF),
            Kind::VirtualEl02 => el02!("s3_5_c14_c3_1", OFF),
            Kind::Hypervisor => CNTHP_CTL_EL2.set(OFF),
        }
        synchronise();
    }
}

/// Lets a register write take effect before what follows.
fn synchronise() {
    // SAFETY: a barrier only.
    unsafe { asm!("isb", options(nostack)) };
}
