//! A metric's figures.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::measure::{Histogram, Metric, Summary};

/// A metric's figures in a cell, in the metric's unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    /// What was measured. Its unit is [`Metric::unit`].
    pub metric: Metric,
    /// The CPU's representative figure in tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<u64>,
    /// The statistics of all samples except the very first; n is 0 if there were no others.
    pub summary: Summary,
    /// The very first sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold: Option<u64>,
    /// The number of samples in each histogram bin, if they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<BinCounts>,
}

impl Series {
    /// Returns a series without samples.
    pub fn new(metric: Metric) -> Self {
        Self::with_summary(metric, Summary::default())
    }

    /// Returns a series for these samples, represented by their median.
    pub fn with_summary(metric: Metric, summary: Summary) -> Self {
        Self {
            metric,
            shown: (summary.n > 0).then_some(summary.median),
            summary,
            cold: None,
            histogram: None,
        }
    }
}

/// The number of samples in each bin of a [`crate::measure::Histogram`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BinCounts {
    /// The index of the first bin that contains samples.
    pub first: u16,
    /// The number of samples in each bin from `first` to the last bin that contains any.
    pub counts: Vec<u32>,
}

impl BinCounts {
    /// Returns the counts of a histogram; none if the histogram is empty.
    pub fn from_histogram(histogram: &Histogram) -> Self {
        let first = histogram.counts().position(|count| count > 0);
        let last = histogram.counts().rposition(|count| count > 0);
        let (first, end) = match (first, last) {
            (Some(first), Some(last)) => (first, last + 1),
            _ => (0, 0),
        };
        let mut counts = Vec::with_capacity(end - first);
        counts.extend(histogram.counts().take(end).skip(first));
        Self {
            first: first as u16,
            counts,
        }
    }
}
