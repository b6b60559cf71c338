//! Options for comparing a run with a baseline, and the results.
//!
//! A comparison covers everything in the baseline. If the run lacks a scenario, CPU or figure that
//! the baseline has, the result cannot be "no regression" unless an option permits the gap.

use hardware::board::CpuIndex;
use hardware::text::plural::many;
use itertools::Itertools as _;
use serde::Serialize;
use suite::model::{FindingKind, Run, Scenario, ScenarioKey};
use suite::plan::{Method, ScenarioId};

use super::change::{Change, ChangeOutcome};
use super::sides::{RowPairing, Sides};
use crate::analysis::conditions::AllowedDifference;
use crate::analysis::figure::FigureKey;
use crate::analysis::findings::BasedFinding;
use crate::analysis::value_text::cpus_text;
use crate::log::LoggedRun;
use crate::log::grouped::grouped;

/// The tolerance used in the TF-A documentation: 2 %.
pub const TOLERANCE_PPM: u32 = 20_000;

/// Options for a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The relative tolerance, in parts per million.
    pub tolerance_ppm: u32,
    /// The differences to ignore.
    pub allowed_differences: Vec<AllowedDifference>,
    /// If only the run's firmware has PMF, whether to show the cost of PMF instead of refusing to
    /// compare.
    pub shows_pmf_cost: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tolerance_ppm: TOLERANCE_PPM,
            allowed_differences: Vec::new(),
            shows_pmf_cost: false,
        }
    }
}

/// A run compared with a baseline.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The run's index in the report.
    pub run: usize,
    /// The baseline.
    pub baseline: LoggedRun,
    /// The relative tolerance, in parts per million.
    pub tolerance_ppm: u32,
    /// How rows are paired.
    pub row_pairing: RowPairing,
    /// The scenarios present in both runs.
    pub scenarios: Vec<ComparedScenario>,
    /// The scenarios that cannot be compared.
    pub refused: Vec<Refused>,
    /// The differences that were ignored.
    pub allowed_differences: Vec<AllowedDifference>,
    /// The findings about the changes.
    pub findings: Vec<BasedFinding>,
    /// True if the differences are the cost of PMF, which only the run's firmware has.
    pub is_pmf_cost: bool,
}

/// Figures that have changed.
pub const CHANGED: FindingKind = FindingKind::new("changed");

/// What rules about two runs examine.
#[derive(Clone, Copy)]
pub(crate) struct Difference<'d> {
    pub(in crate::analysis) sides: &'d Sides<'d>,
    /// The scenarios present in both runs.
    pub(crate) scenarios: &'d [ComparedScenario],
}

/// A scenario that is present in both runs.
#[derive(Clone, Debug)]
pub struct ComparedScenario {
    /// The scenario in the run.
    pub key: ScenarioKey,
    /// Determines which changes count: the changes by rank if CPUs wait for each other or cannot be
    /// paired, and the changes by CPU otherwise.
    pub judged_by: ChangeList,
    /// The changes for each CPU in both runs; empty for [`RowPairing::Ambiguous`].
    pub by_cpu: Vec<Change>,
    /// The changes in the smallest figure, the second smallest, and so on. Empty if the two runs
    /// have different numbers of figures. In a parallel scenario, the smallest Powerdown belongs to
    /// the CPU that arrives first.
    pub by_order: Vec<Change>,
    /// CPUs without a row in the other run: first the run's CPUs, then the baseline's.
    pub unpaired: (Vec<CpuIndex>, Vec<CpuIndex>),
    /// Baseline figures not covered by the changes that count, each with its baseline CPU.
    pub lacks: Vec<(CpuIndex, FigureKey)>,
}

/// Specifies which list of changes determines the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeList {
    /// The changes by CPU.
    Cpu,
    /// The changes by size rank.
    Order,
}

/// A scenario that was not compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// The scenario.
    pub id: ScenarioId,
    /// The run's method, or the baseline's if the run lacks the scenario.
    pub method: Method,
    /// The reason, and the option that allows the comparison.
    pub why: String,
    /// True if the baseline has figures for this scenario that the run lacks.
    pub in_baseline: bool,
}

impl Refused {
    pub(super) const fn of(scenario: &Scenario, why: String, in_baseline: bool) -> Self {
        Self {
            id: scenario.id,
            method: scenario.method,
            why,
            in_baseline,
        }
    }
}

/// Returns a clause about the CPUs that have a row only in the run; None if there are none, or if
/// rows are not paired by CPU.
fn new_rows(scenario: &ComparedScenario, run: &Run) -> Option<String> {
    let (news, _) = &scenario.unpaired;
    if scenario.judged_by == ChangeList::Order || news.is_empty() {
        return None;
    }
    let cpus = cpus_text(run, news.iter().copied());
    Some(format!("{cpus}, which only the run has"))
}

