//! One CPU's results in a scenario of the suite.

use alloc::vec::Vec;

use hardware::spec::pmf::Stamp;
use hardware::spec::stat::Reached;
use serde::{Deserialize, Serialize};

use super::samples::Samples;
use super::skip::Skip;
use crate::measure::{Instant, Instants};
use crate::measure::{Loss, Metric, Reason, Rejection, Summary};

/// One CPU's results. Durations are in ticks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Index of the CPU in the board's order.
    pub cpu: u16,
    /// The figures shown: of one round; in serial scenarios the median of each metric.
    pub figures: Figures,
    /// Counts of attempts; None for a row of a log without records.
    pub attempts: Option<Attempts>,
    /// The reason why the row has no samples and lacks none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<Skip>,
    /// Index of the CPU that stayed awake and woke this one; None if a timer did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub helper: Option<u16>,
    /// The reading of PSCI_STAT over one suspend of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<Reached>,
    /// The step and the cause of the CPU's loss, if it was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<Loss>,
    /// Statistics of the samples; only of metrics that have any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statistics: Vec<Statistic>,
    /// The instants of the sample that stands for this CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Instants>,
    /// Every sample, if the plan has `samples=all`, in the order of their places. Each has a
    /// record of its own.
    #[serde(skip_deserializing, skip_serializing_if = "Samples::is_empty")]
    pub samples: Samples,
}

/// The figures of the main table, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    /// PMF powerdown; PMF latency in PSCI_VERSION's scenario.
    #[serde(rename = "p")]
    pub powerdown: Option<u64>,
    /// PMF wakeup.
    #[serde(rename = "w")]
    pub wakeup: Option<u64>,
    /// PMF cache flush.
    #[serde(rename = "c")]
    pub cache_flush: Option<u64>,
}

/// Counts of attempts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempts {
    /// Samples that count.
    pub valid: u32,
    /// Attempts that are no samples, by reason, without trials and warm-up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<(Reason, u32)>,
    /// The first rejection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Rejection>,
}

/// Statistics of one metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistic {
    /// The metric.
    #[serde(rename = "k")]
    pub metric: Metric,
    /// The samples in ticks, without the first of all; n is 0 if there is no other.
    #[serde(rename = "v")]
    pub summary: Summary,
    /// The first sample of all, in ticks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold: Option<u64>,
}

impl Figures {
    /// Returns the figures by a function that returns that of a metric.
    pub fn of(figure: &mut dyn FnMut(Metric) -> Option<u64>) -> Self {
        Self {
            powerdown: figure(Metric::Powerdown).or_else(|| figure(Metric::Latency)),
            wakeup: figure(Metric::Wakeup),
            cache_flush: figure(Metric::CacheFlush),
        }
    }
}

impl Attempts {
    /// Returns the number of attempts that do not count.
    pub fn rejected_total(&self) -> u32 {
        let counts = self.rejected.iter().map(|(_, count)| *count);
        counts.fold(0, u32::saturating_add)
    }

    /// Returns the number of attempts that do not count for one reason.
    pub fn rejected_for(&self, reason: Reason) -> u32 {
        let found = self.rejected.iter().find(|it| it.0 == reason);
        found.map_or(0, |it| it.1)
    }
}

impl Row {
    /// Returns a copy without the samples.
    pub fn without_samples(&self) -> Self {
        Self {
            attempts: self.attempts.clone(),
            statistics: self.statistics.clone(),
            samples: Samples::default(),
            ..*self
        }
    }

    /// Returns the statistics of a metric that has samples.
    pub fn summary(&self, metric: Metric) -> Option<&Summary> {
        let found = self.statistics.iter().find(|it| it.metric == metric)?;
        Some(&found.summary).filter(|summary| summary.n > 0)
    }

    /// Returns the first sample of all of a metric, in ticks.
    pub fn cold(&self, metric: Metric) -> Option<u64> {
        self.statistics.iter().find(|it| it.metric == metric)?.cold
    }

    /// Returns the number of samples that count; 0 if unknown.
    pub fn valid(&self) -> u32 {
        self.attempts.as_ref().map_or(0, |attempts| attempts.valid)
    }

    /// Returns the counter's value at which the CPU went down in the sample shown.
    pub fn went_down(&self) -> Option<u64> {
        self.shown?.counter(Instant::Stamp(Stamp::EnterHwLowPwr))
    }

    /// Returns true for a row without a record of its own: one of a line without a checksum, or
    /// one whose record is lost, and whose samples came.
    pub fn lacks_own_record(&self) -> bool {
        self.attempts.is_none() && matches!(self.skipped, None | Some(Skip::NotStated))
    }
}
