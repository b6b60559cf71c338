//! A figure of one CPU: a metric of a row, or a point.

use std::collections::BTreeMap;

use psci_bench::measure::{Metric, Summary};
use psci_bench::model::new::{How, Measure, Point, Row, Scenario, Unit, Variant};
use psci_bench::plan::ScenarioId;
use psci_bench::spec::ticks::Clock;
use serde::Serialize;

use crate::report::log::logged_run::LoggedRun;

/// The question that a figure answers. Equal keys in one scenario differ only in
/// their CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub enum FigureKey {
    /// A metric of a row.
    Row {
        /// The metric.
        metric: Metric,
    },
    /// A point, by its fields.
    Point {
        /// The number of CPUs that do it at the same time.
        how: How,
        /// The kind of the operation.
        variant: Variant,
        /// The quantity that was varied.
        x: Option<u64>,
        /// The figure.
        metric: Measure,
        /// Operations in a sample.
        per: u32,
    },
}

impl FigureKey {
    /// Returns the key of a point.
    #[must_use]
    pub fn of(point: &Point) -> Self {
        Self::Point {
            how: point.how,
            variant: point.variant,
            x: point.x,
            metric: point.measure,
            per: point.per.max(1),
        }
    }

    /// Returns true for a point.
    #[must_use]
    pub const fn is_point(self) -> bool {
        matches!(self, Self::Point { .. })
    }

    /// Returns the name as a heading of tables.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Row { metric } => metric.heading(),
            Self::Point { metric, .. } => metric.heading(),
        }
    }

    /// Returns the name in words separated by dots: `powerdown`,
    /// `alone.psci_version.ticks`.
    #[must_use]
    pub fn name(self) -> String {
        let Self::Point {
            how,
            variant,
            x,
            metric,
            ..
        } = self
        else {
            return self.metric().map_or_else(String::new, |it| it.key().into());
        };
        let x = x.map_or_else(String::new, |x| format!(".{x}"));
        format!("{}.{}{x}.{}", how.word(), variant.word(), metric.key())
    }

    /// Returns the name in a sentence: a row's heading, a point's name.
    #[must_use]
    pub fn in_sentence(self) -> String {
        self.metric()
            .map_or_else(|| self.name(), |it| it.heading().to_owned())
    }

    /// Returns a row's metric.
    #[must_use]
    pub const fn metric(self) -> Option<Metric> {
        match self {
            Self::Row { metric } => Some(metric),
            Self::Point { .. } => None,
        }
    }

    /// Returns the key of a point of any number of operations in a sample.
    #[must_use]
    pub fn without_per(self) -> Self {
        match self {
            Self::Point {
                how,
                variant,
                x,
                metric,
                ..
            } => Self::Point {
                how,
                variant,
                x,
                metric,
                per: 1,
            },
            Self::Row { .. } => self,
        }
    }

    /// Returns the unit of the samples.
    #[must_use]
    pub const fn unit(self) -> Unit {
        match self {
            Self::Row { .. } => Unit::Ticks,
            Self::Point { metric, .. } => metric.unit(),
        }
    }

    /// Returns the name of the unit of [`Self::per_operation`].
    #[must_use]
    pub fn unit_name(self, clock: Clock) -> &'static str {
        match self.unit() {
            Unit::Cycles => "cycles",
            Unit::Microseconds => "us",
            Unit::Count => "times",
            Unit::Ticks if clock.is_known() => "ns",
            Unit::Ticks => "ticks",
        }
    }

    /// Returns a sample's figure as that of one operation: nanoseconds instead of
    /// ticks if the clock is known. Those of a row are truncated to whole ones, as
    /// RT_INSTR lines have them.
    #[must_use]
    pub fn per_operation(self, clock: Clock, figure: u64) -> f64 {
        let Self::Point { per, .. } = self else {
            return clock.ns(figure).unwrap_or(figure) as f64;
        };
        let scale = match self.unit() {
            Unit::Ticks if clock.is_known() => 1e9 / clock.hz as f64,
            _ => 1.0,
        };
        figure as f64 * scale / f64::from(per)
    }
}

