//! A run beside a baseline: the same CPU with itself, and, where CPUs go down
//! together, the same place in the order of arrival.
//!
//! ```text
//! pair ──── which rows are of one CPU
//! noise ─── what a figure's interval is
//! judge ─── rows -> changes
//! lacks ─── what of the baseline is compared with nothing
//! points ── points -> changes
//! question  whether a scenario was asked the same on both sides
//! tell ──── changes -> findings; tell_points, those of points
//! flush ─── who flushes a cluster-size cache, then and now
//! ```

use anyhow::{Result, bail, ensure};
use psci_bench::measure::Metric;
use psci_bench::plan::{Method, ScenarioId};

use super::judge::Judge;
use super::pair::{Pairs, RowIs};
use crate::report::analysis::explain::Finding;
use crate::report::model::{Measured, Run, Term, Test};

/// A run beside a baseline.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Index into [`crate::report::model::Report::runs`].
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

/// A point on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct PointChange {
    /// The run's.
    pub point: Measured,
    /// The CPU of the baseline's, as index into its own CPUs.
    pub old_cpu: usize,
    /// Where CPUs wait for each other the place in their order, from 0.
    pub place: Option<usize>,
    /// What the figures are in.
    pub unit: &'static str,
    /// The figure of one operation in the run.
    pub new: Amount,
    /// In the baseline.
    pub old: Amount,
    /// What to make of them.
    pub outcome: Outcome,
}

/// The figure of one operation and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amount {
    /// The figure.
    pub figure: f64,
    /// What noise allows it to be; None of a single measurement.
    pub interval: Option<(f64, f64)>,
}

impl PointChange {
    /// By how many percent of the old figure; None from zero.
    #[must_use]
    pub fn percent(&self) -> Option<f64> {
        let (old, new) = (self.old.figure, self.new.figure);
        (old > 0.0).then(|| (new - old) / old * 100.0)
    }
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
    /// What cache flushes at other places in the queue make of the change,
    /// where more is left than noise: that is judged.
    pub by_flushes: Option<i64>,
    /// What to make of them.
    pub outcome: Outcome,
}

/// A figure and its interval, in nanoseconds; in ticks where neither side's
/// clock is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// The figure.
    pub figure: u64,
    /// What noise allows it to be; None of a single measurement. Where one
    /// round of many is shown, that of the CPU's median.
    pub interval: Option<(u64, u64)>,
    /// Whether it is from a line without a checksum.
    pub doubtful: bool,
}

/// What to make of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Within the tolerance.
    Same,
    /// Beyond it, and within what noise or the tick may do.
    Noise,
    /// The same cache flushes as before, at another place in the lock queue,
    /// and nothing else beyond tolerance and noise.
    Moved,
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

/// Compares the runs with `baseline`.
///
/// # Errors
/// Where nothing can be compared: other boards, no CPU in common, a clock that
/// only one side has, no scenario that both have and that is the same.
pub fn compare(runs: &[Run], baseline: &Run, options: &Options) -> Result<Vec<Comparison>> {
    let mut baseline = baseline.clone();
    super::pair::name_rows(&mut baseline, &options.rows_are)?;
    let runs = runs.iter().enumerate();
    runs.map(|(place, run)| one(place, run, &baseline, options))
        .collect()
}

