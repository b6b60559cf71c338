//! The per-CPU generic timers (Arm ARM, D12), which wake CPUs. A timer can be armed for a counter
//! value and disarmed, and raises one private interrupt.

use aarch64_cpu::asm::barrier;
use aarch64_cpu::registers::{
    CNTHP_CTL_EL2, CNTP_CTL_EL0, CNTP_CVAL_EL0, CNTV_CTL_EL0, CNTV_CVAL_EL0, CNTV_TVAL_EL0,
    Readable, Writeable,
};
use hardware::board::{IntId, TimerPpis};
use hardware::spec::counter::TimerName;
use spin::Once;
use suite::measure::Counter;

use crate::machine::cpu::registers;
use crate::machine::cpu::sysreg::{CNTHP_CVAL_EL2, CNTV_CTL_EL02, CNTV_CVAL_EL02, CNTV_TVAL_EL02};

/// The CTL value for every timer: ENABLE set, IMASK clear.
const ON: u64 = CNTP_CTL_EL0::ENABLE::SET.value;
const OFF: u64 = 0;
/// The fields of CTL that only software changes: ENABLE and IMASK.
const SETTINGS: u64 = CNTP_CTL_EL0::ENABLE::SET.value | CNTP_CTL_EL0::IMASK::SET.value;

/// A timer that every CPU has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuTimer {
    kind: TimerKind,
    /// The interrupt, a PPI.
    pub intid: IntId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimerKind {
    Physical,
    Hypervisor,
    Virtual,
    /// [`TimerKind::Virtual`] if E2H is 1: the CNTV names then refer to CNTHV.
    VirtualEl02,
}

impl CpuTimer {
    /// Chooses the timer that uses `counter` and has an interrupt in the board description: CNTV in
    /// a guest; otherwise CNTP, or CNTHP at EL2 if CNTP has no interrupt. If E2H is 1, the CNTP
    /// names refer to CNTHP at EL2.
    pub fn choose(counter: Counter, exception_level: u8, ppis: &TimerPpis) -> Option<Self> {
        let (kind, intid) = match counter {
            Counter::Virtual => (TimerKind::Virtual, ppis.virtual_),
            _ if registers::has_fixed_e2h() => (TimerKind::Hypervisor, ppis.hypervisor),
            _ if ppis.physical.is_some() => (TimerKind::Physical, ppis.physical),
            _ if exception_level == 2 => (TimerKind::Hypervisor, ppis.hypervisor),
            _ => (TimerKind::Physical, None),
        };
        intid.map(|intid| Self { kind, intid })
    }

    /// Finds a guard timer, which can end a wait for this timer: CNTV, if the board description
    /// includes its interrupt. A guest has no guard timer, because it already uses CNTV and a
    /// hypervisor need not provide CNTP.
    pub fn find_guard(self, ppis: &TimerPpis) -> Option<Self> {
        if self.kind == TimerKind::Virtual {
            return None;
        }
        let intid = ppis.virtual_?;
        let is_e2h = registers::has_fixed_e2h();
        let kind = if is_e2h {
            TimerKind::VirtualEl02
        } else {
            TimerKind::Virtual
        };
        Some(Self { kind, intid })
    }

    /// Raises the guard timer interrupt after `ticks` ticks. Uses TVAL, because CNTVCT may be
    /// offset from CNTPCT (CNTVOFF_EL2).
    pub fn arm_after_ticks(self, ticks: u64) {
        // TVAL has 31 bits, enough for more than two seconds with any counter (up to 1 GHz).
        let value = ticks.min(i32::MAX as u64);
        match self.kind {
            TimerKind::VirtualEl02 => CNTV_TVAL_EL02.set(value),
            _ => CNTV_TVAL_EL0.set(value),
        }
        self.set_control(ON);
    }

    /// A timer whose interrupt cannot reach a CPU because there is no GIC. It can only be disarmed.
    pub const UNCONNECTED: Self = Self {
        kind: TimerKind::Physical,
        intid: IntId::new(0),
    };

    pub fn name(self) -> TimerName {
        match self.kind {
            TimerKind::Physical => TimerName::Cntp,
            TimerKind::Hypervisor => TimerName::Cnthp,
            TimerKind::Virtual | TimerKind::VirtualEl02 => TimerName::Cntv,
        }
    }

    /// Raises the interrupt at `at`, or immediately if that instant has passed.
    pub fn arm(self, at: u64) {
        match self.kind {
            TimerKind::Physical => CNTP_CVAL_EL0.set(at),
            TimerKind::Hypervisor => CNTHP_CVAL_EL2.set(at),
            TimerKind::Virtual => CNTV_CVAL_EL0.set(at),
            TimerKind::VirtualEl02 => CNTV_CVAL_EL02.set(at),
        }
        self.set_control(ON);
    }

    pub fn disarm(self) {
        self.set_control(OFF);
    }

    /// Returns the counter value that the timer is armed for, or None if it is disarmed or masked.
    pub fn armed_for(self) -> Option<u64> {
        let (control, at) = match self.kind {
            TimerKind::Physical => (CNTP_CTL_EL0.get(), CNTP_CVAL_EL0.get()),
            TimerKind::Hypervisor => (CNTHP_CTL_EL2.get(), CNTHP_CVAL_EL2.get()),
            TimerKind::Virtual => (CNTV_CTL_EL0.get(), CNTV_CVAL_EL0.get()),
            TimerKind::VirtualEl02 => (CNTV_CTL_EL02.get(), CNTV_CVAL_EL02.get()),
        };
        (control & SETTINGS == ON).then_some(at)
    }

    /// Writes CTL. The write takes effect before any later instruction.
    fn set_control(self, control: u64) {
        match self.kind {
            TimerKind::Physical => CNTP_CTL_EL0.set(control),
            TimerKind::Hypervisor => CNTHP_CTL_EL2.set(control),
            TimerKind::Virtual => CNTV_CTL_EL0.set(control),
            TimerKind::VirtualEl02 => CNTV_CTL_EL02.set(control),
        }
        barrier::isb(barrier::SY);
    }
}

static IN_USE: Once<CpuTimer> = Once::new();

pub fn set_in_use(timer: CpuTimer) {
    IN_USE.call_once(|| timer);
}

pub fn disarm_in_use() {
    if let Some(timer) = IN_USE.get() {
        timer.disarm();
    }
}