/// The part of the model that a figure is from.
#[derive(Clone, Copy, Debug)]
pub enum Origin<'r> {
    /// A row.
    Row(&'r Row),
    /// A point.
    Point(&'r Point),
}

/// A figure of one CPU.
#[derive(Clone, Copy, Debug)]
pub struct Figure<'r> {
    /// Index of the CPU.
    pub cpu: u16,
    /// The question that it answers.
    pub key: FigureKey,
    /// The value that stands for the CPU, in the samples' unit: that of tables, or
    /// a point's median. None if there are only statistics.
    pub shown: Option<u64>,
    /// The samples.
    pub summary: Option<&'r Summary>,
    /// True for a row of a line without a checksum.
    pub is_doubtful: bool,
    /// The row or the point.
    pub origin: Origin<'r>,
}

/// Returns a scenario's figures: those of each row, columns of tables first, and
/// then points.
#[must_use]
pub fn figures<'r>(run: &LoggedRun, scenario: &'r Scenario) -> Vec<Figure<'r>> {
    let columns = scenario.columns();
    let mut all = Vec::new();
    for row in &scenario.rows {
        let others = row.statistics.iter().map(|it| it.metric);
        let others = others.filter(|it| !columns.contains(it));
        for metric in columns.iter().copied().chain(others) {
            let is_column = columns.contains(&metric);
            let shown = scenario.figure(row, metric).filter(|_| is_column);
            let summary = row.summary(metric);
            if shown.is_some() || summary.is_some() {
                all.push(Figure {
                    cpu: row.cpu,
                    key: FigureKey::Row { metric },
                    shown,
                    summary,
                    is_doubtful: run.is_doubtful(row),
                    origin: Origin::Row(row),
                });
            }
        }
    }
    all.extend(scenario.points.iter().map(|point| Figure {
        cpu: point.cpu,
        key: FigureKey::of(point),
        shown: Some(point.figures.median),
        summary: Some(&point.figures),
        is_doubtful: false,
        origin: Origin::Point(point),
    }));
    all
}

/// Returns the figures by CPU and key: the first of each.
pub(super) fn by_cpu_and_key(all: Vec<Figure<'_>>) -> BTreeMap<(u16, FigureKey), Figure<'_>> {
    let all = all.into_iter().rev();
    all.map(|it| ((it.cpu, it.key), it)).collect()
}

/// Returns true if tables show a figure of this row.
#[must_use]
pub fn has_figure(scenario: &Scenario, row: &Row) -> bool {
    let mut columns = scenario.columns().into_iter();
    columns.any(|metric| scenario.figure(row, metric).is_some())
}

/// Returns true if tables show any figure of the scenario.
#[must_use]
pub fn has_figures(scenario: &Scenario) -> bool {
    !scenario.points.is_empty() || !scenario.columns().is_empty()
}

/// Returns true if CPUs wait for each other, so that a figure depends on the CPU's
/// place in their order.
#[must_use]
pub fn is_sorted_by_size(id: ScenarioId) -> bool {
    id.is_parallel() || id == ScenarioId::ContendSweep
}

/// Returns the name of the quantity that was varied, as a heading.
#[must_use]
pub const fn x_heading(id: ScenarioId) -> &'static str {
    match id {
        ScenarioId::DirtySweep => "Bytes",
        ScenarioId::ContendSweep => "CPUs",
        ScenarioId::IdleStates => "power_state",
        _ => "x",
    }
}

/// Returns that quantity as a cell.
#[must_use]
pub fn x_text(id: ScenarioId, x: u64) -> String {
    match id {
        ScenarioId::IdleStates => format!("{x:#010x}"),
        _ => x.to_string(),
    }
}
