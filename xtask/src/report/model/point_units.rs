//! Units and headings of points, which need the run or the scenario.

use psci_bench::model::Unit;

use super::points::{CONTEND_SWEEP, DIRTY_SWEEP, IDLE_STATES, Measured};
use super::results::Test;
use super::run::Run;

impl Measured {
    /// A figure of a sample as that of one operation, in nanoseconds; in ticks
    /// where the clock is not known, and in cycles where these were counted.
    #[must_use]
    pub fn each(&self, run: &Run, figure: u64) -> f64 {
        let hz = run.clock().hz;
        let scale = match self.unit() {
            Unit::Ticks if run.clock().is_known() => 1e9 / hz as f64,
            _ => 1.0,
        };
        figure as f64 * scale / f64::from(self.per.max(1))
    }

    /// The unit of [`Measured::each`].
    #[must_use]
    pub fn unit_name(&self, run: &Run) -> &'static str {
        match self.unit() {
            Unit::Cycles => "cycles",
            Unit::Microseconds => "us",
            Unit::Count => "times",
            Unit::Ticks if run.clock().is_known() => "ns",
            Unit::Ticks => "ticks",
        }
    }
}

impl Test {
    /// Whether CPUs wait for each other in it though it has points: what one
    /// of them shows is the place that it came to.
    #[must_use]
    pub fn is_queue_of_points(&self) -> bool {
        self.scenario.word() == CONTEND_SWEEP
    }

    /// What a point's `x` is, as a heading.
    #[must_use]
    pub fn x_heading(&self) -> &'static str {
        match self.scenario.word() {
            DIRTY_SWEEP => "Bytes",
            CONTEND_SWEEP => "CPUs",
            IDLE_STATES => "power_state",
            _ => "x",
        }
    }

    /// A point's `x` as a cell.
    #[must_use]
    pub fn x_shown(&self, x: u64) -> String {
        match self.scenario.word() {
            IDLE_STATES => format!("{x:#010x}"),
            _ => x.to_string(),
        }
    }
}
