//! Sums up the changes of all CPUs in one figure of a scenario.

use hardware::text::plural::many;
use itertools::Itertools as _;
use serde::Serialize;
use suite::measure::lower_median_by;
use suite::model::{Run, ScenarioKey};

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
    /// The figures that changed by more than the tolerance, but not by more than the noise or one
    /// tick.
    pub noise: usize,
    /// The figures that changed by no more than the tolerance.
    pub same: usize,
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
    /// The percentage of the old figure by which noise alone can change a CPU's figure: the median
    /// of the CPUs for which it is known, or None.
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
                ChangeOutcome::Noise => counts.noise += 1,
                ChangeOutcome::Same => counts.same += 1,
            }
        }
        counts
    }

    /// Returns the number of figures.
    pub const fn total(self) -> usize {
        self.changed() + self.unchanged()
    }

    /// Returns the number of figures that did not change.
    pub const fn unchanged(self) -> usize {
        self.noise + self.same
    }

    /// Returns the number of figures that changed.
    pub const fn changed(self) -> usize {
        self.worse + self.better
    }

    /// Returns a word for the outcome of all figures.
    pub const fn word(self) -> &'static str {
        match (self.worse, self.better) {
            (0, 0) if self.noise > 0 => ChangeOutcome::Noise.word(),
            (0, 0) => ChangeOutcome::Same.word(),
            (0, _) => ChangeOutcome::Better.word(),
            (_, 0) => ChangeOutcome::Worse.word(),
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

    /// Returns the reason why changes in times do not count; None if they do. `run` is the run that
    /// was compared.
    pub fn why_not_judged(&self, run: &Run) -> Option<String> {
        let noisy = [run, &self.baseline.run]
            .into_iter()
            .find(|run| run.shares_host_cpus())?;
        let host_cpus = noisy.plan?.host_cpus?;
        Some(format!(
            "{} shared {}, so times vary between runs; use --icount",
            many(noisy.cpus.len(), "emulated CPU"),
            many(host_cpus as usize, "host CPU")
        ))
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
    let mut values = values.collect_vec();
    (!values.is_empty()).then(|| lower_median_by(&mut values, f64::total_cmp))
}
