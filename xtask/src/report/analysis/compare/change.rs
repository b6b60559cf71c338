//! The change of a figure between two runs.

use psci_bench::measure::Metric;

use crate::report::model::{Measured, Term};

/// A point on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct PointChange {
    /// The run's.
    pub point: Measured,
    /// The CPU of the baseline's, as index into its own CPUs.
    pub old_cpu: usize,
    /// Where CPUs wait for each other the place in their order, from 0.
    pub place: Option<usize>,
    /// What the figures are in.
    pub unit: &'static str,
    /// The figure of one operation in the run.
    pub new: Amount,
    /// In the baseline.
    pub old: Amount,
    /// What to make of them.
    pub outcome: Outcome,
}

/// The figure of one operation and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amount {
    /// The figure.
    pub figure: f64,
    /// What noise allows it to be; None of a single measurement.
    pub interval: Option<(f64, f64)>,
}

impl PointChange {
    /// By how many percent of the old figure; None from zero.
    #[must_use]
    pub fn percent(&self) -> Option<f64> {
        let (old, new) = (self.old.figure, self.new.figure);
        (old > 0.0).then(|| (new - old) / old * 100.0)
    }
}

/// A figure on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Which figure.
    pub metric: Term<Metric>,
    /// The place in the order, from 0; None by CPU.
    pub place: Option<usize>,
    /// The CPU of the run.
    pub cpu: usize,
    /// The CPU of the baseline, as index into its own CPUs.
    pub old_cpu: usize,
    /// The figure of the run.
    pub new: Value,
    /// The figure of the baseline.
    pub old: Value,
    /// What cache flushes at other places in the queue make of the change,
    /// where more is left than noise: that is judged.
    pub by_flushes: Option<i64>,
    /// What to make of them.
    pub outcome: Outcome,
}

/// A figure and its interval, in nanoseconds; in ticks where neither side's
/// clock is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// The figure.
    pub figure: u64,
    /// What noise allows it to be; None of a single measurement. Where one
    /// round of many is shown, that of the CPU's median.
    pub interval: Option<(u64, u64)>,
    /// Whether it is from a line without a checksum.
    pub doubtful: bool,
}

/// What to make of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Within the tolerance.
    Same,
    /// Beyond it, and within what noise or the tick may do.
    Noise,
    /// The same cache flushes as before, at another place in the lock queue,
    /// and nothing else beyond tolerance and noise.
    Moved,
    /// Less time than before.
    Better,
    /// More time than before.
    Worse,
}

impl Change {
    /// What is judged: without what cache flushes at other places make of it.
    #[must_use]
    pub fn delta(&self) -> i128 {
        let by_flushes = self.by_flushes.map_or(0, i128::from);
        i128::from(self.new.figure) - i128::from(self.old.figure) - by_flushes
    }

    /// That in percent of the old figure; None from zero.
    #[must_use]
    pub fn percent(&self) -> Option<f64> {
        let old = self.old.figure;
        (old > 0).then(|| self.delta() as f64 / old as f64 * 100.0)
    }
}

impl Outcome {
    /// The word that stands for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Noise => "noise",
            Self::Moved => "moved",
            Self::Better => "better",
            Self::Worse => "worse",
        }
    }
}
