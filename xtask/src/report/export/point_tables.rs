//! The tables of points: one for each figure and number of CPUs, with a row for
//! each CPU, `x` and variant.

use psci_bench::model::{How, Measure, Point, Scenario, Unit};
use psci_bench::spec::ticks::Clock;

use super::table::{Table, statistics, statistics_headings};
use crate::report::analysis::figure::{FigureKey, x_heading, x_text};
use crate::report::log::LoggedRun;
use crate::report::log::grouped::grouped;

/// Returns all tables of a scenario's points.
pub(super) fn point_tables(run: &LoggedRun, scenario: &Scenario) -> Vec<Table> {
    let each = by_measure(scenario.points.iter()).into_iter();
    each.map(|points| table(run, scenario, &points)).collect()
}

/// Returns points by their measure and the number of CPUs; no list is empty.
pub(super) fn by_measure<'r>(points: impl Iterator<Item = &'r Point>) -> Vec<Vec<&'r Point>> {
    let all = grouped(points.map(|it| ((it.measure, it.how), it)));
    all.into_iter().map(|it| it.1).collect()
}

fn table(run: &LoggedRun, scenario: &Scenario, points: &[&Point]) -> Table {
    let id = scenario.id;
    let scale = PointScale::of(run.clock(), points);
    let mut table = Table::of_cpus(title(scenario, points, scale), &run.run);
    let has_x = points.iter().any(|it| it.x.is_some());
    let has_p99 = points.iter().any(|it| it.figures.p99.is_some());
    let has_lost = points.iter().any(|it| it.lost > 0);
    table.numbers(has_x.then(|| x_heading(id)));
    table.words(["Variant"]);
    table.numbers(statistics_headings(has_p99));
    table.numbers(has_lost.then_some("Lost"));
    for point in points {
        let x = || point.x.map_or("n/a".to_owned(), |x| x_text(id, x));
        let mut cells: Vec<String> = has_x.then(x).into_iter().collect();
        cells.push(point.variant.word().to_owned());
        let text = |figure| scale.text(point, figure);
        cells.extend(statistics(&point.figures, has_p99, text));
        cells.extend(has_lost.then(|| point.lost.to_string()));
        table.cpu_row(&run.run, point.cpu, cells);
    }
    table
}

fn title(scenario: &Scenario, points: &[&Point], scale: PointScale) -> String {
    let mut title = scenario.id.name().to_owned();
    if let Some(first) = points.first() {
        if !matches!(first.measure, Measure::Ticks | Measure::Cycles) {
            title += &format!(": {}", first.measure.heading());
        }
        title += &format!(", {} ({}", how_text(first.how), scale.name());
    }
    if points.iter().any(|it| it.per > 1) {
        title += " per operation";
    }
    title + ")"
}

/// Returns the number of CPUs in words.
pub(super) const fn how_text(how: How) -> &'static str {
    match how {
        How::Alone => "one CPU alone",
        How::All => "all CPUs at once",
    }
}

/// The unit in which tables and drawings have the figures of one operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct PointScale {
    clock: Clock,
    unit: Unit,
    /// True if samples are of several operations, which are short.
    is_batch: bool,
}

impl PointScale {
    pub(super) fn of(clock: Clock, points: &[&Point]) -> Self {
        let first = points.first();
        Self {
            clock,
            unit: first.map_or(Unit::Ticks, |it| it.measure.unit()),
            is_batch: points.iter().any(|it| it.per > 1),
        }
    }

    fn is_us(self) -> bool {
        self.unit == Unit::Ticks && self.clock.is_known() && !self.is_batch
    }

    pub(super) fn name(self) -> &'static str {
        match self.unit {
            Unit::Cycles => "cycles",
            Unit::Microseconds => "us",
            Unit::Count => "times",
            Unit::Ticks if !self.clock.is_known() => "ticks",
            Unit::Ticks if self.is_batch => "ns",
            Unit::Ticks => "us",
        }
    }

    /// Returns the factor from [`FigureKey::per_operation`] to this unit.
    pub(super) fn divisor(self) -> f64 {
        if self.is_us() { 1000.0 } else { 1.0 }
    }

    /// Returns a sample's figure as that of one operation.
    pub(super) fn value(self, point: &Point, figure: u64) -> f64 {
        FigureKey::of(point).per_operation(self.clock, figure) / self.divisor()
    }

    fn text(self, point: &Point, figure: u64) -> String {
        let is_whole = match self.unit {
            Unit::Microseconds | Unit::Count => true,
            Unit::Ticks if self.clock.is_known() => false,
            Unit::Ticks | Unit::Cycles => point.per <= 1,
        };
        let digits = if is_whole { 0 } else { 2 };
        format!("{:.digits$}", self.value(point, figure))
    }
}
