//! The options for `timer_latency`.

use super::arguments::Plan;
use super::choices::{ActiveCpus, Load};
use super::word_set::WordSet;

/// The options for `timer_latency`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerPlan {
    /// The duration of each measurement in seconds.
    pub duration: u32,
    /// Microseconds from one expiry to the next.
    pub period: u32,
    /// The number of bytes that each CPU writes to.
    pub footprint: u32,
    /// What the CPUs do while timers are measured. Each load is measured on its own.
    pub loads: WordSet<Load>,
    /// The CPUs whose timers are measured, and the CPUs that run the load.
    pub timers: WordSet<ActiveCpus>,
}

impl TimerPlan {
    /// Returns the options in a plan.
    pub const fn from_plan(plan: &Plan) -> Self {
        Self {
            duration: plan.duration,
            period: plan.period,
            footprint: plan.footprint,
            loads: plan.stress,
            timers: plan.timers,
        }
    }

    /// Returns the loads, in the same order as [`Load::ALL`].
    pub fn loads(&self) -> impl Iterator<Item = Load> + use<> {
        self.loads.iter()
    }

    /// Removes a load. Returns false if the load was not part of any measurement.
    pub fn leave_out(&mut self, load: Load) -> bool {
        let is_used =
            self.loads.contains(load) || load == Load::Zero && self.loads.contains(Load::Mixed);
        self.loads.remove(load);
        is_used
    }

    /// Returns true if a load can be measured in this way. On a single-CPU machine, there are no
    /// other CPUs to produce it, and a CPU whose timer is measured does not suspend.
    pub fn is_possible(load: Load, active_cpus: ActiveCpus, cpus: usize) -> bool {
        match active_cpus {
            ActiveCpus::All => load != Load::Suspend,
            ActiveCpus::Alone => cpus > 1 || load == Load::Idle,
            ActiveCpus::Near | ActiveCpus::Far => cpus > 1 && load != Load::Idle,
        }
    }

    /// Returns the number of measurements on a machine with this number of CPUs.
    pub fn measurements(&self, cpus: usize) -> usize {
        let mut count = 0;
        for load in self.loads() {
            for active_cpus in self.timers.iter() {
                if Self::is_possible(load, active_cpus, cpus) {
                    count += if active_cpus == ActiveCpus::All {
                        1
                    } else {
                        cpus
                    };
                }
            }
        }
        count
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
        if self.loads().any(Load::needs_buffer) {
            u64::from(self.footprint).next_multiple_of(4096)
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_a_second_and_no_load_needs_no_memory() {
        let mut plan = TimerPlan::from_plan(&Plan::default());
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
