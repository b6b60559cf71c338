//! A report in the order of reading.

use hardware::text::plural::many;

use super::audit_document::audit;
use super::comparison_document::comparison;
use super::document::Block;
use super::matrix_document::matrix;
use super::merged_tables::merged_tables;
use super::method::method;
use super::report_data::Report;
use super::scenario_document::{heading, scenario};
use crate::log::LoggedRun;

pub(super) fn document(report: &Report) -> Vec<Block<'_>> {
    if let Some(several) = &report.matrix {
        return matrix(several, &report.runs);
    }
    let mut all = Vec::new();
    for (place, run) in report.runs.iter().enumerate() {
        let title = format!("PSCI latencies of {}", name(report, place));
        all.push(Block::Title(title));
        all.extend(warnings(run).into_iter().map(Block::Warning));
        all.push(Block::Definitions(method(run)));
        let scenarios = (1..).zip(&run.run.scenarios);
        all.extend(scenarios.flat_map(|(number, it)| {
            let id = format!("run{}-t{number}", place + 1);
            scenario(run, it, heading(run, it, id))
        }));
    }
    if let (Some(merged), [run, ..]) = (&report.merged, report.runs.as_slice()) {
        let (runs, board) = (many(merged.sources.len(), "run"), board(run));
        all.push(Block::Title(format!("{runs} of {board}")));
        all.extend(merged_tables(run, merged).map(Block::Table));
    }
    for it in &report.comparisons {
        let (own, baseline) = (name(report, it.run), &it.baseline.source.input);
        all.push(Block::Title(format!("Comparison of {own} with {baseline}")));
        all.extend(comparison(&report.runs[it.run], it));
    }
    all.extend(report.audits.iter().flat_map(audit));
    all
}

/// Returns the name of a run's board, or of its input if it does not name the board. Titles
/// have it, as documentation of several boards can have each title once.
pub(super) fn board(run: &LoggedRun) -> &str {
    run.board().unwrap_or(&run.source.input)
}

/// Returns the board of the run at `place`, and which of several runs it is.
fn name(report: &Report, place: usize) -> String {
    let (board, count) = (board(&report.runs[place]), report.runs.len());
    match count {
        1 => board.to_owned(),
        _ => format!("{board}, run {} of {count}", place + 1),
    }
}

/// Returns the reasons to read figures with care, a clause each.
pub(super) fn warnings(run: &LoggedRun) -> Vec<String> {
    let integrity = &run.integrity;
    let mut all = run.lacks();
    if integrity.guessed_cpus > 0 {
        all.push(format!(
            "labels of {} made up (65535.N): the record was lost",
            many(integrity.guessed_cpus as usize, "CPU")
        ));
    }
    all.extend(run.doubts());
    all
}
