//! What came of a scenario.

use std::fmt;

use psci_bench::measure::{Metric, Reason, Summary};
use psci_bench::model::WakeSource;
use psci_bench::plan::{Method, ScenarioId};

use super::instants::{Instants, Sample};
use super::points::Measured;
use super::term::{Other, Term};

/// How a scenario ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// Measured, with enough samples.
    Passed,
    /// Not run.
    Skipped,
    /// Run, and not good enough.
    Failed,
    /// TFTF's word for one that ended in a reset.
    Crashed,
    /// The log does not say: it was begun, or its record was lost.
    #[default]
    Unknown,
}

impl Status {
    /// The status as records write it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
            Self::Crashed => "crashed",
            Self::Unknown => "unknown",
        }
    }

    /// What `word` stands for, in records or in TFTF's lines.
    #[must_use]
    pub fn of(word: &str) -> Self {
        let all = [Self::Passed, Self::Skipped, Self::Failed, Self::Crashed];
        let found = all
            .into_iter()
            .find(|s| s.word().eq_ignore_ascii_case(word));
        found.unwrap_or_default()
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// A reason: its word, and what belongs to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Why {
    /// The word, such as `too-few-samples` or `timeout`.
    pub word: String,
    /// Details, in the records' keys and words.
    pub details: Vec<Other>,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word)?;
        for (place, (key, value)) in self.details.iter().enumerate() {
            let mark = if place == 0 { ": " } else { ", " };
            write!(f, "{mark}{key} {}", value.replace('_', " "))?;
        }
        Ok(())
    }
}

/// A scenario, by one method.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// Which one.
    pub scenario: Term<ScenarioId>,
    /// Its place in the suite, from 1; None in a TFTF log.
    pub place: Option<u32>,
    /// By which method; TFTF's own is `tftf`.
    pub method: Term<Method>,
    /// How it ended.
    pub status: Status,
    /// Why it was skipped or failed.
    pub why: Option<Why>,
    /// Whether PMF's timestamps were used; else the caller's view is all.
    pub pmf: Option<bool>,
    /// The `power_state` that was asked for.
    pub power_state: Option<u32>,
    /// What woke the CPUs: not their own timers where the state stops those.
    pub wake_source: WakeSource,
    /// Whether a record names it. Some name it only if it is not each CPU's own
    /// timer.
    pub says_wake_source: bool,
    /// Parallel: the CPU that stayed awake for the others, by its index in
    /// [`super::run::Run::cpus`]. The scenario is measured once for each.
    pub helper: Option<usize>,
    /// Samples asked for on each CPU.
    pub asked: Option<u32>,
    /// Parallel rounds, or attempts on all CPUs together.
    pub attempts: Option<u32>,
    /// Ticks from start to first wake-up.
    pub sleep: Option<u64>,
    /// Rounds apart from the attempts.
    pub trials: Option<u32>,
    /// Parallel: ticks between the first and the last CPU's call.
    pub skew: Option<Summary>,
    /// One for each CPU that has anything, in the order of [`super::run::Run::cpus`].
    pub rows: Vec<Row>,
    /// What a scenario outside TFTF's suite found, in the order of the records.
    pub points: Vec<Measured>,
    /// Findings as the payload printed them: sentences without a checksum.
    pub findings: Vec<String>,
    /// Keys of the `test` record that are not known here.
    pub others: Vec<Other>,
}

/// A figure that tables show.
pub type Figure = (Term<Metric>, u64);

/// One CPU's part of a scenario. Durations are in ticks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Index into [`super::run::Run::cpus`].
    pub cpu: usize,
    /// What the main table shows, by metric in the order of the columns.
    /// Parallel: from the round that is shown; in sequence: medians.
    pub figures: Vec<Figure>,
    /// Why the row is skipped, if it is.
    pub skipped: Option<Why>,
    /// Whether the figures are from a record; else from an RT_INSTR line.
    pub verified: bool,
    /// The CPU that stayed awake for this one, by its index.
    pub helper: Option<usize>,
    /// Samples that count.
    pub valid: Option<u32>,
    /// Attempts that do not.
    pub rejected: Option<u32>,
    /// Those, by reason.
    pub reasons: Vec<(Term<Reason>, u32)>,
    /// The first of them.
    pub first_rejection: Option<Why>,
    /// The first sample of all, which is in no statistic.
    pub cold: Vec<Figure>,
    /// Statistics of the samples, by metric.
    pub summaries: Vec<(Term<Metric>, Summary)>,
    /// The shown sample's instants.
    pub event: Option<Instants>,
    /// Every sample, where the run sent them, in the order of their places.
    pub samples: Vec<Sample>,
    /// What PSCI_STAT says of one suspend.
    pub reached: Option<Reached>,
    /// How the CPU was lost, if it was: the step is the word.
    pub lost: Option<Why>,
}

