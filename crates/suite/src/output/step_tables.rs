//! Tables for scenarios outside TFTF's suite: one for each metric, on a single CPU and on all CPUs
//! at once, with one row for each CPU and step.

use alloc::format;
use alloc::string::ToString as _;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use hardware::text::prose::paragraph;

use crate::measure::Metric;
use crate::model::{CellSeries, FigureScale, Run, Scenario};
use crate::plan::{ActiveCpus, Axis};

use super::table::{ABSENT, Table, TableStyle, text_or_absent, write_table};

/// The heading of the last offset in an interval. The column follows that of the first one, whose
/// heading has the unit.
pub const LAST_OFFSET: &str = "Last";

/// Writes a scenario's tables and their explanation. Writes nothing for a scenario that is in
/// TFTF's suite or has no results.
pub(crate) fn write_step_tables(
    out: &mut dyn Write,
    run: &Run,
    scenario: &Scenario,
) -> fmt::Result {
    if scenario.id.is_suite() || scenario.cells.is_empty() {
        return Ok(());
    }
    // The last offset is in the same row as the first one.
    for metric in Metric::ALL
        .into_iter()
        .filter(|metric| *metric != Metric::LastOffset)
    {
        for active_cpus in ActiveCpus::ALL {
            let is_in_table = |cell_series: &CellSeries<'_>| {
                cell_series.series.metric == metric && cell_series.cell.step.cpus == active_cpus
            };
            let rows: Vec<_> = scenario.all_series().filter(is_in_table).collect();
            write_one(out, run, scenario, &rows)?;
        }
    }
    let explanation = scenario.id.descriptor().explanation;
    paragraph(out, "", 0, &explanation(run, scenario))?;
    out.write_char('\n')
}

/// Writes the table with these rows, or nothing if there are none.
fn write_one(
    out: &mut dyn Write,
    run: &Run,
    scenario: &Scenario,
    rows: &[CellSeries<'_>],
) -> fmt::Result {
    let Some(first) = rows.first() else {
        return Ok(());
    };
    let id = scenario.id;
    let scale = FigureScale::of_series(run.clock(), *first);
    let (metric, cpus) = (first.series.metric, first.cell.step.cpus.text());
    let (name, meaning) = (id.name(), metric.title());
    let mut table = Table::titled(format!("{name}{meaning}, {cpus} ({})", scale.heading()));
    table.words(["CPU", "Variant"]);
    table.numbers(id.axis().map(Axis::heading));
    let last_offset = |row: &CellSeries<'_>| row.cell.figure(Metric::LastOffset);
    let has_last = rows.iter().any(|row| last_offset(row).is_some());
    table.numbers(has_last.then_some(LAST_OFFSET));
    table.end_names();
    table.numbers(["n", "Min", "Median"]);
    // If no step has a p99, all rows are empty.
    let has_p99 = rows.iter().any(|row| row.series.summary.p99.is_some());
    table.numbers(has_p99.then_some("p99"));
    table.numbers(["Max"]);
    table.optional_numbers(&[id.descriptor().not_counted.heading()], "0");
    for shown in rows {
        let CellSeries { cell, series } = shown;
        let summary = &series.summary;
        let entry = |figure: Option<u64>| match figure {
            Some(figure) if summary.n > 0 => scale.text(figure),
            _ => ABSENT.into(),
        };
        let mut row = vec![run.label(cell.cpu).to_string(), cell.variant_word().into()];
        if let Some(axis) = id.axis() {
            row.push(text_or_absent(
                cell.step.value.map(|value| axis.text(value)),
            ));
        }
        row.extend(has_last.then(|| text_or_absent(last_offset(shown))));
        row.push(summary.n.to_string());
        row.push(entry(Some(summary.min)));
        row.push(entry(Some(summary.median)));
        row.extend(has_p99.then(|| entry(summary.p99)));
        row.push(entry(Some(summary.max)));
        row.push(cell.not_counted(series.metric).to_string());
        table.rows.push(row);
    }
    write_table(out, table, &TableStyle::SIMPLE)
}
