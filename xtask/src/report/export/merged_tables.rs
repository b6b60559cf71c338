//! The tables of several runs of one board.

use super::scenario_document::mark;
use super::table::{Table, statistics, statistics_headings};
use crate::report::analysis::merge::{Merged, MergedFigure, MergedScenario, Shown};
use crate::report::log::LoggedRun;

/// Returns the tables of all scenarios: those of rows, and those of points.
pub(super) fn merged_tables(run: &LoggedRun, merged: &Merged) -> Vec<Table> {
    let runs = merged.sources.len();
    let of_rows = merged.scenarios.iter();
    let of_rows = of_rows.filter_map(|it| row_table(run, it, runs));
    let of_points = merged.scenarios.iter();
    let of_points = of_points.filter_map(|it| point_table(run, it, runs));
    of_rows.chain(of_points).collect()
}

fn figures(scenario: &MergedScenario, is_of_points: bool) -> Vec<&MergedFigure> {
    let all = scenario.figures.iter();
    all.filter(|it| it.key.is_point() == is_of_points).collect()
}

fn run_headings(runs: usize) -> impl Iterator<Item = String> {
    (1..=runs).map(|place| format!("Run {place}"))
}

fn row_table(run: &LoggedRun, scenario: &MergedScenario, runs: usize) -> Option<Table> {
    let figures = figures(scenario, false);
    figures.first()?;
    let (name, method) = (scenario.key.id.name(), scenario.key.method.word());
    let title = format!("{name}, method {method}: {runs} runs ({})", run.unit());
    let mut table = Table::of_cpus(title, &run.run);
    table.words(["Figure"]);
    table.numbers(run_headings(runs));
    let mut pooled = figures.iter().filter_map(|it| it.pooled).peekable();
    let is_pooled = pooled.peek().is_some();
    let has_p99 = pooled.any(|it| it.p99.is_some());
    let headings: Vec<&str> = statistics_headings(has_p99).filter(|_| is_pooled).collect();
    table.numbers(headings.iter().copied());
    for figure in figures {
        let mut cells = vec![figure.key.heading().to_owned()];
        let text = |it: &Shown| format!("{}{}", run.duration(it.figure), mark(it.is_doubtful));
        cells.extend(figure.shown.iter().map(|it| or_none(it.as_ref().map(text))));
        cells.extend(match &figure.pooled {
            Some(summary) => statistics(summary, has_p99, |it| run.duration(it)),
            None => vec!["n/a".to_owned(); headings.len()],
        });
        table.cpu_row(&run.run, figure.cpu, cells);
    }
    Some(table)
}

fn or_none(cell: Option<String>) -> String {
    cell.unwrap_or_else(|| "n/a".to_owned())
}

/// Returns the medians of points, those of one operation.
fn point_table(run: &LoggedRun, scenario: &MergedScenario, runs: usize) -> Option<Table> {
    let figures = figures(scenario, true);
    figures.first()?;
    let id = scenario.key.id;
    let title = format!("{}: medians of {runs} runs", id.name());
    let mut table = Table::of_cpus(title, &run.run);
    let cells_of = table.of_keys(id, figures.iter().map(|it| it.key));
    table.numbers(run_headings(runs));
    table.words(["Unit"]);
    for figure in &figures {
        let median = |it: &Shown| {
            let each = figure.key.per_operation(run.clock(), it.figure);
            format!("{each:.2}")
        };
        let medians = figure.shown.iter();
        let medians = medians.map(|it| or_none(it.as_ref().map(median)));
        let mut cells = cells_of(figure.key);
        cells.extend(medians);
        cells.push(figure.key.unit_name(run.clock()).to_owned());
        table.cpu_row(&run.run, figure.cpu, cells);
    }
    Some(table)
}
