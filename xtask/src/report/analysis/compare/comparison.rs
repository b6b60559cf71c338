//! What a run and its baseline are compared by, and what comes of it.

use psci_bench::measure::Metric;
use psci_bench::plan::{Method, ScenarioId};

use super::change::{Change, Outcome, PointChange};
use super::pair::{Keyed, RowIs};
use crate::report::analysis::explain::Finding;
use crate::report::model::{Run, Term, Test};

/// A run beside a baseline.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Index into [`crate::report::export::Report::runs`].
    pub run: usize,
    /// What it is compared with.
    pub baseline: Run,
    /// The relative tolerance that was asked for, in parts of a million.
    pub tolerance_ppm: u32,
    /// How rows were paired.
    pub keyed: Keyed,
    /// The scenarios that both have.
    pub tests: Vec<ComparedTest>,
    /// What was not compared, and why.
    pub refused: Vec<Refused>,
    /// What is compared though it is not the same, as was asked for.
    pub across: Vec<Across>,
    /// What the changes show.
    pub findings: Vec<Finding>,
}

/// A scenario, by one method, on both sides.
#[derive(Clone, Debug)]
pub struct ComparedTest {
    /// Which one.
    pub scenario: Term<ScenarioId>,
    /// By which method, in the run.
    pub method: Term<Method>,
    /// The CPU that stayed awake for the others, by its index.
    pub helper: Option<usize>,
    /// What is judged: [`ComparedTest::by_order`] where CPUs are measured at
    /// the same time or can not be paired, else [`ComparedTest::by_cpu`].
    pub judged: Judged,
    /// Changes of each CPU that both sides have; empty where
    /// [`Keyed::Ambiguous`].
    pub by_cpu: Vec<Change>,
    /// Changes of the least figure, the second, and so on; empty where the
    /// sides have not as many rows. The least Powerdown of a parallel scenario
    /// is that of the first to arrive.
    pub by_order: Vec<Change>,
    /// CPUs that one side lacks: the run's, and the baseline's.
    pub unpaired: (Vec<usize>, Vec<usize>),
    /// Figures of the baseline that are in no change that counts, by its CPUs.
    pub lacks: Vec<(usize, Term<Metric>)>,
    /// Changes of points, all of which count.
    pub points: Vec<PointChange>,
    /// How many points of the run, and of the baseline, have none on the other
    /// side.
    pub lone_points: (usize, usize),
}

/// Which of the two lists of changes counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// By CPU.
    Cpu,
    /// By order.
    Order,
}

/// What was not compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The scenario.
    pub scenario: Term<ScenarioId>,
    /// By which method: the run's, and where it lacks the scenario the
    /// baseline's.
    pub method: Term<Method>,
    /// Why, and which option asks for it all the same.
    pub why: String,
    /// Whether the baseline has figures of it, which are compared with nothing.
    pub in_baseline: bool,
}

/// What is compared though it is not the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Across {
    /// Scenarios by different methods.
    Methods,
    /// Scenarios with different `power_state`s.
    States,
    /// Parallel scenarios with different wake-up patterns.
    Wakes,
    /// Boards with different names.
    Boards,
    /// A run with fewer scenarios than the baseline.
    Scenarios,
    /// A run with fewer CPUs, or figures of them, than the baseline.
    Cpus,
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The relative tolerance, in parts of a million.
    pub tolerance_ppm: u32,
    /// What is compared though it is not the same.
    pub across: Vec<Across>,
    /// Which CPUs the rows of the baseline are; empty where its labels do.
    pub rows_are: Vec<RowIs>,
}

/// The tolerance of TF-A's documentation: 2 %.
pub const TOLERANCE_PPM: u32 = 20_000;

impl Default for Options {
    fn default() -> Self {
        Self {
            tolerance_ppm: TOLERANCE_PPM,
            across: Vec::new(),
            rows_are: Vec::new(),
        }
    }
}

/// The test of `run` that a comparison is about.
pub(crate) fn test_of<'r>(run: &'r Run, compared: &ComparedTest, own: bool) -> Option<&'r Test> {
    let same = |it: &&Test| it.scenario == compared.scenario;
    let exact = run
        .tests
        .iter()
        .filter(same)
        .find(|it| it.method == compared.method && it.helper == compared.helper);
    exact.or_else(|| run.tests.iter().find(same).filter(|_| !own))
}

impl ComparedTest {
    /// The changes that count.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        match self.judged {
            Judged::Cpu => &self.by_cpu,
            Judged::Order => &self.by_order,
        }
    }
}

impl Comparison {
    /// The changes to more time that count.
    pub fn regressions(&self) -> impl Iterator<Item = (&ComparedTest, &Change)> {
        let tests = self.tests.iter();
        let all = tests.flat_map(|test| test.changes().iter().map(move |change| (test, change)));
        all.filter(|(_, change)| change.outcome == Outcome::Worse)
    }

    /// The same of points.
    pub fn point_regressions(&self) -> impl Iterator<Item = (&ComparedTest, &PointChange)> {
        let tests = self.tests.iter();
        let all = tests.flat_map(|test| test.points.iter().map(move |change| (test, change)));
        all.filter(|(_, change)| change.outcome == Outcome::Worse)
    }
}

impl Judged {
    /// The word that stands for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Order => "order",
        }
    }
}
