//! Builds cells from outcomes: keeps samples, and counts other outcomes.

use alloc::vec::Vec;

use crate::measure::{
    Detail, Loss, Metric, Outcome, REASONS, Reason, Rejection, Summary, TimeSource,
};
use crate::model::{Cell, CellStep, Counts, Sample, Samples, Series, Skip};
use hardware::board::CpuIndex;
use hardware::spec::counter_value::ticks_between;
use hardware::spec::stat::Reached;

/// The maximum number of metrics in the samples of one action.
pub(crate) const METRICS_MAX: usize = 5;

/// The maximum number of metrics in samples that are not kept as outcomes.
pub(crate) const COLUMNS: usize = 2;

/// The state of one CPU during a scenario.
pub(crate) struct CellState {
    /// The results so far; series, counts and samples are added at the end.
    cell: Cell,
    /// True if the scenario expects samples from this CPU.
    is_expected: bool,
    /// True if all of this CPU's trials failed, so it has no samples.
    has_failed_trials: bool,
    /// The very first sample, which the statistics exclude.
    cold: Option<Outcome>,
    /// Samples from the suite and from steps.
    kept: Vec<Outcome>,
    /// Samples from all other scenarios, by metric.
    columns: [Vec<u64>; COLUMNS],
    /// Attempts that were not counted, by [`Reason`].
    rejected: [u32; REASONS],
    first_rejection: Option<Rejection>,
}

/// Returns the counts that are not zero, by reason.
pub(crate) fn by_reason(counts: &[u32; REASONS]) -> Vec<(Reason, u32)> {
    let nonzero = Reason::ALL
        .into_iter()
        .zip(counts.iter().copied())
        .filter(|(_, count)| *count > 0);
    // Allocate exactly the memory needed.
    let mut list = Vec::with_capacity(nonzero.clone().count());
    list.extend(nonzero);
    list
}

impl CellState {
    /// Returns the CPU's empty state, with room for `outcomes` outcomes and `figures` values per
    /// metric.
    pub(crate) fn new(cpu: CpuIndex, outcomes: usize, figures: usize) -> Self {
        Self {
            cell: Cell::new(cpu, CellStep::default()),
            is_expected: false,
            has_failed_trials: false,
            cold: None,
            kept: Vec::with_capacity(outcomes),
            columns: core::array::from_fn(|_| Vec::with_capacity(figures)),
            rejected: [0; REASONS],
            first_rejection: None,
        }
    }

    /// Discards everything but the memory, and records whether the CPU is lost.
    pub(crate) fn clear(&mut self, lost: Option<Loss>) {
        let mut kept = core::mem::take(&mut self.kept);
        let mut columns = core::mem::take(&mut self.columns);
        kept.clear();
        columns.iter_mut().for_each(Vec::clear);
        *self = Self {
            kept,
            columns,
            ..Self::new(self.cpu(), 0, 0)
        };
        self.cell.lost = lost;
    }

    pub(crate) const fn cpu(&self) -> CpuIndex {
        self.cell.cpu
    }

    pub(crate) const fn lost(&self) -> Option<Loss> {
        self.cell.lost
    }

    pub(crate) const fn reached(&self) -> Option<Reached> {
        self.cell.reached
    }

    /// Returns the reason why this CPU's row is skipped.
    pub(crate) const fn skipped(&self) -> Option<Skip> {
        self.cell.skipped
    }

    /// Returns true if all of this CPU's trials failed.
    pub(crate) const fn has_failed_trials(&self) -> bool {
        self.has_failed_trials
    }

    /// Returns the very first sample.
    pub(crate) const fn cold(&self) -> Option<&Outcome> {
        self.cold.as_ref()
    }

    /// Returns the number of samples in one of the columns.
    pub(crate) const fn figures_in(&self, column: usize) -> u32 {
        self.columns[column].len() as u32
    }

    /// Returns how many attempts were not counted for this reason.
    pub(crate) const fn rejected(&self, reason: Reason) -> u32 {
        self.rejected[reason as usize]
    }

