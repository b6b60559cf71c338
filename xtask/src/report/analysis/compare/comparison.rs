//! The options and the results of comparing a run with a baseline.
//!
//! A comparison covers all that the baseline has: a scenario, a CPU or a figure that
//! the run no longer has is not "no regression" unless an option says so.

use psci_bench::model::{Run, Scenario, ScenarioKey, heading};
use psci_bench::plan::{Method, ScenarioId};
use serde::Serialize;

use super::change::{Change, Outcome};
use super::sides::{Keyed, RowIs};
use crate::report::analysis::basis::ComparisonFinding;
use crate::report::analysis::conditions::Across;
use crate::report::analysis::figure::FigureKey;
use crate::report::analysis::grouped::grouped;
use crate::report::analysis::words::cpus_text;
use crate::report::log::LoggedRun;
use crate::setup::plural::many;

/// The tolerance of TF-A's documentation: 2 %.
pub const TOLERANCE_PPM: u32 = 20_000;

/// The options of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The relative tolerance, in parts of a million.
    pub tolerance_ppm: u32,
    /// The differences that are passed over.
    pub across: Vec<Across>,
    /// The CPUs of the baseline's rows; empty if its labels name them.
    pub rows_are: Vec<RowIs>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tolerance_ppm: TOLERANCE_PPM,
            across: Vec::new(),
            rows_are: Vec::new(),
        }
    }
}

/// A run beside a baseline.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Index of the run in the report.
    pub run: usize,
    /// The baseline.
    pub baseline: LoggedRun,
    /// The relative tolerance, in parts of a million.
    pub tolerance_ppm: u32,
    /// The way in which rows were paired.
    pub keyed: Keyed,
    /// The scenarios that both have.
    pub scenarios: Vec<ComparedScenario>,
    /// The scenarios that were not compared.
    pub refused: Vec<Refused>,
    /// The differences that were passed over.
    pub across: Vec<Across>,
    /// The findings.
    pub findings: Vec<ComparisonFinding>,
}

/// A scenario on both sides.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedScenario {
    /// The scenario in the run.
    #[serde(flatten)]
    pub key: ScenarioKey,
    /// The changes that count: by order if CPUs wait for each other or cannot be
    /// paired, else by CPU.
    pub judged: Judged,
    /// Changes of each CPU that both sides have; empty where
    /// [`Keyed::Ambiguous`].
    pub by_cpu: Vec<Change>,
    /// Changes of the least figure, the second, and so on; empty if the sides have
    /// different numbers of them. The least Powerdown of a parallel scenario is that
    /// of the first to arrive.
    pub by_order: Vec<Change>,
    /// CPUs whose row one side lacks: the run's, and the baseline's.
    pub unpaired: (Vec<u16>, Vec<u16>),
    /// Figures of the baseline that are in no change that counts, by its CPUs.
    pub lacks: Vec<(u16, FigureKey)>,
    /// Number of points of the run that the baseline does not have.
    pub added_points: usize,
}

/// The list of changes that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judged {
    /// By CPU.
    Cpu,
    /// By order.
    Order,
}

/// A scenario that was not compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// The scenario.
    pub id: ScenarioId,
    /// The run's method; the baseline's if the run lacks the scenario.
    pub method: Method,
    /// The reason, and the option that passes over it.
    pub why: String,
    /// True if the baseline has figures of it, which are compared with nothing.
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

/// Returns the scenario of the baseline that stands beside one of the run: by the
/// same method and helper if there is one.
pub fn baseline_scenario(old: &Run, key: ScenarioKey) -> Option<&Scenario> {
    let mut same = old.scenarios.iter().filter(|it| it.id == key.id);
    let by_method = same.clone().find(|it| it.method == key.method);
    let found = old.scenario(key).or(by_method);
    found.or_else(|| same.next())
}

/// Returns a scenario's name, with its method if a run has several.
pub fn scenario_title(sides: (&Run, &Run), key: ScenarioKey) -> String {
    let has_several = |run: &Run| {
        let mut methods = run.scenarios.iter().map(|it| it.method);
        let first = methods.next();
        methods.any(|it| Some(it) != first)
    };
    let name = key.id.name();
    if has_several(sides.0) || has_several(sides.1) {
        format!("{name}, method {}", key.method.word())
    } else {
        name.to_owned()
    }
}

impl ComparedScenario {
    /// Returns the changes that count.
    pub fn changes(&self) -> &[Change] {
        match self.judged {
            Judged::Cpu => &self.by_cpu,
            Judged::Order => &self.by_order,
        }
    }
}

impl Comparison {
    /// Returns the changes to more time that count.
    pub fn regressions(&self) -> impl Iterator<Item = (&ComparedScenario, &Change)> {
        let all = self.scenarios.iter();
        let all = all.flat_map(|it| it.changes().iter().map(move |change| (it, change)));
        all.filter(|(_, change)| change.outcome == Outcome::Worse)
    }

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
