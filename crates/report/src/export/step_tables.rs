//! The tables for scenarios outside the TFTF suite: one for each metric and CPU count, with a row
//! for each CPU, `x` and variant.

use suite::measure::Metric;
use suite::model::{CellSeries, FigureScale, Scenario};

use super::table::{statistics, statistics_columns};
use crate::analysis::figure::{FigureKey, OF_CLASSES, x_heading, x_text};
use crate::log::LoggedRun;
use crate::log::grouped::grouped;
use suite::output::{Table, text_or_absent};

pub(super) fn step_tables(run: &LoggedRun, scenario: &Scenario) -> Vec<Table> {
    let each = by_metric(scenario.step_series()).into_iter();
    each.filter_map(|all| table(run, scenario, &all)).collect()
}

/// Groups series by metric and CPU count. No group is empty.
pub(super) fn by_metric<'r>(all: impl Iterator<Item = CellSeries<'r>>) -> Vec<Vec<CellSeries<'r>>> {
    let all = grouped(all.map(|it| ((it.series.metric, it.cell.step.cpus), it)));
    all.into_iter().map(|it| it.1).collect()
}

fn table(run: &LoggedRun, scenario: &Scenario, all: &[CellSeries<'_>]) -> Option<Table> {
    let (id, first) = (scenario.id, *all.first()?);
    let scale = FigureScale::of_series(run.clock(), first);
    let metric = first.series.metric;
    let metric = if matches!(metric, Metric::Time | Metric::Cycles) {
        String::new()
    } else {
        format!(": {}", metric.heading())
    };
    let (name, how) = (id.name(), first.cell.step.cpus.text());
    let is_histogram_bound = FigureKey::of(first).is_histogram_bound();
    let classes = if is_histogram_bound { OF_CLASSES } else { "" };
    let title = format!("{name}{metric}, {how} ({}{classes})", scale.heading());
    let mut table = Table::of_cpus(title);
    table.optional_numbers(&[x_heading(id)], "n/a");
    table.words(["Variant"]);
    statistics_columns(&mut table);
    table.optional_numbers(&[id.descriptor().not_counted.heading()], "0");
    for CellSeries { cell: own, series } in all {
        let x = text_or_absent(own.step.value.map(|x| x_text(id, x)));
        let mut cells = vec![x, own.variant_word().to_owned()];
        cells.extend(statistics(Some(&series.summary), |it| scale.text(it)));
        cells.push(own.not_counted(series.metric).to_string());
        table.cpu_row(&run.run, own.cpu, cells);
    }
    table.finished()
}
