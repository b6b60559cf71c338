//! A figure of one CPU: a metric of a row, or a point.

use std::collections::BTreeMap;

use hardware::spec::ticks::Clock;
use itertools::Itertools as _;
use run::measure::{Metric, Summary, Unit};
use run::model::{How, Point, Row, Scenario, Variant};
use run::plan::{Axis, ScenarioId};
use serde::Serialize;

use crate::log::LoggedRun;

/// The question that a figure answers. Equal keys in one scenario differ only in
/// their CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(untagged)]
pub enum FigureKey {
    Row { metric: Metric },
    Point(PointKey),
}

/// The fields of a [`Point`] that are not of its CPU or of its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct PointKey {
    pub how: How,
    pub variant: Variant,
    pub x: Option<u64>,
    pub measure: Metric,
    pub per: u32,
}

impl FigureKey {
    pub fn of(point: &Point) -> Self {
        Self::Point(PointKey {
            how: point.how,
            variant: point.variant,
            x: point.x,
            measure: point.measure,
            per: point.per.max(1),
        })
    }

    /// Returns a row's metric.
    pub const fn metric(self) -> Option<Metric> {
        match self {
            Self::Row { metric } => Some(metric),
            Self::Point(_) => None,
        }
    }

    pub const fn is_point(self) -> bool {
        self.metric().is_none()
    }

    pub fn heading(self) -> &'static str {
        match self {
            Self::Row { metric } => metric.heading(),
            Self::Point(point) => point.measure.heading(),
        }
    }

    /// Returns the key of the metric or the measure.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Row { metric } => metric.key(),
            Self::Point(point) => point.measure.key(),
        }
    }

    /// Returns the name in words separated by dots: `powerdown`,
    /// `alone.psci_version.ticks`.
    pub fn name(self) -> String {
        let Self::Point(point) = self else {
            return self.word().to_owned();
        };
        let x = point.x.map_or_else(String::new, |x| format!(".{x}"));
        let (how, variant) = (point.how.word(), point.variant.word());
        format!("{how}.{variant}{x}.{}", self.word())
    }

    /// Returns the name in a sentence: a row's heading, a point's name.
    pub fn in_sentence(self) -> String {
        match self.metric() {
            Some(metric) => metric.heading().to_owned(),
            None => self.name(),
        }
    }

    /// Returns the number of operations in a sample.
    pub const fn per(self) -> u32 {
        match self {
            Self::Row { .. } => 1,
            Self::Point(point) => point.per,
        }
    }

    /// Returns true if median and p99 are lower ends of a histogram's classes.
    pub fn is_of_classes(self) -> bool {
        let is_timers = |it: PointKey| matches!(it.measure, Metric::Entry | Metric::Handler);
        matches!(self, Self::Point(point) if is_timers(point))
    }

    pub const fn unit(self) -> Unit {
        match self {
            Self::Row { .. } => Unit::Ticks,
            Self::Point(point) => point.measure.unit(),
        }
    }

    /// Returns the name of the unit of [`Self::per_operation`].
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
    pub fn per_operation(self, clock: Clock, figure: u64) -> f64 {
        let scale = match (self, self.unit()) {
            (Self::Row { .. }, _) => return clock.ns(figure).unwrap_or(figure) as f64,
            (_, Unit::Ticks) if clock.is_known() => 1e9 / clock.hz as f64,
            _ => 1.0,
        };
        figure as f64 * scale / f64::from(self.per())
    }
}

/// The end of a table's title where a figure is one of [`FigureKey::is_of_classes`].
pub const OF_CLASSES: &str = "; medians and p99 are lower ends of classes, up to 1/16 too small";

/// The part of the model that a figure is from.
#[derive(Clone, Copy, Debug)]
pub enum Origin<'r> {
    Row(&'r Row),
    Point(&'r Point),
}

/// A figure of one CPU.
#[derive(Clone, Copy, Debug)]
pub struct Figure<'r> {
    pub cpu: u16,
    pub key: FigureKey,
    /// The value that stands for the CPU, in the samples' unit: that of tables, or
    /// a point's median. None if there are only statistics.
    pub shown: Option<u64>,
    pub summary: Option<&'r Summary>,
    /// True for a row of a line without a checksum.
    pub is_doubtful: bool,
    pub origin: Origin<'r>,
}

/// Returns a scenario's figures: those of each row, columns of tables first, and
/// then points.
pub fn figures<'r>(run: &LoggedRun, scenario: &'r Scenario) -> Vec<Figure<'r>> {
    let columns = scenario.columns();
    let mut all = Vec::new();
    for row in &scenario.rows {
        let others = row.statistics.iter().map(|it| it.metric);
        for metric in columns.iter().copied().chain(others).unique() {
            let shown = scenario.figure(row, metric);
            let shown = shown.filter(|_| columns.contains(&metric));
            let summary = row.summary(metric);
            if shown.is_some() || summary.is_some() || row.cold(metric).is_some() {
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
        shown: (point.figures.n > 0).then_some(point.figures.median),
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
pub fn has_figure(scenario: &Scenario, row: &Row) -> bool {
    let mut columns = scenario.columns().into_iter();
    columns.any(|metric| scenario.figure(row, metric).is_some())
}

/// Returns true if tables show any figure of the scenario.
pub fn has_figures(scenario: &Scenario) -> bool {
    !scenario.points.is_empty() || !scenario.columns().is_empty()
}

/// Returns true if CPUs wait for each other, so that a figure depends on the CPU's
/// place in their order.
pub fn is_sorted_by_size(id: ScenarioId) -> bool {
    id.is_parallel() || id.has_queue()
}

/// Returns the name of the quantity that was varied, as a heading.
pub const fn x_heading(id: ScenarioId) -> &'static str {
    match id.axis() {
        Some(axis) => axis.heading(),
        // A log may contain a step that its scenario does not have.
        None => "x",
    }
}

/// Returns that quantity as a cell.
pub fn x_text(id: ScenarioId, x: u64) -> String {
    match id.axis() {
        Some(Axis::PowerState) => format!("{x:#010x}"),
        Some(Axis::Bytes | Axis::Cpus) | None => x.to_string(),
    }
}
