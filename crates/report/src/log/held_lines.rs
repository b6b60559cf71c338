//! Compares RT_INSTR lines with the records that contain the same figures.

use hardware::text::plural::many;
use itertools::Itertools as _;
use suite::model::{Cell, Scenario};
use suite::output::RtInstrFigures;

use super::integrity::NAMED_MAX;
use super::line_run::{LineRun, RowOfLine};
use super::logged_run::LoggedRun;

/// Identifies the CPU and the scenario for each line that contradicts the run's records. A line
/// cannot contradict a missing record.
pub(super) fn contradicted(lines: &LineRun, logged: &LoggedRun) -> Vec<String> {
    let framed = logged.suite_tables();
    let is_whole = logged.integrity.is_whole();
    let contradicts = |line: &RowOfLine| {
        let scenario = framed.iter().find(|it| it.id == line.id);
        let cells =
            scenario.map(|scenario| (scenario, cells_of_label(logged, scenario, line.label)));
        match cells {
            Some((scenario, cells)) if !cells.is_empty() => {
                let is_held =
                    |cell: &&Cell| is_lost(logged, cell) || is_of(line, logged, scenario, cell);
                !cells.iter().any(is_held)
            }
            _ => is_whole,
        }
    };
    let wrong = lines.rows().filter(contradicts);
    let named = wrong.map(|it| format!("CPU {}.{} in {}", it.label.0, it.label.1, it.id));
    named.collect()
}

/// Returns the clause that lists contradicted lines.
pub(super) fn clause(wrong: &[String]) -> String {
    let lines = many(wrong.len(), "RT_INSTR line");
    let named = wrong.iter().take(NAMED_MAX).format(", ");
    let more = match wrong.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("the records contradict {lines}: {named}{more}")
}

/// Returns the cells whose lines show this cluster and core.
fn cells_of_label<'s>(
    logged: &LoggedRun,
    scenario: &'s Scenario,
    (cluster, core): (u16, u16),
) -> Vec<&'s Cell> {
    let is_it = |cell: &&Cell| {
        let cpu = logged.run.cpu(cell.cpu);
        cpu.cluster == cluster && logged.run.core_number(&cpu) == u64::from(core)
    };
    scenario.suite_cells().iter().filter(is_it).collect()
}

/// Returns true if a cell's figures are unknown, or cannot be converted to nanoseconds.
fn is_lost(logged: &LoggedRun, cell: &Cell) -> bool {
    cell.lacks_own_record() || logged.run.facts.is_none()
}

fn is_of(line: &RowOfLine, logged: &LoggedRun, scenario: &Scenario, cell: &Cell) -> bool {
    let figures = RtInstrFigures::from_cell(&logged.run, scenario, cell);
    let values = figures.map(|figures| match figures {
        RtInstrFigures::Latency(latency) => [Some(latency), None, None],
        RtInstrFigures::PowerDown(all) => all.map(Some),
    });
    values == Some(line.values)
}
