//! The options for `timer_latency`.

use alloc::string::String;

use hardware::text::join::join;
use hardware::words;
use serde::{Deserialize, Serialize};

use super::how::{How, HowSet};

words! {
    /// What CPUs do while a timer is measured.
    pub enum Load, word {
        /// No load: the CPU waits for its next interrupt.
        Idle = "idle",
        /// Plain stores.
        Write = "write",
        /// DC ZVA.
        Zero = "zero",
        /// Non-temporal stores, STNP.
        Nontemporal = "nontemporal",
        /// Stores followed by a clean and invalidate to the point of coherency (DC CIVAC).
        Clean = "clean",
        /// All four loads in turn, for one page each.
        Mixed = "mixed",
        /// PSCI_VERSION calls, without a pause.
        Smc = "smc",
        /// CPU_SUSPEND to a power-down state, again and again.
        Suspend = "suspend",
    }
}

impl Load {
    /// Returns true if the load writes to a CPU's buffer.
    pub const fn needs_buffer(self) -> bool {
        !matches!(self, Self::Idle | Self::Smc | Self::Suspend)
    }
}

/// The options for `timer_latency`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimerPlan {
    /// The duration of each measurement in seconds.
    pub duration: u32,
    /// Microseconds from one expiry to the next.
    pub period: u32,
    /// The number of bytes that each CPU writes to.
    pub footprint: u32,
    /// The measurement ends if a latency exceeds this many microseconds.
    pub threshold: Option<u32>,
    /// One bit for each load, in the same order as [`Load::ALL`].
    pub(crate) loads: u8,
    /// The CPUs whose timers are measured, and the CPUs that run the load.
    pub timers: HowSet,
}

impl Default for TimerPlan {
    fn default() -> Self {
        Self {
            duration: 1,
            period: 1_000,
            footprint: 4 << 20,
            threshold: None,
            loads: 1 << Load::Idle as u8 | 1 << Load::Mixed as u8,
            timers: HowSet(1 << How::Alone as u8 | 1 << How::All as u8),
        }
    }
}

impl TimerPlan {
    /// Returns the loads, in the same order as [`Load::ALL`].
    pub fn loads(&self) -> impl Iterator<Item = Load> + use<> {
        let loads = self.loads;
        let all = Load::ALL.into_iter();
        all.filter(move |load| loads >> *load as u8 & 1 != 0)
    }

    /// Removes a load. Returns false if the load was not part of any measurement.
    pub fn leave_out(&mut self, load: Load) -> bool {
        let is_affected = |it: Load| it == load || (it, load) == (Load::Mixed, Load::Zero);
        let asked = self.loads().any(is_affected);
        self.loads &= !(1 << load as u8);
        asked
    }

    /// Returns true if a load can be measured in this way. On a single-CPU machine, there are no
    /// other CPUs to produce it, and a CPU whose timer is measured does not suspend.
    pub fn is_possible(load: Load, how: How, cpus: usize) -> bool {
        match how {
            How::All => load != Load::Suspend,
            How::Alone => cpus > 1 || load == Load::Idle,
            How::Near | How::Far => cpus > 1 && load != Load::Idle,
        }
    }

    /// Returns the number of measurements on a machine with this number of CPUs.
    pub fn stretches(&self, cpus: usize) -> usize {
        let timers = self.timers;
        let each = self
            .loads()
            .flat_map(move |load| timers.iter().map(move |how| (load, how)));
        let possible = each.filter(|(load, how)| Self::is_possible(*load, *how, cpus));
        let stretches = possible.map(|(_, how)| if how == How::All { 1 } else { cpus });
        stretches.sum()
    }

    /// Returns the loads as written in the `stress=` argument.
    pub fn load_list(&self) -> String {
        join(self.loads().map(Load::word), ",")
    }

    /// Returns the number of expiries of a timer in one measurement, and in a one-second window.
    pub fn expiries(&self) -> (u32, u32) {
        let window = 1_000_000 / self.period.max(1);
        let total = u64::from(self.duration) * 1_000_000 / u64::from(self.period.max(1));
        // A full day fits, even with the shortest period.
        (total.try_into().unwrap_or(u32::MAX), window.max(1))
    }

    /// Returns the size of each CPU's buffer in bytes, rounded up to whole pages; 0 if no load
    /// needs a buffer.
    pub fn buffer(&self) -> u64 {
        match self.loads().any(Load::needs_buffer) {
            true => u64::from(self.footprint).next_multiple_of(4096),
            false => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_a_second_and_no_load_needs_no_memory() {
        let mut plan = TimerPlan::default();
        for (duration, period, expiries) in [
            (1, 1_000, (1_000, 1_000)),
            (10, 300, (33_333, 3_333)),
            (1, 1_000_000, (1, 1)),
            (86_400, 50, (1_728_000_000, 20_000)),
        ] {
            (plan.duration, plan.period) = (duration, period);
            assert_eq!(plan.expiries(), expiries);
        }
        assert_eq!(plan.buffer(), 4 << 20);
        plan.footprint = 5000;
        assert_eq!(plan.buffer(), 8192);
        assert!(plan.leave_out(Load::Zero) && plan.leave_out(Load::Mixed));
        assert_eq!((plan.buffer(), plan.leave_out(Load::Zero)), (0, false));
    }
}
