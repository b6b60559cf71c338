//! A run beside a baseline: the same CPU with itself, and, where CPUs go down
//! together, the same place in the order of arrival.
//!
//! ```text
//! tables ── the published tables, as a run
//! pair ──── which rows are of one CPU
//! noise ─── what a figure's interval is
//! judge ─── rows -> changes
//! tell ──── changes -> findings
//! ```

use psci_bench::plan::{Method, ScenarioId};
use psci_bench::sample::Metric;

use super::explain::Finding;
use super::model::{Run, Term};

/// A run beside a baseline.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Index into [`super::Report::runs`].
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
    /// What the changes show.
    pub findings: Vec<Finding>,
}

/// How rows are paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyed {
    /// By MPIDR, which both have.
    Mpidr,
    /// By cluster and core.
    Labels,
    /// Not at all: labels of one side name several rows. All is compared
    /// sorted.
    Ambiguous,
}

/// A scenario, by one method, on both sides.
#[derive(Clone, Debug)]
pub struct ComparedTest {
    /// Which one.
    pub scenario: Term<ScenarioId>,
    /// By which method, in the run.
    pub method: Term<Method>,
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
}

/// Which of the two lists of changes counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// By CPU.
    Cpu,
    /// By order.
    Order,
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
    /// What to make of them.
    pub outcome: Outcome,
}

/// A figure and its interval, in nanoseconds; in ticks where neither side's
/// clock is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// The figure.
    pub figure: u64,
    /// What noise allows it to be; None of a single measurement.
    pub interval: Option<(u64, u64)>,
}

/// What to make of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Within the tolerance.
    Same,
    /// Beyond it, and within what noise or the tick may do.
    Noise,
    /// Less time than before.
    Better,
    /// More time than before.
    Worse,
}

/// What was not compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The scenario.
    pub scenario: Term<ScenarioId>,
    /// By which method, in the run.
    pub method: Term<Method>,
    /// Why, and which option asks for it all the same.
    pub why: String,
}

impl Change {
    /// By how many percent of the old figure; None from zero.
    #[must_use]
    pub fn percent(&self) -> Option<f64> {
        let (old, new) = (self.old.figure, self.new.figure);
        (old > 0).then(|| (new as f64 - old as f64) / old as f64 * 100.0)
    }
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
}

impl Outcome {
    /// The word that stands for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Noise => "noise",
            Self::Better => "better",
            Self::Worse => "worse",
        }
    }
}
