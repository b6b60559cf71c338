//! Converts a report to blocks, in reading order.

use hardware::text::plural::many;

use super::audit_document::audit;
use super::comparison_document::comparison;
use super::document::Block;
use super::history_document::history;
use super::idle_audit_document::idle_audits;
use super::method::method;
use super::report_data::Report;
use super::scenario_document::{heading, scenario};
use crate::analysis::compare::Comparison;
use crate::analysis::findings::explanations;
use crate::log::LoggedRun;

/// Returns the blocks, built lazily. A run's blocks are built only after those of the earlier runs
/// have been written.
pub(super) fn document<'r>(report: &'r Report) -> Box<dyn Iterator<Item = Block<'r>> + 'r> {
    if let Some(it) = &report.history {
        return Box::new(history(it, &report.runs).into_iter());
    }
    if report.is_idle_audit() {
        return Box::new(idle_audits(report).into_iter());
    }
    let runs = (0..report.runs.len()).flat_map(|place| run_document(report, place));
    let comparisons = report.comparisons.iter();
    let comparisons = comparisons.flat_map(|it| comparison_document(report, it));
    let audits = report.audits.iter().flat_map(audit);
    Box::new(runs.chain(comparisons).chain(audits))
}

fn run_document(report: &Report, place: usize) -> Vec<Block<'_>> {
    let run = &report.runs[place];
    let title = format!("PSCI latencies of {}", name(report, place));
    let mut all = vec![Block::Title(title)];
    all.extend(warnings(run).into_iter().map(Block::Warning));
    all.push(Block::Definitions(method(run)));
    let explained = explanations(run).into_iter().map(|it| it.finding.sentence);
    all.extend(Block::explanations(explained.collect()));
    let scenarios = (1..).zip(&run.run.scenarios);
    all.extend(scenarios.flat_map(|(number, it)| {
        let id = format!("run{}-t{number}", place + 1);
        scenario(run, it, heading(run, it, id))
    }));
    all
}

fn comparison_document<'r>(report: &'r Report, compared: &Comparison) -> Vec<Block<'r>> {
    let own = name(report, compared.run);
    let baseline = &compared.baseline.source.input;
    let title = format!("Comparison of {own} with {baseline}");
    let mut all = vec![Block::Title(title)];
    all.extend(comparison(&report.runs[compared.run], compared));
    all
}

/// Returns the name of a run's board or, if the run does not name one, of its input. Titles include
/// this name, because titles must be unique in a document about several boards.
pub(super) fn board(run: &LoggedRun) -> &str {
    run.board().unwrap_or(&run.source.input)
}

/// Returns the board of the run at index `place`, and the run number if there are several.
fn name(report: &Report, place: usize) -> String {
    let (board, count) = (board(&report.runs[place]), report.runs.len());
    match count {
        1 => board.to_owned(),
        _ => format!("{board}, run {} of {count}", place + 1),
    }
}

/// Returns the reasons to treat the figures with caution, as clauses.
pub(super) fn warnings(run: &LoggedRun) -> Vec<String> {
    let integrity = &run.integrity;
    let mut all = run.lacks();
    if integrity.guessed_cpus > 0 {
        all.push(format!(
            "made-up labels (65535.N) for {} whose record was lost",
            many(integrity.guessed_cpus as usize, "CPU")
        ));
    }
    all.extend(run.doubts());
    all
}
