//! How long the adjustable spans of a step's rounds are, as in [`crate::measure::Spans`].

/// The maximum sleep, in microseconds.
pub(super) const SLEEP_MAX_US: u64 = 2_000_000;

/// The spans that are lengthened if they were too short, in ticks.
#[derive(Clone, Copy, Default)]
pub(crate) struct Waits {
    /// [`crate::measure::Spans::sleep`].
    sleep: u64,
    longest_sleep: u64,
    /// [`crate::measure::Spans::quiet`].
    quiet: u64,
    longest_quiet: u64,
    /// The sleep in a CPU_OFF round: the time until the lead first calls AFFINITY_INFO.
    lead_idle: u64,
}

impl Waits {
    /// Starts a step with the quiet time `quiet`. There is no sleep time yet.
    pub(super) fn begin_step(&mut self, quiet: u64, longest_quiet: u64) {
        *self = Self {
            quiet,
            longest_quiet,
            lead_idle: self.lead_idle,
            ..Self::default()
        };
    }

    pub(crate) const fn sleep(&self) -> u64 {
        self.sleep
    }

    pub(crate) const fn quiet(&self) -> u64 {
        self.quiet
    }

    pub(crate) const fn lead_idle(&self) -> u64 {
        self.lead_idle
    }

    /// Discards the sleep time, so that the next calibration starts from scratch.
    pub(super) fn forget_sleep(&mut self) {
        self.sleep = 0;
    }

    /// Sets the sleep time for a first trial to at least `least`, and the limit to `longest`.
    pub(super) fn begin_trials(&mut self, least: u64, longest: u64) {
        self.sleep = self.sleep.max(least);
        self.longest_sleep = longest;
    }

    /// Sets the waits to the results of a calibration. The sleep time may still grow to `longest`.
    pub(super) fn end_trials(&mut self, sleep: u64, longest: u64, quiet: u64) {
        self.sleep = sleep;
        self.longest_sleep = longest;
        self.quiet = quiet.min(self.longest_quiet);
    }

    /// Sets the waits for all CPUs to those that the slowest one needs.
    pub(super) fn cover_slowest(&mut self, sleep: u64, quiet: u64) {
        self.sleep = sleep;
        self.longest_sleep = self.longest_sleep.max(sleep);
        self.quiet = self.quiet.max(quiet);
    }

    /// Returns true if the sleep time has reached its limit.
    pub(super) const fn is_longest_sleep(&self) -> bool {
        self.sleep >= self.longest_sleep
    }

    /// Returns true if the quiet time has reached its limit.
    pub(super) const fn is_longest_quiet(&self) -> bool {
        self.quiet >= self.longest_quiet
    }

    /// Doubles the sleep time, up to its limit, after a wake-up that came too soon.
    pub(super) fn lengthen_sleep(&mut self) {
        self.sleep = (self.sleep * 2).min(self.longest_sleep);
    }

    /// After a CPU returned `late` ticks too late, sets the quiet time to twice what would have
    /// been enough, up to its limit.
    pub(crate) fn lengthen_quiet(&mut self, late: u64) {
        self.quiet = (2 * (self.quiet + late)).min(self.longest_quiet);
    }

    /// Sets the time from a CPU_OFF until the lead first calls AFFINITY_INFO.
    pub(super) fn set_lead_idle(&mut self, lead_idle: u64) {
        self.lead_idle = lead_idle;
    }

    /// Doubles the time after a CPU_OFF, up to `longest`.
    pub(super) fn lengthen_lead_idle(&mut self, longest: u64) {
        self.lead_idle = (self.lead_idle * 2).min(longest);
    }
}
