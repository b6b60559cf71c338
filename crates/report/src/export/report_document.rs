//! Converts a report to blocks, in reading order.

use hardware::text::plural::many;

use super::comparison_document;
use super::document::Block;
use super::history_document::history;
use super::method::method;
use super::report_data::Report;
use super::scenario_document::{heading, scenario};
use crate::analysis::compare::Comparison;
use crate::analysis::findings::explanations;
use crate::log::LoggedRun;

/// Returns the blocks, built lazily. A run's blocks are built only after those of the earlier runs
/// have been written.
pub(super) fn document<'r>(report: &'r Report) -> Box<dyn Iterator<Item = Block<'r>> + 'r> {
    if let Some(releases) = &report.history {
        return Box::new(history(releases, &report.runs).into_iter());
    }
    let runs = (0..report.runs.len()).flat_map(|index| run_document(report, index));
    let comparisons = report
        .comparisons
        .iter()
        .flat_map(|comparison| comparison_blocks(report, comparison));
    Box::new(runs.chain(comparisons))
}

/// Returns the blocks of the run at `index`.
fn run_document(report: &Report, index: usize) -> Vec<Block<'_>> {
    let logged = &report.runs[index];
    let title = format!("PSCI latencies of {}", name(report, index));
    let mut blocks = vec![Block::Title(title)];
    blocks.extend(warnings(logged).into_iter().map(Block::Warning));
    blocks.push(Block::Definitions(method(logged)));
    let sentences = explanations(logged)
        .into_iter()
        .map(|explanation| explanation.finding.sentence);
    blocks.extend(Block::explanations(sentences.collect()));
    for (number, measured) in (1..).zip(&logged.run.scenarios) {
        let id = format!("run{}-t{number}", index + 1);
        blocks.extend(scenario(logged, measured, heading(logged, measured, id)));
    }
    blocks
}

fn comparison_blocks<'r>(report: &'r Report, comparison: &Comparison) -> Vec<Block<'r>> {
    let run = name(report, comparison.run);
    let baseline = &comparison.baseline.source.input;
    let title = format!("Comparison of {run} with {baseline}");
    let mut blocks = vec![Block::Title(title)];
    let logged = &report.runs[comparison.run];
    blocks.extend(comparison_document::comparison(logged, comparison));
    blocks
}

/// Returns the name of a run's board or, if the run does not name one, of its input. Titles include
/// this name, because titles must be unique in a document about several boards.
pub(super) fn board(logged: &LoggedRun) -> &str {
    logged.board().unwrap_or(&logged.source.input)
}

/// Returns the board of the run at `index`, and the run number if there are several.
fn name(report: &Report, index: usize) -> String {
    let board = board(&report.runs[index]);
    let count = report.runs.len();
    if count == 1 {
        board.to_owned()
    } else {
        format!("{board}, run {} of {count}", index + 1)
    }
}

/// Returns the reasons to treat the figures with caution, as clauses.
pub(super) fn warnings(logged: &LoggedRun) -> Vec<String> {
    let integrity = &logged.integrity;
    let mut clauses = logged.lacks();
    if integrity.guessed_cpus > 0 {
        clauses.push(format!(
            "made-up labels (65535.N) for {} whose record was lost",
            many(integrity.guessed_cpus as usize, "CPU")
        ));
    }
    clauses.extend(logged.doubts());
    clauses
}
