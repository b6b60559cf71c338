//! What several runs of one board tell people together.

use psci_bench::measure::Summary;

use super::content::{mark, statistics};
use super::table::{Table, cpu_cells, cpu_columns};
use crate::report::analysis::merge::{Merged, MergedPoint, MergedRow, MergedTest};
use crate::report::model::{Run, Term, Test, heading, measure_heading};

/// The tables of several runs of one board.
pub(super) fn tables(run: &Run, merged: &Merged) -> Vec<Table> {
    let tables = merged.tests.iter().filter(|test| !test.rows.is_empty());
    let points = merged
        .tests
        .iter()
        .filter_map(|test| points(run, merged, test));
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
        .chain(points)
        .collect()
}

/// The medians of a scenario's points, those of one operation.
fn points(run: &Run, merged: &Merged, test: &MergedTest) -> Option<Table> {
    let first = test.points.first()?;
    let name = Test::new(test.scenario.clone(), test.method.clone());
    let runs = merged.sources.len();
    let mut table = Table::titled(format!("{}: medians of {runs} runs", name.name()));
    cpu_columns(run, &mut table);
    let has_x = test.points.iter().any(|it| it.point.x.is_some());
    if has_x {
        table.numbers(name.x_heading());
    }
    for heading in ["On", "Variant", "Figure"] {
        table.words(heading);
    }
    for place in 1..=first.shown.len() {
        table.numbers(format!("Run {place}"));
    }
    table.words("Unit");
    for MergedPoint { point, shown } in &test.points {
        let mut cells = cpu_cells(run, point.cpu);
        if has_x {
            cells.push(point.x.map_or("n/a".to_owned(), |x| name.x_shown(x)));
        }
        let (how, variant) = (point.how.word().to_owned(), point.variant.clone());
        cells.extend([how, variant, measure_heading(&point.metric).to_owned()]);
        let median = |it: &Option<Summary>| match it {
            Some(it) => format!("{:.2}", point.each(run, it.median)),
            None => "n/a".to_owned(),
        };
        cells.extend(shown.iter().map(median));
        cells.push(point.unit_name(run).to_owned());
        table.rows.push(cells);
    }
    Some(table)
}

fn merged_cells(run: &Run, row: &MergedRow, pooled: bool, p99: bool) -> Vec<String> {
    let mut cells = cpu_cells(run, row.cpu);
    cells.push(heading(&row.metric).to_owned());
    let shown = |(ticks, doubtful): (&Option<u64>, &bool)| match ticks {
        Some(ticks) => format!("{}{}", run.shown(*ticks), mark(*doubtful)),
        None => "n/a".to_owned(),
    };
    cells.extend(row.shown.iter().zip(&row.doubtful).map(shown));
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
