//! A CPU's figure: one series in a cell.

use std::collections::BTreeMap;

use hardware::board::CpuIndex;
use hardware::spec::ticks::Clock;
use itertools::Itertools as _;
use serde::Serialize;
use suite::measure::{Metric, Summary, Unit};
use suite::model::{Cell, CellSeries, CellStep, FigureScale, Scenario, Series};
use suite::plan::ScenarioId;

use crate::log::LoggedRun;

/// What a figure measures. Figures from one scenario that have the same key differ only in the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct FigureKey {
    /// The step of the scenario.
    #[serde(skip_serializing_if = "CellStep::is_only")]
    pub step: CellStep,
    /// The metric.
    pub metric: Metric,
}

impl FigureKey {
    /// Returns the key of a cell's figure.
    pub fn of(CellSeries { cell, series }: CellSeries<'_>) -> Self {
        Self {
            step: cell.step,
            metric: series.metric,
        }
    }

    /// Returns the key for a scenario of the TFTF suite.
    pub fn of_suite(metric: Metric) -> Self {
        Self {
            step: CellStep::default(),
            metric,
        }
    }

    /// Returns the metric for a scenario of the TFTF suite; None for other scenarios.
    pub fn suite_metric(self) -> Option<Metric> {
        (!self.is_of_step()).then_some(self.metric)
    }

    /// Returns true for a scenario outside the TFTF suite.
    pub fn is_of_step(self) -> bool {
        !self.step.is_only()
    }

    /// Returns the name for the heading of a column.
    pub const fn heading(self) -> &'static str {
        self.metric.heading()
    }

    /// Returns the metric name.
    pub const fn word(self) -> &'static str {
        self.metric.key()
    }

    /// Returns the name in dotted form: `powerdown`, `alone.psci_version.ticks`.
    pub fn name(self) -> String {
        if !self.is_of_step() {
            return self.word().to_owned();
        }
        let cpus = self.step.cpus.word();
        let variant = self.step.variant.word();
        let value = match self.step.value {
            Some(value) => format!(".{value}"),
            None => String::new(),
        };
        format!("{cpus}.{variant}{value}.{}", self.word())
    }

    /// Returns the name for use in a sentence: the heading for the TFTF suite, otherwise the name.
    pub fn in_sentence(self) -> String {
        if self.is_of_step() {
            self.name()
        } else {
            self.heading().to_owned()
        }
    }

    /// Returns the number of operations in a sample.
    pub fn per(self) -> u32 {
        self.step.operations.max(1)
    }

    /// Returns true if the median and the p99 are lower bounds of histogram bins.
    pub fn is_histogram_bound(self) -> bool {
        let is_timer = matches!(self.metric, Metric::Entry | Metric::Handler);
        is_timer && !self.step.variant.is_baseline()
    }

    /// Returns the unit.
    pub const fn unit(self) -> Unit {
        self.metric.unit()
    }

    /// Returns true for a time, rather than a count.
    pub fn is_time(self) -> bool {
        matches!(self.unit(), Unit::Ticks | Unit::Cycles)
    }

    /// Returns the scale in which figures are compared.
    pub fn scale(self, clock: Clock) -> FigureScale {
        FigureScale::of_programs(clock, self.metric, self.step.operations)
    }

    /// Converts a sample's figure to a figure per operation, in the unit of [`Self::scale`].
    /// Figures from the TFTF suite are truncated to integers, as in RT_INSTR lines.
    pub fn per_operation(self, clock: Clock, figure: u64) -> f64 {
        if self.is_of_step() {
            self.scale(clock).value(figure)
        } else {
            clock.ns(figure).unwrap_or(figure) as f64
        }
    }
}

/// Appended to a table title if [`FigureKey::is_histogram_bound`] is true for any figure in the
/// table.
pub const HISTOGRAM_BOUND_NOTE: &str =
    "; median and p99 are lower bounds of histogram bins, up to 1/16 too small";

/// One CPU's figure in a scenario.
#[derive(Clone, Copy, Debug)]
pub struct Figure<'r> {
    /// The cell that contains the figure.
    pub cell: &'r Cell,
    /// The figure's statistics.
    pub series: &'r Series,
    /// The CPU.
    pub cpu: CpuIndex,
    /// The name of the figure.
    pub key: FigureKey,
    /// The value that tables show for the CPU, in the unit of the samples. None if only statistics
    /// are known.
    pub shown: Option<u64>,
    /// The summary of the samples; None if the log has none.
    pub summary: Option<&'r Summary>,
    /// True if the cell was read from a line without a checksum.
    pub is_doubtful: bool,
}

/// Returns a scenario's figures, cell by cell. For the TFTF suite, the figures in table columns
/// come first.
pub fn figures<'r>(logged: &LoggedRun, scenario: &'r Scenario) -> Vec<Figure<'r>> {
    let columns = scenario.columns();
    let mut figures = Vec::new();
    for cell in scenario.suite_cells() {
        let measured = cell.series.iter().map(|series| series.metric);
        for metric in columns.iter().copied().chain(measured).unique() {
            let Some(series) = cell.series_of(metric) else {
                continue;
            };
            let shown = series.shown.filter(|_| columns.contains(&metric));
            let summary = cell.summary(metric);
            if shown.is_some() || summary.is_some() || series.cold.is_some() {
                figures.push(Figure {
                    cell,
                    series,
                    cpu: cell.cpu,
                    key: FigureKey::of_suite(metric),
                    shown,
                    summary,
                    is_doubtful: logged.is_doubtful(cell),
                });
            }
        }
    }
    let step_figures = scenario.step_series().map(|cell_series| {
        let CellSeries { cell, series } = cell_series;
        Figure {
            cell,
            series,
            cpu: cell.cpu,
            key: FigureKey::of(cell_series),
            shown: series.shown,
            summary: Some(&series.summary),
            is_doubtful: false,
        }
    });
    figures.extend(step_figures);
    figures
}

/// Indexes figures by CPU and key. If several figures have the same CPU and key, keeps the first
/// one.
pub(super) fn by_cpu_and_key(
    figures: Vec<Figure<'_>>,
) -> BTreeMap<(CpuIndex, FigureKey), Figure<'_>> {
    figures
        .into_iter()
        .rev()
        .map(|figure| ((figure.cpu, figure.key), figure))
        .collect()
}

/// Returns true if tables show a figure from this cell of the TFTF suite.
pub fn has_figure(scenario: &Scenario, cell: &Cell) -> bool {
    let mut columns = scenario.columns().into_iter();
    columns.any(|metric| cell.figure(metric).is_some())
}

/// Returns true if tables show any of the scenario's figures.
pub fn has_figures(scenario: &Scenario) -> bool {
    scenario.step_series().next().is_some() || !scenario.columns().is_empty()
}

/// Returns true if CPUs wait for each other, so that a figure depends on the CPU's position in the
/// queue.
pub fn is_sorted_by_size(id: ScenarioId) -> bool {
    id.is_parallel() || id.has_queue()
}

/// Returns the name of the quantity that a scenario varies, for a heading.
pub const fn axis_heading(id: ScenarioId) -> &'static str {
    match id.axis() {
        Some(axis) => axis.heading(),
        // A log may contain a step that the scenario does not define.
        None => "x",
    }
}

/// Formats a value of the quantity that a scenario varies, for a table cell.
pub fn axis_text(id: ScenarioId, x: u64) -> String {
    id.axis().map_or_else(|| x.to_string(), |axis| axis.text(x))
}
