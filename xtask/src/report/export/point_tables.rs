//! The tables of points: one for each figure and number of CPUs, with a row for
//! each CPU, `x` and variant.

use psci_bench::model::{How, Measure, Point, Scenario, Unit};
use psci_bench::spec::ticks::Clock;

use super::table::{Table, cell, statistics};
use crate::report::analysis::figure::{FigureKey, OF_CLASSES, x_heading, x_text};
use crate::report::log::LoggedRun;
use crate::report::log::grouped::grouped;

/// Returns all tables of a scenario's points.
pub(super) fn point_tables(run: &LoggedRun, scenario: &Scenario) -> Vec<Table> {
    let each = by_measure(scenario.points.iter()).into_iter();
    each.filter_map(|points| table(run, scenario, &points))
        .collect()
}

/// Returns points by their measure and the number of CPUs; no list is empty.
pub(super) fn by_measure<'r>(points: impl Iterator<Item = &'r Point>) -> Vec<Vec<&'r Point>> {
    let all = grouped(points.map(|it| ((it.measure, it.how), it)));
    all.into_iter().map(|it| it.1).collect()
}

fn table(run: &LoggedRun, scenario: &Scenario, points: &[&Point]) -> Option<Table> {
    let (id, first) = (scenario.id, points.first()?);
    let scale = PointScale::of(run.clock(), points);
    let measure = match first.measure {
        Measure::Ticks | Measure::Cycles => String::new(),
        other => format!(": {}", other.heading()),
    };
    let (how, unit) = (how_text(first.how), scale.name);
    let per = if scale.is_batch { " per operation" } else { "" };
    let is_of_classes = FigureKey::of(first).is_of_classes();
    let classes = if is_of_classes { OF_CLASSES } else { "" };
    let title = format!("{}{measure}, {how} ({unit}{per}{classes})", id.name());
    let mut table = Table::of_cpus(title);
    table.optional_numbers([x_heading(id)], "n/a");
    table.words(["Variant"]);
    table.statistics();
    table.optional_numbers(["Lost"], "0");
    for point in points {
        let x = cell(point.x.map(|x| x_text(id, x)));
        let mut cells = vec![x, point.variant.word().to_owned()];
        cells.extend(statistics(Some(&point.figures), |it| scale.text(point, it)));
        cells.push(point.lost.to_string());
        table.cpu_row(&run.run, point.cpu, cells);
    }
    table.finished()
}

/// Returns the number of CPUs in words.
pub(super) const fn how_text(how: How) -> &'static str {
    match how {
        How::Alone => "one CPU alone",
        How::All => "all CPUs at once",
    }
}

/// The unit in which tables and drawings have the figures of one operation.
#[derive(Clone, Copy)]
pub(super) struct PointScale {
    clock: Clock,
    pub(super) name: &'static str,
    /// The factor from [`FigureKey::per_operation`] to this unit.
    pub(super) divisor: f64,
    digits: usize,
    /// True if samples are of several operations, which are short.
    is_batch: bool,
}

impl PointScale {
    pub(super) fn of(clock: Clock, points: &[&Point]) -> Self {
        let is_batch = points.iter().any(|it| it.per > 1);
        let unit = points.first().map_or(Unit::Ticks, |it| it.measure.unit());
        let digits_of_ticks = if is_batch { 2 } else { 0 };
        let (name, divisor, digits) = match unit {
            Unit::Cycles => ("cycles", 1.0, digits_of_ticks),
            Unit::Microseconds => ("us", 1.0, 0),
            Unit::Count => ("times", 1.0, 0),
            Unit::Ticks if !clock.is_known() => ("ticks", 1.0, digits_of_ticks),
            Unit::Ticks if is_batch => ("ns", 1.0, 2),
            Unit::Ticks => ("us", 1000.0, 2),
        };
        Self {
            clock,
            name,
            divisor,
            digits,
            is_batch,
        }
    }

    /// Returns a sample's figure as that of one operation.
    pub(super) fn value(self, point: &Point, figure: u64) -> f64 {
        FigureKey::of(point).per_operation(self.clock, figure) / self.divisor
    }

    pub(super) fn text(self, point: &Point, figure: u64) -> String {
        format!("{:.*}", self.digits, self.value(point, figure))
    }
}
