//! Tables that merge several runs from one board.

use hardware::text::plural::many;

use super::scenario_document::mark;
use super::table::{Table, cell, key_cells, statistics};
use crate::analysis::figure::OF_CLASSES;
use crate::analysis::merge::{Merged, MergedScenario, RunFigure};
use crate::log::LoggedRun;

/// Returns the tables for all scenarios, in the TFTF suite and outside it.
pub(super) fn merged_tables(run: &LoggedRun, merged: &Merged) -> impl Iterator<Item = Table> {
    let runs = merged.sources.len();
    [false, true].into_iter().flat_map(move |is_of_steps| {
        let all = merged.scenarios.iter();
        all.filter_map(move |it| table(run, it, is_of_steps, runs))
    })
}

/// Returns a table with the figures for the TFTF suite, or with per-operation medians for steps.
fn table(
    run: &LoggedRun,
    scenario: &MergedScenario,
    is_of_steps: bool,
    runs: usize,
) -> Option<Table> {
    let (id, method) = (scenario.key.id, scenario.key.method.word());
    let (name, count, unit) = (id.name(), many(runs, "run"), run.unit());
    let mut table = Table::of_cpus(match is_of_steps {
        true => {
            let mut figures = scenario.figures.iter();
            let is_of_classes = figures.any(|it| it.key.is_of_classes());
            let classes = if is_of_classes { OF_CLASSES } else { "" };
            format!("{name}: medians of {count}{classes}")
        }
        false => format!("{name}, method {method}: {count} ({unit})"),
    });
    table.keys(id);
    table.numbers((1..=runs).map(|place| format!("Run {place}")));
    table.statistics();
    table.optional_words(["Unit"]);
    let figures = scenario.figures.iter();
    for it in figures.filter(|it| it.key.is_of_step() == is_of_steps) {
        let text = |shown: &RunFigure| match is_of_steps {
            true => format!("{:.2}", it.key.per_operation(run.clock(), shown.figure)),
            false => run.duration(shown.figure) + mark(shown.is_doubtful),
        };
        let pooled = it.pooled.as_ref().filter(|_| !is_of_steps);
        let unit = it.key.unit_name(run.clock());
        let unit = if is_of_steps { unit } else { "" };
        let mut cells = key_cells(id, it.key);
        cells.extend(it.shown.iter().map(|shown| cell(shown.as_ref().map(text))));
        cells.extend(statistics(pooled, |ticks| run.duration(ticks)));
        cells.push(unit.to_owned());
        table.cpu_row(&run.run, it.cpu, cells);
    }
    table.finished()
}
