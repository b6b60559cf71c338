//! A CPU's results in one step of a scenario.

use alloc::vec::Vec;

use hardware::board::CpuIndex;
use hardware::spec::pmf::Stamp;
use hardware::spec::stat::Reached;
use serde::{Deserialize, Serialize};

use super::samples::Samples;
use super::series::Series;
use super::skip::Skip;
use super::wake_source::WakeSource;
use crate::measure::{Gap, Instant, Instants, Loss, Metric, Reason, Rejection, Summary, Unit};
use crate::plan::{ActiveCpus, Variant};

/// A step of a scenario: one combination of CPUs, variant and value. Scenarios in TFTF's suite have
/// a single step, the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CellStep {
    /// The CPUs on which the step was measured.
    #[serde(alias = "how")]
    pub cpus: ActiveCpus,
    /// What the step does.
    pub variant: Variant,
    /// The value of the varied quantity, in the unit of the scenario's axis.
    #[serde(alias = "x", default, skip_serializing_if = "Option::is_none")]
    pub value: Option<u64>,
    /// The number of operations in a sample, at least 1.
    #[serde(alias = "per")]
    pub operations: u32,
}

impl Default for CellStep {
    fn default() -> Self {
        Self {
            cpus: ActiveCpus::Alone,
            variant: Variant::PLAIN,
            value: None,
            operations: 1,
        }
    }
}

impl CellStep {
    /// Returns the step that does this, once for each sample, on a single CPU.
    pub fn with_variant(variant: Variant) -> Self {
        Self {
            variant,
            ..Self::default()
        }
    }

    /// Returns true if this is the only step in its scenario.
    pub fn is_only(&self) -> bool {
        *self == Self::default()
    }
}

/// The results of one CPU at one step. Durations are in ticks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The CPU's index in board order.
    pub cpu: CpuIndex,
    /// What the scenario varied; omitted from records if the scenario has only one step.
    #[serde(default, skip_serializing_if = "CellStep::is_only")]
    pub step: CellStep,
    /// The number of attempts; None if the log lacks the cell's record.
    pub counts: Option<Counts>,
    /// Why the cell has no samples and does not need any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<Skip>,
    /// The index of the CPU that stayed awake and woke this one; None if a timer woke it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub helper: Option<CpuIndex>,
    /// The interrupt that woke the CPU, if it differs between the scenario's steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_source: Option<WakeSource>,
    /// The requested `power_state`, if it differs between the scenario's steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_state: Option<u32>,
    /// The PSCI_STAT readings for a separate suspend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<Reached>,
    /// True if the CPU kept its power in a suspend that should have removed it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub kept_power: bool,
    /// The phase in which the CPU was lost, and the cause; None if it was not lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<Loss>,
    /// The figures for each metric that has any, in the same order as [`Metric::ALL`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Series>,
    /// The longest gaps, the longest first, with their instants in ticks since the first window.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub longest_gaps: Vec<Gap>,
    /// The instants of the CPU's representative sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Instants>,
    /// Every sample, ordered by index, if the plan has `samples=all`. Each sample has a separate
    /// record.
    #[serde(skip_deserializing, skip_serializing_if = "Samples::is_empty")]
    pub samples: Samples,
}

/// A series and its cell.
#[derive(Clone, Copy, Debug)]
pub struct CellSeries<'r> {
    /// The cell that contains the series.
    pub cell: &'r Cell,
    /// One of the cell's series.
    pub series: &'r Series,
}

/// The number of attempts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Samples that count.
    pub valid: u32,
    /// Attempts that are not samples, by reason, excluding trials and warm-up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<(Reason, u32)>,
    /// The first attempt that was not a sample, with details; None if all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Rejection>,
}

impl Counts {
    /// Returns the number of attempts that do not count.
    pub fn rejected_total(&self) -> u32 {
        self.rejected
            .iter()
            .fold(0, |total: u32, (_, count)| total.saturating_add(*count))
    }

    /// Returns the number of attempts that do not count for the given reason.
    pub fn rejected_for(&self, reason: Reason) -> u32 {
        self.rejected
            .iter()
            .find(|(other, _)| *other == reason)
            .map_or(0, |(_, count)| *count)
    }
}

