//! The results of scenarios outside the suite: points, one for each CPU and
//! circumstance.

use alloc::vec::Vec;

use hardware::words;
use serde::{Deserialize, Serialize};

use crate::measure::{Histogram, Metric, Summary, Waker};

words! {
    /// The kind of a scenario's operation.
    #[expect(missing_docs, reason = "each variant is the name of its operation")]
    pub enum Variant, word {
        /// The scenario's own loop with nothing in it.
        Loop = "loop",
        /// The point has no samples, as its state or step is not tried.
        LeftOut = "left_out",
        PsciVersion = "psci_version",
        SmcccVersion = "smccc_version",
        Unknown = "unknown",
        Sgi = "sgi",
        Pmselr = "pmselr",
        GetTimestamp = "get_timestamp",
        First = "first",
        Joins = "joins",
        Deepest = "deepest",
        Core = "core",
        Off = "off",
        Serial = "serial",
        Parallel = "parallel",
        Osi = "osi",
        System = "system",
        Idle = "idle",
        Write = "write",
        Zero = "zero",
        Nontemporal = "nontemporal",
        Clean = "clean",
        Mixed = "mixed",
    }
}

words! {
    /// On how many CPUs it was measured.
    #[derive(Default)]
    pub enum How, word {
        /// On one CPU, every other one off, the lead apart, who waits.
        #[default]
        Alone = "alone",
        /// On all CPUs at the same time.
        All = "all",
    }
}

impl How {
    /// Returns the CPUs in words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Alone => "one CPU alone",
            Self::All => "all CPUs at once",
        }
    }
}

/// One figure of one CPU in one circumstance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Index of the CPU in the board's order.
    pub cpu: u16,
    /// The number of CPUs that do it at the same time.
    pub how: How,
    /// The kind of the operation.
    pub variant: Variant,
    /// The quantity that was varied, in the scenario's unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<u64>,
    /// The figure.
    pub measure: Metric,
    /// Operations in a sample, at least 1.
    pub per: u32,
    /// The samples, in the measure's unit, each of `per` operations.
    pub figures: Summary,
    /// Samples that were taken and do not count.
    pub lost: u64,
    /// The interrupt that woke the CPU, if it was suspended.
    #[serde(default, skip_serializing_if = "is_own_timers")]
    pub waker: Waker,
    /// The spread of the samples; None if they were not counted by size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
}

/// Samples counted by size, in the bins of [`crate::measure::Histogram`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    /// The place of the first bin that has samples.
    pub first: u16,
    /// Samples in that bin and the ones after it, up to the last that has any.
    pub counts: Vec<u32>,
}

impl Spread {
    /// Returns the spread of a histogram; without counts if that is empty.
    pub fn of(histogram: &Histogram) -> Self {
        let first = histogram.counts().position(|count| count > 0);
        let last = histogram.counts().rposition(|count| count > 0);
        let (first, end) = first
            .zip(last)
            .map_or((0, 0), |(first, last)| (first, last + 1));
        let mut counts = Vec::with_capacity(end - first);
        counts.extend(histogram.counts().take(end).skip(first));
        Self {
            first: first as u16,
            counts,
        }
    }
}

fn is_own_timers(waker: &Waker) -> bool {
    *waker == Waker::OwnTimers
}

impl Point {
    /// Returns the usual point of a CPU, without samples.
    pub fn new(cpu: u16, variant: Variant, measure: Metric) -> Self {
        Self {
            cpu,
            how: How::Alone,
            variant,
            x: None,
            measure,
            per: 1,
            figures: Summary::default(),
            lost: 0,
            waker: Waker::OwnTimers,
            spread: None,
        }
    }
}