fn one(place: usize, new: &Run, old: &Run, options: &Options) -> Result<Comparison> {
    let names = (&new.source.input, &old.source.input);
    if let (Some(a), Some(b)) = (&new.model, &old.model) {
        ensure!(
            a == b || options.across.contains(&Across::Boards),
            "{} is of the board {a:?}, and the baseline {} of {b:?}: --across boards compares \
             them all the same",
            names.0,
            names.1
        );
    }
    ensure!(
        new.clock().is_known() == old.clock().is_known(),
        "of {} and the baseline {} only one has a counter whose frequency is known: ticks and \
         nanoseconds can not be compared",
        names.0,
        names.1
    );
    let by_mpidr = options
        .rows_are
        .iter()
        .any(|it| matches!(it, RowIs::Mpidr(_)));
    ensure!(
        !by_mpidr || new.cpus.iter().all(|cpu| cpu.mpidr.is_some()),
        "--rows-are names MPIDRs, and {} has none: name labels, such as 0.1",
        names.0
    );
    let pairs = Pairs::of(new, old)?;
    let named = super::pair::with_labels(new, old, &pairs);
    let old = &named;
    let judge = Judge::new(new, old, &pairs, options.tolerance_ppm);
    let (mut tests, mut refused) = (Vec::new(), Vec::new());
    // Those of the baseline that a test of the run is compared with, or was to
    // be.
    let (mut met, mut missed): (Vec<&Test>, Vec<(usize, &Test)>) = (Vec::new(), Vec::new());
    for test in &new.tests {
        let before = in_baseline(test, old);
        let compared = before.ok_or_else(|| "the baseline does not have it".to_owned());
        let compared = compared.and_then(|before| {
            super::question::is_one((new, test), (old, before), &options.across)?;
            judge.compare(test, before)
        });
        match compared {
            Ok(compared) => {
                tests.push(compared);
                met.extend(before);
            }
            Err(why) => {
                missed.extend(before.map(|before| (refused.len(), before)));
                refused.push(Refused {
                    scenario: test.scenario.clone(),
                    method: test.method.clone(),
                    why,
                    in_baseline: false,
                });
            }
        }
    }
    super::lacks::scenarios(new, old, &met, &missed, &mut refused);
    if tests.is_empty() {
        let why: Vec<String> = refused
            .iter()
            .map(|it| format!("{}: {}", it.scenario.word(), it.why))
            .collect();
        bail!(
            "nothing of {} can be compared with the baseline {}: {}",
            names.0,
            names.1,
            if why.is_empty() {
                "it has no scenario".to_owned()
            } else {
                why.join("; ")
            }
        );
    }
    let findings = super::tell::findings(&judge, &tests, options);
    Ok(Comparison {
        run: place,
        baseline: old.clone(),
        tolerance_ppm: options.tolerance_ppm,
        keyed: pairs.keyed,
        tests,
        refused,
        across: options.across.clone(),
        findings,
    })
}

/// The test of `old` that `test` stands beside: by the same method, if there is
/// one.
fn in_baseline<'r>(test: &Test, old: &'r Run) -> Option<&'r Test> {
    let same = |it: &&Test| it.scenario == test.scenario;
    let mut own = old.tests.iter().filter(same);
    let own = own.find(|it| it.is_same(test));
    let by_method = |it: &&Test| same(it) && it.method == test.method;
    let by_method = own.or_else(|| old.tests.iter().find(by_method));
    by_method.or_else(|| old.tests.iter().find(same))
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

impl Change {
    /// What is judged: without what cache flushes at other places make of it.
    #[must_use]
    pub fn delta(&self) -> i128 {
        let by_flushes = self.by_flushes.map_or(0, i128::from);
        i128::from(self.new.figure) - i128::from(self.old.figure) - by_flushes
    }

    /// That in percent of the old figure; None from zero.
    #[must_use]
    pub fn percent(&self) -> Option<f64> {
        let old = self.old.figure;
        (old > 0).then(|| self.delta() as f64 / old as f64 * 100.0)
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

    /// The same of points.
    pub fn point_regressions(&self) -> impl Iterator<Item = (&ComparedTest, &PointChange)> {
        let tests = self.tests.iter();
        let all = tests.flat_map(|test| test.points.iter().map(move |change| (test, change)));
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
            Self::Moved => "moved",
            Self::Better => "better",
            Self::Worse => "worse",
        }
    }
}

impl Keyed {
    /// The word that stands for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Mpidr => "mpidr",
            Self::Labels => "labels",
            Self::Ambiguous => "ambiguous",
        }
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