/// What PSCI_STAT says of one suspend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// The state that was due, as a `power_state`.
    pub due: Option<u32>,
    /// The deepest whose count rose; None: none did.
    pub state: Option<u32>,
    /// By how much.
    pub rose: Option<u64>,
    /// Its residency, in microseconds.
    pub residency_us: Option<u64>,
}

impl Test {
    /// A scenario of which nothing else is known.
    #[must_use]
    pub fn new(scenario: Term<ScenarioId>, method: Term<Method>) -> Self {
        Self {
            scenario,
            place: None,
            method,
            status: Status::Unknown,
            why: None,
            pmf: None,
            power_state: None,
            wake_source: WakeSource::OwnTimers,
            says_wake_source: false,
            helper: None,
            asked: None,
            attempts: None,
            sleep: None,
            trials: None,
            skew: None,
            rows: Vec::new(),
            points: Vec::new(),
            findings: Vec::new(),
            others: Vec::new(),
        }
    }

    /// Whether `other` is the same scenario, by the same method and helper.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.scenario, &self.method, self.helper)
            == (&other.scenario, &other.method, other.helper)
    }

    /// The scenario's name, or its tag where it is not known here.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.scenario {
            Term::Known(id) => id.name(),
            Term::Other(tag) => tag,
        }
    }

    /// Whether all CPUs are measured at the same time: as tags end, so that
    /// it holds for later ones, too.
    #[must_use]
    pub fn is_parallel(&self) -> bool {
        self.scenario.word().ends_with("_parallel")
    }

    /// The metrics that the main table has columns for, in their order.
    #[must_use]
    pub fn columns(&self) -> Vec<Term<Metric>> {
        let mut columns: Vec<Term<Metric>> = Vec::new();
        for (metric, _) in self.rows.iter().flat_map(|row| &row.figures) {
            if !columns.contains(metric) {
                columns.push(metric.clone());
            }
        }
        columns
    }

    /// Whether tables show any figure, or point, of it.
    #[must_use]
    pub fn has_figures(&self) -> bool {
        !self.points.is_empty() || self.rows.iter().any(|row| !row.figures.is_empty())
    }

    /// The row of a CPU.
    #[must_use]
    pub fn row(&self, cpu: usize) -> Option<&Row> {
        self.rows.iter().find(|row| row.cpu == cpu)
    }

    /// Attempts that do not count, by reason, over all CPUs; most frequent
    /// first.
    #[must_use]
    pub fn reasons(&self) -> Vec<(Term<Reason>, u64)> {
        let mut all: Vec<(Term<Reason>, u64)> = Vec::new();
        for (reason, count) in self.rows.iter().flat_map(|row| &row.reasons) {
            let count = u64::from(*count);
            match all.iter_mut().find(|it| it.0 == *reason) {
                Some(it) => it.1 += count,
                None => all.push((reason.clone(), count)),
            }
        }
        all.sort_by_key(|it| std::cmp::Reverse(it.1));
        all
    }
}

impl Row {
    /// The figure that the main table shows.
    #[must_use]
    pub fn figure(&self, metric: &Term<Metric>) -> Option<u64> {
        let found = self.figures.iter().find(|figure| figure.0 == *metric);
        found.map(|figure| figure.1)
    }

    /// The statistics of a metric.
    #[must_use]
    pub fn summary(&self, metric: &Term<Metric>) -> Option<&Summary> {
        let found = self.summaries.iter().find(|it| it.0 == *metric);
        found.map(|it| &it.1)
    }
}

/// A metric's name as a heading of tables.
#[must_use]
pub fn heading(metric: &Term<Metric>) -> &str {
    match metric {
        Term::Known(Metric::Powerdown) => "Powerdown",
        Term::Known(Metric::Wakeup) => "Wakeup",
        Term::Known(Metric::CacheFlush) => "Cache Flush",
        Term::Known(Metric::Latency) => "Latency",
        Term::Known(Metric::Call) => "Call",
        Term::Known(Metric::Wake) => "Wake",
        Term::Known(Metric::TurnOff) => "Turn Off",
        Term::Known(Metric::TurnOn) => "Turn On",
        Term::Known(Metric::Lateness) => "Lateness",
        Term::Other(word) => word,
    }
}
