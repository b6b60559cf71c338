//! Parts of the baseline that are compared with nothing.
//!
//! A comparison with a baseline covers all that the baseline has: a scenario, a CPU
//! or a figure that the run no longer has is not "no regression" unless an option
//! says so.

use std::ptr;

use psci_bench::model::new::{Run, Scenario, heading};

use super::comparison::{ComparedScenario, Comparison, Judged, Refused};
use crate::report::analysis::conditions::Across;
use crate::report::analysis::figure::{FigureKey, has_figures};
use crate::report::analysis::grouped::grouped;
use crate::report::analysis::words::cpus_text;
use crate::setup::plural::many;

/// Finds the scenarios of `old` that have figures and are not among `met`. `missed`
/// has the place in `refused` of those that a scenario of the run was to be compared
/// with; the others are added to `refused`.
pub(super) fn find_lost_scenarios(
    (new, old): (&Run, &Run),
    met: &[&Scenario],
    missed: &[(usize, &Scenario)],
    refused: &mut Vec<Refused>,
) {
    let is_met = |it: &&Scenario| met.iter().any(|met| ptr::eq(*met, *it));
    let olds = old.scenarios.iter().filter(|it| has_figures(it));
    for scenario in olds.filter(|it| !is_met(it)) {
        let is_own = |it: &&(usize, &Scenario)| ptr::eq(it.1, scenario);
        let place = missed.iter().find(is_own).map(|it| it.0);
        if let Some(it) = place.and_then(|place| refused.get_mut(place)) {
            it.in_baseline = true;
            continue;
        }
        let by_another = new.scenarios.iter().any(|it| it.id == scenario.id);
        let how = if by_another { " by this method" } else { "" };
        refused.push(Refused {
            id: scenario.id,
            method: scenario.method,
            why: format!("the run does not have it{how}"),
            in_baseline: true,
        });
    }
}

impl Comparison {
    /// Returns true if all that the baseline has is compared, but for what options
    /// pass over.
    pub fn is_complete(&self) -> bool {
        self.lacks().is_empty()
    }

    /// Returns the parts of the baseline that are compared with nothing: a clause
    /// for each kind, with the option that passes over it.
    pub fn lacks(&self) -> Vec<String> {
        let lacks = || self.scenarios.iter().flat_map(|it| &it.lacks);
        let figures = lacks().filter(|it| !it.1.is_point());
        let mut cpus: Vec<u16> = figures.map(|it| it.0).collect();
        let figures = cpus.len();
        cpus.sort_unstable();
        cpus.dedup();
        let points = lacks().filter(|it| it.1.is_point()).count();
        let scenarios = self.refused.iter().filter(|it| it.in_baseline).count();
        let of_cpus = format!("{} of {}", many(figures, "figure"), many(cpus.len(), "CPU"));
        let each = [
            (scenarios, many(scenarios, "scenario"), Across::Scenarios),
            (figures, of_cpus, Across::Cpus),
            (points, many(points, "point"), Across::Cpus),
        ];
        let each = each.into_iter();
        each.filter(|(count, _, across)| *count > 0 && !self.across.contains(across))
            .map(|(_, text, across)| {
                let word = across.word();
                format!("{text} of the baseline not compared (--across {word}, if that is meant)")
            })
            .collect()
    }

    /// Returns sentences on rows that are compared with nothing, each for all
    /// scenarios that it applies to. `run` is the comparison's.
    pub fn lone_rows(&self, run: &Run) -> Vec<String> {
        let clauses = self.scenarios.iter().flat_map(|scenario| {
            let clauses = self.lone_rows_of(run, scenario).into_iter();
            clauses.map(|clause| (clause, scenario.key.id.tag()))
        });
        let each = grouped(clauses).into_iter().map(|(clause, mut tags)| {
            tags.dedup();
            format!("{clause}, in {}.", tags.join(", "))
        });
        each.collect()
    }

    fn lone_rows_of(&self, run: &Run, scenario: &ComparedScenario) -> Vec<String> {
        let old = &self.baseline.run;
        let of_run = cpus_text(run, scenario.unpaired.0.iter().copied());
        let of_old = cpus_text(old, scenario.unpaired.1.iter().copied());
        let (lone_new, lone_old) = &scenario.unpaired;
        let mut all = Vec::new();
        if scenario.judged == Judged::Order {
            if !lone_old.is_empty() {
                all.push(format!(
                    "Compared by order alone: {of_old} of the baseline, as the run has no row of \
                     it, and {of_run} of the run"
                ));
            }
        } else if !lone_new.is_empty() {
            all.push(format!(
                "Not compared: {of_run} of the run, as the baseline has no row of it"
            ));
        }
        let is_lone = |it: &&(u16, FigureKey)| lone_old.contains(&it.0);
        let metrics = scenario.lacks.iter().filter(|it| !is_lone(it));
        let metrics = grouped(metrics.filter_map(|it| Some((it.1.metric()?, it.0))));
        if scenario.lacks.iter().any(|it| is_lone(&it)) {
            all.push(format!(
                "Not compared: {of_old} of the baseline, as the run has no row of it"
            ));
        }
        all.extend(metrics.into_iter().map(|(metric, cpus)| {
            format!(
                "Not compared: {} of {} of the baseline, as the run does not have it",
                heading(metric),
                cpus_text(old, cpus)
            )
        }));
        all
    }
}
