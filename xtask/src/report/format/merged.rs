//! What several runs of one board tell people together.

use super::super::merge::{Merged, MergedRow};
use super::super::model::{Run, Term, heading};
use super::content::{cpu_cells, cpu_columns, statistics};
use super::table::Table;

/// The tables of several runs of one board.
pub(super) fn tables(run: &Run, merged: &Merged) -> Vec<Table> {
    let tables = merged.tests.iter().filter(|test| !test.rows.is_empty());
    tables
        .map(|test| {
            let name = match &test.scenario {
                Term::Known(id) => id.name(),
                Term::Other(tag) => tag,
            };
            let runs = merged.sources.len();
            let mut table = Table::titled(format!(
                "{name}, method {}: {runs} runs ({})",
                test.method,
                run.unit()
            ));
            cpu_columns(run, &mut table);
            table.words("Figure");
            for place in 1..=runs {
                table.numbers(format!("Run {place}"));
            }
            let pooled = test.rows.iter().any(|row| row.pooled.is_some());
            let p99 = test
                .rows
                .iter()
                .filter_map(|row| row.pooled)
                .any(|it| it.p99.is_some());
            if pooled {
                table.numbers("n");
                for name in ["Min", "Median", "p99", "Max", "MAD"] {
                    if name != "p99" || p99 {
                        table.numbers(name);
                    }
                }
            }
            let cells = |row: &MergedRow| merged_cells(run, row, pooled, p99);
            table.rows = test.rows.iter().map(cells).collect();
            table
        })
        .collect()
}

fn merged_cells(run: &Run, row: &MergedRow, pooled: bool, p99: bool) -> Vec<String> {
    let mut cells = cpu_cells(run, row.cpu);
    cells.push(heading(&row.metric).to_owned());
    let shown = |ticks: &Option<u64>| ticks.map_or("n/a".into(), |ticks| run.shown(ticks));
    cells.extend(row.shown.iter().map(shown));
    match &row.pooled {
        Some(summary) => {
            cells.push(summary.n.to_string());
            cells.extend(statistics(run, summary, p99));
        }
        None if pooled => cells.extend(vec!["n/a".to_owned(); if p99 { 6 } else { 5 }]),
        None => {}
    }
    cells
}
