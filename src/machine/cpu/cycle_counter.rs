//! The cycle counter, PMCCNTR_EL0 (Arm ARM, D13). The counter runs only while in use, and its
//! registers are restored afterwards.

use aarch64_cpu::asm::barrier;
use aarch64_cpu::registers::{ID_AA64DFR0_EL1, Readable, Writeable};

use crate::machine::cpu::sysreg::{
    PMCCFILTR_EL0, PMCCNTR_EL0, PMCNTENCLR_EL0, PMCNTENSET_EL0, PMCR_EL0,
};
use crate::machine::time::waiter::Waiter;

/// The duration of a CPU clock measurement, in microseconds. With a 10 MHz counter, the result is
/// accurate to 0.1 %.
const CLOCK_US: u64 = 200;

/// The number of reads after which the counter is assumed to have stopped.
const STILL: u32 = 16;

/// The running cycle counter, and the register values to restore when it stops.
pub struct CycleCounter {
    control: u64,
    filter: u64,
    enabled: u64,
}

/// Returns true if this CPU has a PMUv3 (ID_AA64DFR0_EL1.PMUVer: 0 means no PMU, 0xf a different
/// kind of PMU).
pub fn has_pmu_v3() -> bool {
    !matches!(ID_AA64DFR0_EL1.read(ID_AA64DFR0_EL1::PMUVer), 0 | 0xf)
}

impl CycleCounter {
    pub fn start() -> Option<Self> {
        if !has_pmu_v3() {
            return None;
        }
        let before = Self {
            control: PMCR_EL0.get(),
            filter: PMCCFILTR_EL0.get(),
            enabled: PMCNTENSET_EL0.get(),
        };
        PMCCFILTR_EL0.write(PMCCFILTR_EL0::NSH::SET);
        PMCNTENSET_EL0.write(PMCNTENSET_EL0::C::SET);
        let every_cycle = PMCR_EL0::D::CLEAR + PMCR_EL0::DP::CLEAR;
        let counting = every_cycle + PMCR_EL0::LC::SET + PMCR_EL0::E::SET;
        PMCR_EL0.set(counting.modify(before.control));
        let first = now();
        if (0..STILL).all(|_| now() == first) {
            before.stop();
            return None;
        }
        Some(before)
    }

    pub fn stop(&self) {
        if !PMCNTENSET_EL0::C::SET.matches_all(self.enabled) {
            PMCNTENCLR_EL0.write(PMCNTENSET_EL0::C::SET);
        }
        PMCCFILTR_EL0.set(self.filter);
        PMCR_EL0.set(self.control);
        barrier::isb(barrier::SY);
    }
}

/// Measures the calling CPU's clock in MHz by counting cycles for a fixed time, which is measured
/// with the system counter. Returns None if there is no cycle counter or the system counter
/// frequency is unknown.
pub fn measure_clock_mhz(waiter: &Waiter) -> Option<u64> {
    if !waiter.clock.is_known() {
        return None;
    }
    let cycle_counter = CycleCounter::start()?;
    let start = waiter.now();
    let first_cycle = now();
    waiter.path.spin_until(start + waiter.ticks_of_us(CLOCK_US));
    let end = waiter.now();
    let last_cycle = now();
    cycle_counter.stop();
    let cycles = last_cycle
        .wrapping_sub(first_cycle)
        .checked_mul(waiter.clock.hz)?;
    let ticks = (end - start).checked_mul(1_000_000)?;
    cycles.checked_add(ticks / 2)?.checked_div(ticks)
}

fn now() -> u64 {
    barrier::isb(barrier::SY);
    PMCCNTR_EL0.get()
}
