//! The size of a run, and what it consists of, for an estimate of its duration.

use super::arguments::Plan;

/// The values that determine how many cells a scenario has.
#[derive(Clone, Copy, Debug)]
pub struct RunSize<'p> {
    /// The boot arguments, which set the numbers of steps and samples.
    pub plan: &'p Plan,
    /// The number of CPUs.
    pub cpus: usize,
    /// The number of idle states.
    pub idle_states: usize,
}

impl RunSize<'_> {
    /// Returns the number of samples for each cell, including warm-up.
    pub fn rounds(&self) -> u64 {
        u64::from(self.plan.iterations) + u64::from(self.plan.warmup)
    }
}

/// What a scenario does in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Rounds that take one sample, including trials and warm-up.
    pub samples: u64,
    /// Operations in loops.
    pub operations: u64,
    /// Seconds that pass in any case, because the payload measures until a time limit.
    pub limit_s: u64,
    /// Seconds for which timers run.
    pub timers_s: u64,
}
