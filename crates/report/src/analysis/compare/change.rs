//! The change in a figure between two runs.

use hardware::board::CpuIndex;
use serde::Serialize;
use suite::measure::Unit;

use crate::analysis::figure::FigureKey;

/// A figure that is present in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The figure.
    #[serde(flatten)]
    pub key: FigureKey,
    /// The size rank, counting from 0; None if figures are compared by CPU.
    #[serde(rename = "place")]
    pub rank: Option<usize>,
    /// The CPU's index in the run.
    pub cpu: CpuIndex,
    /// The CPU's index in the baseline.
    pub old_cpu: CpuIndex,
    /// The value in the run.
    pub new: ComparedValue,
    /// The value in the baseline.
    pub old: ComparedValue,
    /// The verdict.
    #[serde(skip)]
    pub outcome: ChangeOutcome,
}

/// A figure per operation, in the unit of its `FigureKey`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ComparedValue {
    /// The value.
    pub figure: f64,
    /// The range of values that noise alone can explain; None for a single measurement. If the
    /// figure is from one of several rounds, this is the range for the CPU's median.
    pub interval: Option<(f64, f64)>,
    /// True if the figure was read from a line without a checksum.
    pub is_doubtful: bool,
    /// True if the run's emulated CPUs shared host CPUs. Times then vary between runs by more than
    /// the interval, so no change in a time counts.
    #[serde(skip)]
    pub is_unsteady: bool,
}

/// The verdict on a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeOutcome {
    /// The change is within the tolerance.
    Same,
    /// The change exceeds the tolerance, but not the noise or one tick.
    Noise,
    /// The figure improved.
    Better,
    /// The figure got worse.
    Worse,
}

impl Change {
    /// Returns the new figure minus the old one.
    pub fn delta(&self) -> f64 {
        self.new.figure - self.old.figure
    }

    /// Returns the change as a percentage of the old figure; None if the old figure is zero.
    pub fn percent(&self) -> Option<f64> {
        percent(self.new.figure, self.old.figure)
    }

    /// Returns the percentage of the old figure by which noise alone can change the figure: half
    /// the widths of both intervals. None if a side has no interval, or if the old figure is zero.
    pub fn noise_percent(&self) -> Option<f64> {
        let half = |(low, high): (f64, f64)| (high - low) / 2.0;
        let noise = half(self.new.interval?) + half(self.old.interval?);
        percent(self.old.figure + noise, self.old.figure)
    }

    /// Returns true if both sides have an interval.
    pub(in crate::analysis) fn has_intervals(&self) -> bool {
        self.new.interval.is_some() && self.old.interval.is_some()
    }
}

/// Returns the change as a percentage of the old figure; None if only the old figure is zero.
pub fn percent(new: f64, old: f64) -> Option<f64> {
    match old {
        0.0 if new == 0.0 => Some(0.0),
        _ => (old > 0.0).then(|| (new - old) / old * 100.0),
    }
}

/// Returns true if the figures differ by at most `ppm` parts per million of the larger one.
/// The comparison is exact for integers up to 9e9.
pub fn is_close(a: f64, b: f64, ppm: u32) -> bool {
    (a - b).abs() * 1e6 <= a.max(b) * f64::from(ppm)
}

impl ChangeOutcome {
    /// Judges a change. `tick` is the coarser of the two sides' resolutions.
    fn of(new: &ComparedValue, old: &ComparedValue, tolerance_ppm: u32, tick: f64) -> Self {
        if is_close(new.figure, old.figure, tolerance_ppm) {
            return Self::Same;
        }
        let is_less = new.figure < old.figure;
        let (more, less) = if is_less { (old, new) } else { (new, old) };
        if new.is_unsteady || old.is_unsteady {
            return Self::Noise;
        }
        // If the intervals do not overlap but are in the opposite order to the figures, the change
        // counts as noise.
        let intervals = more.interval.zip(less.interval);
        let is_within = intervals.is_some_and(|(greater_interval, lesser_interval)| {
            greater_interval.0 <= lesser_interval.1
        });
        if is_within || more.figure - less.figure <= tick {
            Self::Noise
        } else if is_less {
            Self::Better
        } else {
            Self::Worse
        }
    }

    /// Classifies a change in a figure. Values are in the key's unit.
    pub(in crate::analysis) fn of_figures(
        key: FigureKey,
        new: &ComparedValue,
        old: &ComparedValue,
        tolerance_ppm: u32,
        tick: f64,
    ) -> Self {
        match key.unit() {
            Unit::Ticks | Unit::Cycles => Self::of(new, old, tolerance_ppm, tick),
            // A lower count means that the CPU reaches a state less often or not at all.
            Unit::Count if new.figure < old.figure => Self::Worse,
            // A CPU's sleep time is not a cost.
            Unit::Count | Unit::Microseconds => Self::Same,
        }
    }

    /// Returns true if the change is within the tolerance or the noise.
    pub const fn is_still(self) -> bool {
        matches!(self, Self::Same | Self::Noise)
    }

    /// Returns the name of the verdict.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Noise => "noise",
            Self::Better => "better",
            Self::Worse => "worse",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ChangeOutcome::{self, Better, Noise, Same, Worse};
    use super::ComparedValue;

    #[test]
    fn outcome_depends_on_tolerance_tick_and_intervals() {
        let large = 5e9;
        // Columns: the new and old figures, the half-widths of their intervals, the tick, and the
        // expected outcome.
        for (new, old, halves, tick, expected) in [
            (102.0, 100.0, [0.0; 2], 0.0, Same),
            (103.0, 100.0, [0.0; 2], 0.0, Worse),
            (97.0, 100.0, [0.0; 2], 0.0, Better),
            (0.0, 0.0, [0.0; 2], 0.0, Same),
            (7.0, 0.0, [0.0; 2], 0.0, Worse),
            (0.0, 7.0, [0.0; 2], 0.0, Better),
            (u64::MAX as f64, 1.0, [0.0; 2], 0.0, Worse),
            (large, 4_900_000_000.0, [0.0; 2], 0.0, Same),
            (large + 1.0, 4_900_000_000.0, [0.0; 2], 0.0, Worse),
            (100.0, 80.0, [0.0; 2], 20.0, Noise),
            (150.0, 100.0, [40.0, 10.0], 0.0, Noise),
            (150.0, 100.0, [39.0, 10.0], 0.0, Worse),
            // An interval on one side says nothing about the noise on the other.
            (150.0, 100.0, [60.0, 0.0], 0.0, Worse),
        ] {
            let value = |figure: f64, half_width: f64| ComparedValue {
                figure,
                interval: (half_width > 0.0).then_some((figure - half_width, figure + half_width)),
                is_doubtful: false,
                is_unsteady: false,
            };
            let now = value(new, halves[0]);
            let then = value(old, halves[1]);
            assert_eq!(
                ChangeOutcome::of(&now, &then, 20_000, tick),
                expected,
                "{new}"
            );
        }
    }
}
