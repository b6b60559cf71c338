//! What of the baseline is compared with nothing.
//!
//! Whoever compares with a baseline relies on all that it has: a scenario, a
//! CPU or a figure that the run no longer has is not "no regression", unless
//! it was said to be meant.

use psci_bench::measure::Metric;

use super::comparison::{Across, ComparedTest, Comparison, Judged, Refused};
use crate::report::model::words::cpus;
use crate::report::model::{Run, Term, Test, heading};
use crate::setup::plural::many;

/// Finds the scenarios of `old` that have figures, and are compared with
/// nothing: those that are not among `met`. Of those that a test of the run
/// was to be compared with, `missed` has the place in `refused`; the others are
/// added to it.
pub(super) fn scenarios(
    new: &Run,
    old: &Run,
    met: &[&Test],
    missed: &[(usize, &Test)],
    refused: &mut Vec<Refused>,
) {
    let is_met = |test: &&Test| met.iter().any(|it| std::ptr::eq(*it, *test));
    for test in old
        .tests
        .iter()
        .filter(|it| it.has_figures() && !is_met(it))
    {
        let was_to_be = missed.iter().find(|it| std::ptr::eq(it.1, test));
        if let Some(it) = was_to_be.and_then(|it| refused.get_mut(it.0)) {
            it.in_baseline = true;
            continue;
        }
        let by_another = new.tests.iter().any(|it| it.scenario == test.scenario);
        let how = if by_another { " by this method" } else { "" };
        refused.push(Refused {
            scenario: test.scenario.clone(),
            method: test.method.clone(),
            why: format!("the run does not have it{how}"),
            in_baseline: true,
        });
    }
}

impl Comparison {
    /// Whether all that the baseline has is compared, but for what was said to
    /// be meant.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.lacks().is_empty()
    }

    /// What of the baseline is compared with nothing, and was not said to be
    /// meant: a clause for each kind, with the option that says so.
    #[must_use]
    pub fn lacks(&self) -> Vec<String> {
        let mut all = Vec::new();
        let scenarios = self.refused.iter().filter(|it| it.in_baseline).count();
        if scenarios > 0 && !self.across.contains(&Across::Scenarios) {
            all.push(format!(
                "{} of the baseline not compared (--across scenarios, if that is meant)",
                many(scenarios, "scenario")
            ));
        }
        let figures = || self.tests.iter().flat_map(|test| &test.lacks);
        let count = figures().count();
        if count > 0 && !self.across.contains(&Across::Cpus) {
            let mut cpus: Vec<usize> = figures().map(|it| it.0).collect();
            cpus.sort_unstable();
            cpus.dedup();
            all.push(format!(
                "{} of {} of the baseline not compared (--across cpus, if that is meant)",
                many(count, "figure"),
                many(cpus.len(), "CPU")
            ));
        }
        let points: usize = self.tests.iter().map(|test| test.lone_points.1).sum();
        if points > 0 && !self.across.contains(&Across::Cpus) {
            all.push(format!(
                "{} of the baseline not compared (--across cpus, if that is meant)",
                many(points, "point")
            ));
        }
        all
    }

    /// Rows that are compared with nothing, in sentences: of equal ones
    /// together. `run` is the comparison's.
    #[must_use]
    pub fn lone_rows(&self, run: &Run) -> Vec<String> {
        let mut said: Vec<(String, Vec<&str>)> = Vec::new();
        for test in &self.tests {
            for what in self.lone_rows_of(run, test) {
                let tag = test.scenario.word();
                match said.iter_mut().find(|it| it.0 == what) {
                    Some(it) if it.1.contains(&tag) => {}
                    Some(it) => it.1.push(tag),
                    None => said.push((what, vec![tag])),
                }
            }
        }
        let each = said.into_iter();
        each.map(|(what, tags)| format!("{what}, in {}.", tags.join(", ")))
            .collect()
    }

    fn lone_rows_of(&self, run: &Run, test: &ComparedTest) -> Vec<String> {
        let old = &self.baseline;
        let (lone_new, lone_old) = &test.unpaired;
        let mut all = Vec::new();
        if test.judged == Judged::Order {
            if !lone_old.is_empty() {
                let both = (
                    cpus(old, lone_old.iter().copied()),
                    cpus(run, lone_new.iter().copied()),
                );
                all.push(format!(
                    "Compared by order alone: {} of the baseline, as the run has no row of it, and \
                     {} of the run",
                    both.0, both.1
                ));
            }
        } else if !lone_new.is_empty() {
            all.push(format!(
                "Not compared: {} of the run, as the baseline has no row of it",
                cpus(run, lone_new.iter().copied())
            ));
        }
        let mut metrics: Vec<&Term<Metric>> = Vec::new();
        let is_lone = |it: &&(usize, Term<Metric>)| lone_old.contains(&it.0);
        for (_, metric) in test.lacks.iter().filter(|it| !is_lone(it)) {
            if !metrics.contains(&metric) {
                metrics.push(metric);
            }
        }
        if test.lacks.iter().any(|it| is_lone(&it)) {
            all.push(format!(
                "Not compared: {} of the baseline, as the run has no row of it",
                cpus(old, lone_old.iter().copied())
            ));
        }
        for metric in metrics {
            let own = test
                .lacks
                .iter()
                .filter(|it| it.1 == *metric && !is_lone(it));
            all.push(format!(
                "Not compared: {} of {} of the baseline, as the run does not have it",
                heading(metric),
                cpus(old, own.map(|it| it.0))
            ));
        }
        all
    }
}
