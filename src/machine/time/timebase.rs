//! The counter, and the ticks of a time.

use psci_bench::spec::ticks::Clock;

use crate::machine::call::call_path::CallPath;

/// The counter that all CPUs share, and its frequency.
#[derive(Clone, Copy)]
pub struct Timebase {
    pub path: CallPath,
    /// The frequency, by the lead's CNTFRQ.
    pub clock: Clock,
}

impl Timebase {
    /// Reads the counter, after all that precedes.
    pub fn now(&self) -> u64 {
        self.path.now()
    }

    pub fn ticks_of_us(&self, microseconds: u64) -> u64 {
        self.clock.ticks(microseconds)
    }

    pub fn spin_until(&self, instant: u64) {
        self.path.spin_until(instant);
    }
}