    /// Returns the number of samples kept as outcomes.
    pub(crate) fn valid(&self) -> u32 {
        self.kept.len() as u32
    }

    /// Returns true if the scenario expects samples from this CPU and does not skip it.
    pub(crate) fn needs_samples(&self) -> bool {
        self.is_expected && self.cell.skipped.is_none()
    }

    /// Returns the number of attempts that were not counted.
    pub(crate) fn rejected_total(&self) -> u32 {
        self.rejected.iter().sum()
    }

    pub(super) fn expect_samples(&mut self, is_expected: bool) {
        self.is_expected = is_expected;
    }

    pub(super) fn skip(&mut self, why: Skip) {
        self.cell.skipped = Some(why);
    }

    pub(super) fn note_failed_trials(&mut self) {
        self.has_failed_trials = true;
    }

    /// Keeps a sample.
    pub(super) fn keep(&mut self, outcome: &Outcome) {
        self.kept.push(*outcome);
    }

    /// Keeps the very first sample.
    pub(super) fn keep_cold(&mut self, outcome: &Outcome) {
        self.cold.get_or_insert(*outcome);
    }

    /// Adds a sample's figures to the columns.
    pub(super) fn keep_figures(&mut self, figures: [Option<u64>; COLUMNS]) {
        for (column, figure) in self.columns.iter_mut().zip(figures) {
            column.extend(figure);
        }
    }

    /// Counts all samples as rejected because of another CPU.
    pub(super) fn discard_kept(&mut self) {
        self.rejected[Reason::Companion as usize] += self.valid();
        self.kept.clear();
    }

    pub(super) fn note_reached(&mut self, reached: Reached) {
        self.cell.reached = Some(reached);
    }

    pub(super) fn note_kept_power(&mut self) {
        self.cell.kept_power = true;
    }

    pub(super) fn forget_reached(&mut self) {
        self.cell.reached = None;
    }

    pub(super) fn note_helper(&mut self, helper: Option<CpuIndex>) {
        self.cell.helper = helper;
    }

    /// Records the loss that the machine has noted. The first loss counts.
    pub(super) fn note_lost(&mut self, lost: Option<Loss>) {
        self.cell.lost = self.cell.lost.or(lost);
    }

    /// Counts a rejection.
    pub(crate) fn reject(&mut self, rejection: Rejection) {
        self.rejected[rejection.reason as usize] += 1;
        self.first_rejection.get_or_insert(rejection);
        self.note_loss(rejection);
    }

    /// Records the loss, if the rejection is due to one. The first loss counts.
    pub(crate) fn note_loss(&mut self, rejection: Rejection) {
        if let Detail::Loss(loss) = rejection.detail {
            self.cell.lost.get_or_insert(loss);
        }
    }

    /// Returns the statistics for one metric, using `column` as scratch memory.
    pub(crate) fn summary(
        &self,
        metric: Metric,
        times: TimeSource,
        column: &mut Vec<u64>,
    ) -> Summary {
        let figures = self
            .kept
            .iter()
            .filter_map(|outcome| outcome.metric(metric, times));
        sum_up(figures, column)
    }

    /// Returns the counts so far.
    pub(crate) fn counts(&self) -> Counts {
        Counts {
            valid: self.valid(),
            rejected: by_reason(&self.rejected),
            first: self.first_rejection,
        }
    }

    /// Returns one series for each of `metrics`, from the columns. Only the first may be empty.
    pub(super) fn series_of_columns(&mut self, metrics: &[Metric]) -> Vec<Series> {
        let mut series = Vec::with_capacity(metrics.len());
        for (index, (metric, column)) in metrics.iter().zip(&mut self.columns).enumerate() {
            if index == 0 || !column.is_empty() {
                series.push(Series::with_summary(*metric, Summary::compute(column)));
            }
        }
        series
    }

