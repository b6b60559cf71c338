//! The tables of points: one for each figure and number of CPUs, with a row for
//! each CPU, `x` and variant.

use hardware::spec::ticks::Clock;
use run::measure::Metric;
use run::model::{Point, Scenario};
use suite::output::{PointScale, not_counted};

use super::table::{Table, cell, statistics};
use crate::analysis::figure::{FigureKey, OF_CLASSES, x_heading, x_text};
use crate::log::LoggedRun;
use crate::log::grouped::grouped;

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
    let scale = PointScale::of(run.clock(), first);
    let measure = match first.measure {
        Metric::Time | Metric::Cycles => String::new(),
        other => format!(": {}", other.heading()),
    };
    let (name, how) = (id.name(), first.how.text());
    let is_of_classes = FigureKey::of(first).is_of_classes();
    let classes = if is_of_classes { OF_CLASSES } else { "" };
    let title = format!("{name}{measure}, {how} ({}{classes})", scale.heading());
    let mut table = Table::of_cpus(title);
    table.optional_numbers(&[x_heading(id)], "n/a");
    table.words(["Variant"]);
    table.statistics();
    table.optional_numbers(&[not_counted(id)], "0");
    for point in points {
        let x = cell(point.x.map(|x| x_text(id, x)));
        let mut cells = vec![x, point.variant.word().to_owned()];
        cells.extend(statistics(Some(&point.figures), |it| scale.text(it)));
        cells.push(point.lost.to_string());
        table.cpu_row(&run.run, point.cpu, cells);
    }
    table.finished()
}

/// The unit in which drawings have the figures of one operation: that of tables.
#[derive(Clone, Copy)]
pub(super) struct DrawnScale {
    clock: Clock,
    pub(super) name: &'static str,
    /// The factor from [`FigureKey::per_operation`] to this unit.
    pub(super) divisor: f64,
}

impl DrawnScale {
    pub(super) fn of(clock: Clock, point: &Point) -> Self {
        let name = PointScale::of(clock, point).name();
        let is_of_ns = FigureKey::of(point).unit_name(clock) == "ns" && name == "us";
        let divisor = if is_of_ns { 1000.0 } else { 1.0 };
        Self {
            clock,
            name,
            divisor,
        }
    }

    /// Returns a sample's figure as that of one operation.
    pub(super) fn value(self, point: &Point, figure: u64) -> f64 {
        FigureKey::of(point).per_operation(self.clock, figure) / self.divisor
    }
}