/// Returns the baseline scenario to compare with a scenario of the run, preferably one with the
/// same method and helper.
pub(in crate::analysis) fn baseline_scenario(old: &Run, key: ScenarioKey) -> Option<&Scenario> {
    let same = || {
        old.scenarios
            .iter()
            .filter(|scenario| scenario.id == key.id)
    };
    old.scenario(key)
        .or_else(|| same().find(|scenario| scenario.method == key.method))
        .or_else(|| same().next())
}

/// Returns true if each of two runs used one method for all scenarios.
pub(crate) fn has_one_method((new, old): (&Run, &Run)) -> bool {
    [new, old].iter().all(|run| {
        let mut methods = run.scenarios.iter().map(|scenario| scenario.method);
        methods.all_equal()
    })
}

/// Returns a scenario's name, including its method if a run used several methods for it.
pub(crate) fn scenario_title(sides: (&Run, &Run), key: ScenarioKey) -> String {
    if has_one_method(sides) {
        key.id.name().to_owned()
    } else {
        format!("{}, method {}", key.id.name(), key.method.word())
    }
}

impl ComparedScenario {
    /// Returns the changes that count.
    pub fn changes(&self) -> &[Change] {
        match self.judged_by {
            ChangeList::Cpu => &self.by_cpu,
            ChangeList::Order => &self.by_order,
        }
    }
}

impl Comparison {
    /// Returns the outcome of a change in one of a scenario's two lists. Returns None if the list
    /// does not count, or if the change is the cost of PMF, which is neither better nor worse.
    pub fn outcome(
        &self,
        scenario: &ComparedScenario,
        list: ChangeList,
        change: &Change,
    ) -> Option<ChangeOutcome> {
        let is_cost = self.is_pmf_cost && !change.outcome.is_still();
        (list == scenario.judged_by && !is_cost).then_some(change.outcome)
    }

    /// Returns a scenario's regressions.
    pub fn regressions_in<'c>(
        &'c self,
        scenario: &'c ComparedScenario,
    ) -> impl Iterator<Item = &'c Change> {
        scenario.changes().iter().filter(|change| {
            self.outcome(scenario, scenario.judged_by, change) == Some(ChangeOutcome::Worse)
        })
    }

    /// Returns all regressions.
    pub fn regressions(&self) -> impl Iterator<Item = (&ComparedScenario, &Change)> {
        self.scenarios.iter().flat_map(|scenario| {
            let changes = self.regressions_in(scenario);
            changes.map(move |change| (scenario, change))
        })
    }

    /// Returns true if everything in the baseline was compared, apart from gaps that options allow.
    pub fn is_complete(&self) -> bool {
        self.lacks().is_empty()
    }

    /// Returns one clause for each kind of baseline data that was not compared, with the option
    /// that allows the gap.
    pub fn lacks(&self) -> Vec<String> {
        let lacks = || self.scenarios.iter().flat_map(|scenario| &scenario.lacks);
        let figures = lacks().count();
        let cpus = lacks().unique_by(|(cpu, _)| cpu).count();
        let figures_text = format!("{} for {}", many(figures, "figure"), many(cpus, "CPU"));
        let scenarios = self
            .refused
            .iter()
            .filter(|refusal| refusal.in_baseline)
            .count();
        let gaps = [
            (
                scenarios,
                many(scenarios, "scenario"),
                AllowedDifference::Scenarios,
            ),
            (figures, figures_text, AllowedDifference::Cpus),
        ];
        gaps.into_iter()
            .filter(|(count, _, difference)| {
                *count > 0 && !self.allowed_differences.contains(difference)
            })
            .map(|(_, text, difference)| {
                let option = difference.option();
                format!("{text} in the baseline not compared ({option} allows this)")
            })
            .collect()
    }

    /// Returns sentences about rows that have no counterpart. Each sentence covers all scenarios to
    /// which it applies. `run` is the run that was compared.
    pub fn lone_rows(&self, run: &Run) -> Vec<String> {
        let clauses = self.scenarios.iter().flat_map(|scenario| {
            let tag = scenario.key.id.tag();
            self.old_rows(scenario)
                .into_iter()
                .chain(new_rows(scenario, run))
                .map(move |clause| (clause, tag))
        });
        grouped(clauses)
            .into_iter()
            .map(|(clause, tags)| {
                let list = tags.iter().dedup().format(", ");
                format!("Not compared: {clause}, in {list}.")
            })
            .collect()
    }

    /// Returns a clause for each group of CPUs that have the same figures only in the baseline.
    fn old_rows(&self, scenario: &ComparedScenario) -> Vec<String> {
        let lacks = scenario
            .lacks
            .iter()
            .map(|(cpu, key)| (*cpu, key.in_sentence()));
        let by_metrics = grouped(lacks)
            .into_iter()
            .map(|(cpu, metrics)| (metrics.join(", "), cpu));
        let why = if self.is_pmf_cost {
            "which do not show the cost of PMF"
        } else {
            "which only the baseline has"
        };
        grouped(by_metrics)
            .into_iter()
            .map(|(metrics, cpus)| {
                let cpus = cpus_text(&self.baseline.run, cpus);
                format!("{metrics} for {cpus}, {why}")
            })
            .collect()
    }
}
