//! The options and the results of comparing a run with a baseline.

use psci_bench::model::new::{Run, Scenario, ScenarioKey};
use psci_bench::plan::{Method, ScenarioId};
use serde::Serialize;

use super::change::{Change, Outcome};
use super::sides::{Keyed, RowIs};
use crate::report::analysis::basis::ComparisonFinding;
use crate::report::analysis::conditions::Across;
use crate::report::analysis::figure::FigureKey;
use crate::report::log::LoggedRun;

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
}
