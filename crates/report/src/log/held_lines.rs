//! Compares RT_INSTR lines with the records that contain the same figures.

use hardware::text::plural::many;
use suite::findings::list_first_few;
use suite::model::{Cell, Scenario};
use suite::output::RtInstrFigures;

use super::line_run::{LineRun, RowOfLine};
use super::logged_run::LoggedRun;

/// Identifies the CPU and the scenario for each line that contradicts the run's records. A line
/// cannot contradict a missing record.
pub(super) fn contradicted(lines: &LineRun, logged: &LoggedRun) -> Vec<String> {
    let scenarios = logged.suite_tables();
    let is_whole = logged.integrity.is_whole();
    let contradicts = |line: &RowOfLine| {
        let scenario = scenarios.iter().find(|scenario| scenario.id == line.id);
        let cells =
            scenario.map(|scenario| (scenario, cells_of_label(logged, scenario, line.label)));
        match cells {
            Some((scenario, cells)) if !cells.is_empty() => {
                let may_match = |cell: &&Cell| {
                    is_lost(logged, cell) || is_line_of(line, logged, scenario, cell)
                };
                !cells.iter().any(may_match)
            }
            _ => is_whole,
        }
    };
    let wrong = lines.rows().into_iter().filter(contradicts);
    wrong
        .map(|line| format!("CPU {}.{} in {}", line.label.0, line.label.1, line.id))
        .collect()
}

/// Returns the clause that lists contradicted lines.
pub(super) fn clause(wrong: &[String]) -> String {
    let lines = many(wrong.len(), "RT_INSTR line");
    format!(
        "the records contradict {lines}: {}",
        list_first_few(wrong.iter())
    )
}

/// Returns the cells whose lines show this cluster and core.
fn cells_of_label<'s>(
    logged: &LoggedRun,
    scenario: &'s Scenario,
    (cluster, core): (u16, u16),
) -> Vec<&'s Cell> {
    let has_label = |cell: &&Cell| {
        let cpu = logged.run.cpu(cell.cpu);
        cpu.cluster == cluster && logged.run.core_number(&cpu) == u64::from(core)
    };
    scenario.suite_cells().iter().filter(has_label).collect()
}

/// Returns true if a cell's figures are unknown, or cannot be converted to nanoseconds.
fn is_lost(logged: &LoggedRun, cell: &Cell) -> bool {
    cell.lacks_own_record() || logged.run.facts.is_none()
}

/// Returns true if TFTF would print `line` for a cell.
fn is_line_of(line: &RowOfLine, logged: &LoggedRun, scenario: &Scenario, cell: &Cell) -> bool {
    let figures = RtInstrFigures::from_cell(&logged.run, scenario, cell);
    let values = figures.map(|figures| match figures {
        RtInstrFigures::Latency(latency) => [Some(latency), None, None],
        RtInstrFigures::PowerDown(all) => all.map(Some),
    });
    values == Some(line.values)
}
