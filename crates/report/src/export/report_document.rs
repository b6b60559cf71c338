//! Converts a report to blocks, in reading order.

use suite::model::Verdict;
use suite::output::summary_table;

use super::boot_document::boot;
use super::comparison_document;
use super::document::{Block, Folded, Headline, Tone};
use super::drawing::overview_chart;
use super::history_document::history;
use super::method::method;
use super::report_data::Report;
use super::scenario_document::{heading, scenario};
use super::warnings::warnings;
use crate::analysis::compare::Comparison;
use crate::analysis::findings::explanations;
use crate::log::LoggedRun;

/// Returns the blocks, built lazily. A run's blocks are built only after those of the earlier runs
/// have been written.
pub(super) fn document<'r>(report: &'r Report) -> Box<dyn Iterator<Item = Block<'r>> + 'r> {
    if let Some(releases) = &report.history {
        return Box::new(history(releases, &report.runs).into_iter());
    }
    if report.comparisons.is_empty() {
        return Box::new((0..report.runs.len()).flat_map(|index| run_document(report, index)));
    }
    let comparisons = (1..)
        .zip(&report.comparisons)
        .flat_map(|(number, comparison)| comparison_blocks(report, number, comparison));
    let runs = (0..report.runs.len()).flat_map(|index| compared_run(report, index));
    Box::new(comparisons.chain(runs))
}

/// Returns the blocks of the run at `index`: the result, the figures, and then the conditions.
fn run_document(report: &Report, index: usize) -> Vec<Block<'_>> {
    let logged = &report.runs[index];
    let title = format!("{} of {}", subject(logged), name(report, index));
    let mut blocks = vec![Block::Title(title)];
    blocks.extend(headline(logged).map(Block::Headline));
    blocks.extend(warnings(logged).into_iter().map(Block::Warning));
    blocks.extend(summary_table(&logged.run).map(Block::Table));
    let overview = overview_chart(logged, format!("run{}-overview", index + 1));
    blocks.push(Block::Drawings(overview.into_iter().collect()));
    for (number, measured) in (1..).zip(&logged.run.scenarios) {
        let id = format!("run{}-t{number}", index + 1);
        blocks.extend(scenario(logged, measured, heading(logged, measured, id)));
    }
    let sentences = explanations(logged)
        .into_iter()
        .map(|explanation| explanation.finding.sentence);
    blocks.extend(Block::explanations(sentences.collect()));
    blocks.extend(boot(logged, format!("run{}-boot", index + 1)));
    let conditions = Folded {
        summary: "Conditions of the run".to_owned(),
        is_essential: true,
    };
    blocks.extend(Block::folded(
        conditions,
        vec![Block::Definitions(method(logged))],
    ));
    blocks
}

/// Returns the run's verdict; None for published tables and complete TFTF logs, which have none.
fn headline(logged: &LoggedRun) -> Option<Headline> {
    if logged.why_no_run.is_some() {
        return Some(Headline {
            text: "No run".to_owned(),
            tone: Tone::Bad,
        });
    }
    let verdict = logged.verdict();
    let is_complete = logged.is_complete();
    if verdict.is_none() && is_complete {
        return None;
    }
    let incomplete = if is_complete { "" } else { "INCOMPLETE log: " };
    let not_counted = match &logged.run.end {
        Some(end) if end.totals.rejected > 0 => format!("; {}", end.totals.not_counted_text()),
        _ => String::new(),
    };
    let is_good = verdict == Some(Verdict::Pass) && is_complete;
    Some(Headline {
        text: format!("{incomplete}{}{not_counted}", logged.verdict_text()),
        tone: if is_good { Tone::Good } else { Tone::Bad },
    })
}

/// Returns the blocks of a run that has been compared, which are folded.
fn compared_run(report: &Report, index: usize) -> Vec<Block<'_>> {
    let blocks = run_document(report, index);
    if report.is_full {
        return blocks;
    }
    let folded = Folded {
        summary: format!("The run: {}", report.runs[index].source.text()),
        is_essential: false,
    };
    Block::folded(folded, blocks).collect()
}

fn comparison_blocks<'r>(
    report: &'r Report,
    number: usize,
    comparison: &Comparison,
) -> Vec<Block<'r>> {
    let run = name(report, comparison.run);
    let baseline = &comparison.baseline.source.input;
    let title = format!("Comparison of {run} with {baseline}");
    let mut blocks = vec![Block::Title(title)];
    let logged = &report.runs[comparison.run];
    let chart_id = format!("changes{number}");
    blocks.extend(comparison_document::comparison(
        logged,
        comparison,
        chart_id,
        report.is_full,
    ));
    blocks
}

/// Returns what a report on a log is about, for its title.
pub(super) fn subject(logged: &LoggedRun) -> &'static str {
    if logged.why_no_run.is_some() {
        "Boot"
    } else {
        "PSCI latencies"
    }
}

/// Returns the name of a run's board or, if the run does not name one, of its input. Titles include
/// this name, because titles must be unique in a document about several boards.
pub(super) fn board(logged: &LoggedRun) -> &str {
    let board = logged.board().filter(|board| !board.is_empty());
    board.unwrap_or(&logged.source.input)
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