    /// Returns a cell with these series, the counts, the loss, the PSCI_STAT readings, the
    /// representative sample and, if `has_samples` is true, every sample.
    pub(super) fn to_cell(
        &self,
        step: CellStep,
        series: Vec<Series>,
        has_samples: bool,
        times: TimeSource,
    ) -> Cell {
        Cell {
            counts: Some(self.counts()),
            reached: self.cell.reached,
            lost: self.cell.lost,
            series,
            shown: self.cell.shown,
            samples: self.samples(has_samples, times),
            ..Cell::new(self.cpu(), step)
        }
    }

    /// For serial scenarios: shows the sample whose leading value is the median.
    pub(crate) fn show_median(&mut self, times: TimeSource, column: &mut Vec<u64>) {
        let figure = |outcome: &Outcome| leading_figure(outcome, times);
        let median = sum_up(self.kept.iter().filter_map(figure), column).median;
        let shown = self
            .kept
            .iter()
            .find(|sample| figure(sample) == Some(median));
        self.cell.shown = shown.map(|outcome| outcome.instants(times));
    }

    /// Returns the cell with its series, and with every sample if `has_samples` is true.
    pub(crate) fn finish(
        &mut self,
        is_parallel: bool,
        times: TimeSource,
        has_samples: bool,
        column: &mut Vec<u64>,
    ) -> Cell {
        let empty = Cell::new(self.cpu(), CellStep::default());
        let mut cell = core::mem::replace(&mut self.cell, empty);
        cell.series.reserve_exact(METRICS_MAX);
        for metric in Metric::ALL {
            let summary = self.summary(metric, times, column);
            let cold = self.cold.and_then(|outcome| outcome.metric(metric, times));
            if summary.n > 0 || cold.is_some() {
                cell.series.push(Series {
                    cold,
                    ..Series::with_summary(metric, summary)
                });
            }
        }
        cell.choose_figures(is_parallel);
        cell.counts = Some(self.counts());
        cell.samples = self.samples(has_samples, times);
        cell
    }

    /// Returns every sample if `is_wanted` is true, and none otherwise.
    pub(crate) fn samples(&self, is_wanted: bool, times: TimeSource) -> Samples {
        if !is_wanted {
            return Samples::default();
        }
        let mut samples = Samples::with_capacity(self.kept.len());
        for (index, outcome) in (0..).zip(&self.kept) {
            let instants = outcome.instants(times);
            samples.push(Sample { index, instants });
        }
        samples
    }
}

/// Shows the same round for all CPUs, because rounds must not be mixed in parallel scenarios. The
/// round shown is the one whose longest leading value is the median across all rounds. Returns the
/// ticks between the first and the last call, across all `count` rounds.
pub(crate) fn show_round(
    cells: &mut [CellState],
    count: usize,
    times: TimeSource,
    column: &mut Vec<u64>,
) -> Summary {
    let figure = |outcome: &Outcome| leading_figure(outcome, times);
    let outcomes = |round: usize| cells.iter().filter_map(move |state| state.kept.get(round));
    let longest_in = |round| outcomes(round).filter_map(figure).max().unwrap_or(0);
    let skew_in = |round| {
        let calls = || outcomes(round).filter_map(|outcome| outcome.before);
        ticks_between(calls().min(), calls().max())
    };
    let median = sum_up((0..count).map(longest_in), column).median;
    let shown = (0..count).find(|round| longest_in(*round) == median);
    let skew = sum_up((0..count).map(skew_in), column);
    for state in cells {
        state.cell.shown = None;
        if let Some(round) = shown
            && let Some(outcome) = state.kept.get(round)
            && figure(outcome).is_some()
        {
            state.cell.shown = Some(outcome.instants(times));
        }
    }
    skew
}

/// Copies `values` to `column`, which is large enough, and returns their statistics.
fn sum_up(values: impl Iterator<Item = u64>, column: &mut Vec<u64>) -> Summary {
    column.clear();
    column.extend(values);
    Summary::compute(column)
}

/// Returns the figure used to compare samples.
fn leading_figure(outcome: &Outcome, times: TimeSource) -> Option<u64> {
    Metric::LEADING
        .into_iter()
        .find_map(|metric| outcome.metric(metric, times))
}
