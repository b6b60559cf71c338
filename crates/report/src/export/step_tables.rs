//! The tables for scenarios outside the TFTF suite: one for each metric and CPU count, with a row
//! for each CPU, `x` and variant.

use suite::measure::Metric;
use suite::model::{CellSeries, FigureScale, Scenario};
use suite::output::{ABSENT, LAST_OFFSET, Table, text_or_absent};

use super::table::{statistics, statistics_columns};
use crate::analysis::figure::{FigureKey, HISTOGRAM_BOUND_NOTE, axis_heading, axis_text};
use crate::log::LoggedRun;
use crate::log::grouped::grouped;

pub(super) fn step_tables(logged: &LoggedRun, scenario: &Scenario) -> Vec<Table> {
    // The last offset is in the same row as the first one.
    let all_series = scenario
        .step_series()
        .filter(|shown| shown.series.metric != Metric::LastOffset);
    by_metric(all_series)
        .into_iter()
        .filter_map(|group| table(logged, scenario, &group))
        .collect()
}

/// Groups series by metric and CPU count. No group is empty.
pub(super) fn by_metric<'r>(
    all_series: impl Iterator<Item = CellSeries<'r>>,
) -> Vec<Vec<CellSeries<'r>>> {
    let keyed = all_series.map(|series| {
        let key = (series.series.metric, series.cell.step.cpus);
        (key, series)
    });
    grouped(keyed).into_iter().map(|(_, group)| group).collect()
}

/// Returns the table of the series in a group.
fn table(logged: &LoggedRun, scenario: &Scenario, group: &[CellSeries<'_>]) -> Option<Table> {
    let id = scenario.id;
    let first = *group.first()?;
    let scale = FigureScale::of_series(logged.clock(), first);
    let metric = match first.series.metric {
        Metric::Time | Metric::Cycles => String::new(),
        metric => format!(": {}", metric.heading()),
    };
    let name = id.name();
    let how = first.cell.step.cpus.text();
    let is_histogram_bound = FigureKey::of(first).is_histogram_bound();
    let classes = if is_histogram_bound {
        HISTOGRAM_BOUND_NOTE
    } else {
        ""
    };
    let title = format!("{name}{metric}, {how} ({}{classes})", scale.heading());
    let mut table = Table::of_cpus(title);
    table.optional_numbers(&[axis_heading(id)], ABSENT);
    let last_offset = |shown: &CellSeries<'_>| shown.cell.figure(Metric::LastOffset);
    table.optional_numbers(&[LAST_OFFSET], ABSENT);
    table.words(["Variant"]);
    table.end_names();
    statistics_columns(&mut table);
    table.optional_numbers(&[id.descriptor().not_counted.heading()], "0");
    for shown in group {
        let CellSeries { cell, series } = shown;
        let value = text_or_absent(cell.step.value.map(|value| axis_text(id, value)));
        let last = text_or_absent(last_offset(shown));
        let mut entries = vec![value, last, cell.variant_word().to_owned()];
        entries.extend(statistics(Some(&series.summary), |figure| {
            scale.text(figure)
        }));
        if last_offset(shown).is_some() {
            // The latency depends on the offset, so its spread within an interval has no meaning.
            entries.pop();
            entries.push(ABSENT.to_owned());
        }
        entries.push(cell.not_counted(series.metric).to_string());
        table.cpu_row(&logged.run, cell.cpu, entries);
    }
    table.finished()
}