impl Cell {
    /// Returns a CPU's cell for a step, without results.
    pub fn new(cpu: CpuIndex, step: CellStep) -> Self {
        Self {
            cpu,
            step,
            ..Self::default()
        }
    }

    /// Returns a copy without samples and without the histograms of the series, both of which have
    /// separate records.
    pub fn without_parts(&self) -> Self {
        let mut copy = Self {
            counts: self.counts.clone(),
            series: self.series.clone(),
            longest_gaps: self.longest_gaps.clone(),
            samples: Samples::default(),
            ..*self
        };
        for series in &mut copy.series {
            series.histogram = None;
        }
        copy
    }

    /// Returns all series, each paired with this cell.
    pub fn all_series(&self) -> impl Iterator<Item = CellSeries<'_>> + Clone {
        let cell = self;
        self.series
            .iter()
            .map(move |series| CellSeries { cell, series })
    }

    /// Returns the series for a metric.
    pub fn series_of(&self, metric: Metric) -> Option<&Series> {
        self.series.iter().find(|series| series.metric == metric)
    }

    /// Returns the statistics for a metric that has samples.
    pub fn summary(&self, metric: Metric) -> Option<&Summary> {
        let summary = &self.series_of(metric)?.summary;
        (summary.n > 0).then_some(summary)
    }

    /// Returns the very first sample for a metric, in ticks.
    pub fn cold(&self, metric: Metric) -> Option<u64> {
        self.series_of(metric)?.cold
    }

    /// Returns the CPU's representative figure for a metric, in ticks.
    pub fn figure(&self, metric: Metric) -> Option<u64> {
        self.series_of(metric)?.shown
    }

    /// Returns true if the CPU has a representative figure.
    pub fn has_figures(&self) -> bool {
        self.series.iter().any(|series| series.shown.is_some())
    }

    /// Sets the CPU's representative figure for a metric, taken from a line or a table.
    pub fn set_figure(&mut self, metric: Metric, figure: Option<u64>) {
        let index = self.series.partition_point(|series| series.metric < metric);
        match self.series.get_mut(index) {
            Some(series) if series.metric == metric => series.shown = figure,
            _ if figure.is_some() => {
                let series = Series {
                    shown: figure,
                    ..Series::new(metric)
                };
                self.series.insert(index, series);
            }
            _ => {}
        }
    }

    /// Chooses the CPU's representative figures: the medians or, if all CPUs must show the same
    /// round, those of its representative sample. Figures from different rounds must not be mixed.
    pub fn choose_figures(&mut self, is_of_one_round: bool) {
        let sample = self.shown;
        for series in self.series.iter_mut() {
            let has_samples = series.summary.n > 0;
            series.shown = match (has_samples, is_of_one_round) {
                (false, _) => None,
                (true, true) => sample.and_then(|instants| instants.metric(series.metric)),
                (true, false) => Some(series.summary.median),
            };
        }
    }

    /// Returns the number of samples that count; 0 if unknown.
    pub fn valid(&self) -> u32 {
        self.counts.as_ref().map_or(0, |counts| counts.valid)
    }

    /// Returns the number of attempts that did not result in a sample for a metric; 0 if unknown.
    pub fn not_counted(&self, metric: Metric) -> u32 {
        match (metric.unit(), &self.counts) {
            (Unit::Ticks | Unit::Cycles, Some(counts)) => counts.rejected_total(),
            // PSCI_STAT is read once.
            _ => 0,
        }
    }

    /// Returns the name of the step variant, or `left_out` if the step was left out.
    pub const fn variant_word(&self) -> &'static str {
        match self.skipped {
            Some(_) => "left_out",
            None => self.step.variant.word(),
        }
    }

    /// Returns the counter value at which the CPU went down in the sample shown.
    pub fn went_down(&self) -> Option<u64> {
        self.shown?.counter(Instant::Stamp(Stamp::EnterHwLowPwr))
    }

    /// Returns true for a cell without its own record, either because it comes from a line without
    /// a checksum, or because its record was lost but its parts arrived.
    pub fn lacks_own_record(&self) -> bool {
        self.counts.is_none() && matches!(self.skipped, None | Some(Skip::NotStated))
    }
}
