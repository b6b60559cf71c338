//! Sums up the changes of all CPUs in one figure of a scenario.

use itertools::Itertools as _;
use serde::Serialize;
use suite::model::ScenarioKey;

use super::change::{Change, ChangeOutcome, percent};
use super::comparison::{ComparedScenario, Comparison};
use crate::analysis::figure::FigureKey;

/// The number of figures with each outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OutcomeCounts {
    /// The figures that got worse.
    pub worse: usize,
    /// The figures that improved.
    pub better: usize,
    /// The figures that changed by no more than the tolerance, the noise or one tick.
    pub unchanged: usize,
}

/// The changes of all CPUs in one figure of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureChange {
    /// The scenario in the run.
    pub scenario: ScenarioKey,
    /// The figure.
    pub key: FigureKey,
    /// The median of the CPUs' figures in the baseline, in the unit of `key`.
    pub old: f64,
    /// The median of the CPUs' figures in the run, in the unit of `key`.
    pub new: f64,
    /// The percentage of the old figure by which noise alone can change a CPU's figure, as a median
    /// of the CPUs; None if the noise is unknown on either side.
    pub noise: Option<f64>,
    /// The outcomes of the CPUs.
    pub counts: OutcomeCounts,
}

impl OutcomeCounts {
    fn of<'c>(changes: impl IntoIterator<Item = &'c Change>) -> Self {
        let mut counts = Self::default();
        for change in changes {
            match change.outcome {
                ChangeOutcome::Worse => counts.worse += 1,
                ChangeOutcome::Better => counts.better += 1,
                ChangeOutcome::Same | ChangeOutcome::Noise => counts.unchanged += 1,
            }
        }
        counts
    }

    /// Returns the number of figures.
    pub const fn total(self) -> usize {
        self.worse + self.better + self.unchanged
    }

    /// Returns the number of figures that changed.
    pub const fn changed(self) -> usize {
        self.worse + self.better
    }

    /// Returns a word for the outcome of all figures.
    pub const fn word(self) -> &'static str {
        match (self.worse, self.better) {
            (0, 0) => "same",
            (0, _) => "better",
            (_, 0) => "worse",
            _ => "mixed",
        }
    }
}

impl FigureChange {
    /// Returns the change of the median as a percentage of the old one; None if that is zero.
    pub fn percent(&self) -> Option<f64> {
        percent(self.new, self.old)
    }

    /// Sums up the changes in one figure; None if there are none.
    fn of(scenario: ScenarioKey, key: FigureKey, changes: &[&Change]) -> Option<Self> {
        let figures = |side: fn(&Change) -> f64| median(changes.iter().map(|change| side(change)));
        Some(Self {
            scenario,
            key,
            old: figures(|change| change.old.figure)?,
            new: figures(|change| change.new.figure)?,
            noise: median(changes.iter().filter_map(|change| change.noise_percent())),
            counts: OutcomeCounts::of(changes.iter().copied()),
        })
    }
}

impl Comparison {
    /// Returns the number of figures with each outcome, for the changes that count.
    pub fn counts(&self) -> OutcomeCounts {
        OutcomeCounts::of(self.scenarios.iter().flat_map(ComparedScenario::changes))
    }

    /// Sums up the changes that count, with one entry for each figure of each scenario.
    pub fn figure_changes(&self) -> Vec<FigureChange> {
        let sums = self.scenarios.iter().flat_map(|scenario| {
            let by_key = scenario
                .changes()
                .iter()
                .into_group_map_by(|change| change.key);
            let keys = scenario.changes().iter().map(|change| change.key).unique();
            let of_key = |key| FigureChange::of(scenario.key, key, &by_key[&key]);
            keys.filter_map(of_key).collect_vec()
        });
        sums.collect()
    }
}

/// Returns the lower median; None if there are no values.
fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let sorted = values.sorted_by(f64::total_cmp).collect_vec();
    let middle = sorted.len().checked_sub(1)? / 2;
    Some(sorted[middle])
}
