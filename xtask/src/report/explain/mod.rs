//! What figures show, in findings: data first, a sentence of it second.
//!
//! ```text
//! last_man ─ who was last down in each cluster, and what his flush cost
//! queue ──── the lock queue's step, and how well a straight line fits
//! wakeups ── which wake-ups waited for others
//! counts ─── what was left out, and which CPUs were lost
//! figures ── the tick against the figure; outliers
//! ```
//!
//! The words are those of the payload's own findings (`src/output/findings`).
//! What needs instants is never guessed from the size of a figure: a table of
//! figures alone has a finding that says what can not be told of it.

use std::fmt;

use psci_bench::plan::ScenarioId;
use psci_bench::sample::Metric;

use super::model::{Run, Term, Test, heading};

mod counts;
pub(super) mod figures;
mod last_man;
mod queue;
mod wakeups;

/// Something that figures show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which kind it is.
    pub kind: Kind,
    /// What is to be said, as one or more sentences.
    pub sentence: String,
    /// The rows that it rests on.
    pub basis: Vec<Basis>,
    /// How it is known.
    pub confidence: Confidence,
}

/// Kinds of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Who was the last man down in a cluster, and what his flush cost.
    LastMan,
    /// Whether CPUs that go down together wait for each other.
    LockQueue,
    /// Which wake-ups took far longer than others.
    Waited,
    /// Figures of so few ticks that the tick shows.
    Resolution,
    /// Attempts that do not count.
    NotCounted,
    /// CPUs that were lost.
    Lost,
    /// Samples far from the others of their row.
    Outlier,
    /// What the input does not tell.
    NotTold,
    /// Comparing: the same figures on other CPUs.
    Reordered,
    /// Comparing: figures that moved together.
    Changed,
    /// Comparing: nothing moved beyond the tolerance.
    Unchanged,
    /// Comparing: who flushes a cluster-size cache.
    FlushOfCluster,
    /// Comparing: how the two sides differ besides figures.
    Conditions,
}

impl Kind {
    /// The word that stands for it in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::LastMan => "last-man",
            Self::LockQueue => "lock-queue",
            Self::Waited => "waited",
            Self::Resolution => "resolution",
            Self::NotCounted => "not-counted",
            Self::Lost => "lost",
            Self::Outlier => "outlier",
            Self::NotTold => "not-told",
            Self::Reordered => "reordered",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
            Self::FlushOfCluster => "flush-of-cluster",
            Self::Conditions => "conditions",
        }
    }
}

/// How a finding is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// By the order of timestamps.
    Stamps,
    /// By counts that records have.
    Counts,
    /// By a straight line.
    Fit(Fit),
    /// By figures alone.
    Figures,
    /// By figures whose intervals do not overlap.
    Intervals,
    /// It can not be told.
    Unknown,
}

/// How well a straight line fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// Number of points.
    pub n: u32,
    /// Coefficient of determination, in percent, rounded down.
    pub r2_percent: u8,
    /// The greatest distance of a point from the line, in nanoseconds, where
    /// the clock is known.
    pub residual_ns: Option<u64>,
    /// Whether the order of the points is that of timestamps; else it is that
    /// of the figures themselves, which makes any line fit better.
    pub by_stamps: bool,
}

impl Confidence {
    /// The word that stands for it in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Stamps => "stamps",
            Self::Counts => "counts",
            Self::Fit(_) => "fit",
            Self::Figures => "figures",
            Self::Intervals => "intervals",
            Self::Unknown => "unknown",
        }
    }
}

/// A row that a finding rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basis {
    /// Whose it is.
    pub side: Side,
    /// The scenario.
    pub scenario: Term<ScenarioId>,
    /// Index into that side's CPUs.
    pub cpu: usize,
    /// The CPU's name, such as `1.3`.
    pub label: String,
    /// Which figure of it; None where it is not one figure.
    pub metric: Option<Term<Metric>>,
}

/// Whose a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The run's.
    Run,
    /// The baseline's.
    Baseline,
}

impl Side {
    /// The word that stands for it in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Baseline => "baseline",
        }
    }
}

impl Finding {
    /// The rows, in words: `Powerdown of CPU 0.0, 0.1` for each scenario.
    #[must_use]
    pub fn rows(&self) -> String {
        let mut parts: Vec<(String, Vec<&str>)> = Vec::new();
        for basis in &self.basis {
            let metric = basis.metric.as_ref().map_or("all figures", heading);
            let side = match basis.side {
                Side::Run => "",
                Side::Baseline => " in the baseline",
            };
            let what = format!("{metric} in {}{side}", basis.scenario.word());
            match parts.iter_mut().find(|part| part.0 == what) {
                Some(part) => part.1.push(&basis.label),
                None => parts.push((what, vec![&basis.label])),
            }
        }
        let parts = parts.into_iter().map(|(what, labels)| {
            // All of a large machine would hide the finding.
            match labels.as_slice() {
                [first, .., last] if labels.len() > 16 => {
                    format!("{what}: {} CPUs, {first} to {last}", labels.len())
                }
                _ => format!("{what}: CPU {}", labels.join(", ")),
            }
        });
        parts.collect::<Vec<_>>().join("; ")
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

/// What `test` of `run` shows by itself.
#[must_use]
pub fn explain(run: &Run, test: &Test) -> Vec<Finding> {
    let each = [
        last_man::last_man,
        queue::queue,
        wakeups::waited,
        figures::resolution,
        figures::outliers,
        counts::not_counted,
        counts::lost,
    ];
    each.iter().flat_map(|find| find(run, test)).collect()
}
