//! The cycle counter, PMCCNTR_EL0 (Arm ARM, D13): it counts for as long as it is
//! used, and its registers are restored.

use core::arch::asm;

use crate::machine::time::timebase::Timebase;

/// PMCR_EL0: E, all counters on; D, count every 64th cycle; DP, not where
/// counting is prohibited; LC, overflow at 64 bits.
const PMCR_E: u64 = 1;
const PMCR_D: u64 = 1 << 3;
const PMCR_DP: u64 = 1 << 5;
const PMCR_LC: u64 = 1 << 6;

/// PMCCFILTR_EL0.NSH: count at EL2, too. All else 0: at every other level.
const COUNT_AT_EL2: u64 = 1 << 27;

/// The cycle counter's bit in PMCNTENSET_EL0 and PMCNTENCLR_EL0.
const CYCLES: u64 = 1 << 31;

/// The time for which a CPU's clock is measured, in microseconds: to 0.1 % by a
/// counter of 10 MHz.
const CLOCK_US: u64 = 200;

/// The reads after which the counter is taken to stand still.
const STILL: u32 = 16;

/// Reads or writes a register of the PMU.
macro_rules! register {
    ($name:literal) => {{
        let value: u64;
        // SAFETY: only called where is_there() found a PMU; reading it has no
        // side effect.
        unsafe { asm!(concat!("mrs {}, ", $name), out(reg) value, options(nomem, nostack)) };
        value
    }};
    ($name:literal, $value:expr) => {
        // SAFETY: as above. Counting changes nothing but counters, which no
        // other code on this CPU uses.
        unsafe { asm!(concat!("msr ", $name, ", {}"), in(reg) $value, options(nomem, nostack)) }
    };
}

/// The registers of the counter as they were before it was started.
pub struct CycleCounter {
    control: u64,
    filter: u64,
    enabled: u64,
}

/// Says that this CPU has a PMU that is PMUv3 (ID_AA64DFR0_EL1.PMUVer: 0 is none,
/// 0xf one of another kind).
pub fn has_pmu_v3() -> bool {
    let features: u64;
    // SAFETY: reading an ID register has no side effect.
    unsafe {
        asm!("mrs {}, id_aa64dfr0_el1", out(reg) features, options(nomem, nostack));
    }
    !matches!(features >> 8 & 0xf, 0 | 0xf)
}

impl CycleCounter {
    /// Starts the counter; None where there is none, or where it stands still.
    pub fn start() -> Option<Self> {
        if !has_pmu_v3() {
            return None;
        }
        let before = Self {
            control: register!("pmcr_el0"),
            filter: register!("pmccfiltr_el0"),
            enabled: register!("pmcntenset_el0"),
        };
        register!("pmccfiltr_el0", COUNT_AT_EL2);
        register!("pmcntenset_el0", CYCLES);
        let control = before.control & !(PMCR_D | PMCR_DP) | PMCR_LC | PMCR_E;
        register!("pmcr_el0", control);
        let first = now();
        if (0..STILL).all(|_| now() == first) {
            before.stop();
            return None;
        }
        Some(before)
    }

    /// Restores the counter.
    pub fn stop(&self) {
        if self.enabled & CYCLES == 0 {
            register!("pmcntenclr_el0", CYCLES);
        }
        register!("pmccfiltr_el0", self.filter);
        register!("pmcr_el0", self.control);
        synchronise();
    }
}

/// Measures the clock of the calling CPU, in MHz: cycles while the system counter runs
/// for a fixed time. Returns None where there is no cycle counter, or where the
/// counter's frequency is unknown.
pub fn measure_clock_mhz(timebase: &Timebase) -> Option<u64> {
    let frequency = timebase.clock.is_known().then_some(timebase.clock.hz)?;
    let cycle_counter = CycleCounter::start()?;
    let (start, first) = (timebase.now(), now());
    timebase.spin_until(start + timebase.ticks_of_us(CLOCK_US));
    let (end, last) = (timebase.now(), now());
    cycle_counter.stop();
    let cycles = last.wrapping_sub(first).checked_mul(frequency)?;
    let ticks = (end - start).checked_mul(1_000_000)?;
    cycles.checked_add(ticks / 2)?.checked_div(ticks)
}

fn now() -> u64 {
    synchronise();
    register!("pmccntr_el0")
}

fn synchronise() {
    // SAFETY: a barrier only.
    unsafe { asm!("isb", options(nomem, nostack)) };
}
