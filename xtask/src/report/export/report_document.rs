//! A report in the order of reading.

use super::comparison_document::comparison;
use super::document::Block;
use super::matrix_document::matrix;
use super::merged_tables::merged_tables;
use super::method::method;
use super::report_data::Report;
use super::scenario_document::{heading, scenario};
use crate::report::log::LoggedRun;
use crate::setup::plural::many;

/// Returns the blocks of a report.
pub(super) fn document(report: &Report) -> Vec<Block<'_>> {
    if let Some(several) = &report.matrix {
        return matrix(several, &report.runs);
    }
    let mut all = Vec::new();
    for (place, run) in (1..).zip(&report.runs) {
        let board = run.board().unwrap_or("a board without a name");
        all.push(Block::Title(format!("PSCI latencies of {board}")));
        if report.runs.len() > 1 {
            let text = format!("Run {place} of {}.", report.runs.len());
            all.push(Block::Paragraph(text));
        }
        all.extend(warnings(run).into_iter().map(Block::Warning));
        all.push(Block::Definitions(method(run)));
        let scenarios = (1..).zip(&run.run.scenarios);
        let headings =
            scenarios.map(|(number, it)| heading(run, it, format!("run{place}-t{number}")));
        let headings: Vec<_> = headings.collect();
        all.push(Block::Links(headings.clone()));
        for (own, heading) in run.run.scenarios.iter().zip(headings) {
            all.extend(scenario(run, own, heading));
        }
    }
    if let (Some(merged), [run, ..]) = (&report.merged, report.runs.as_slice()) {
        let title = format!("{} runs of one board", merged.sources.len());
        all.push(Block::Title(title));
        all.extend(merged_tables(run, merged).map(Block::Table));
    }
    for it in &report.comparisons {
        let run = report.runs.get(it.run);
        all.extend(run.into_iter().flat_map(|run| comparison(run, it)));
    }
    all
}

/// Returns the reasons to read figures with care, a clause each.
pub(super) fn warnings(run: &LoggedRun) -> Vec<String> {
    let integrity = &run.integrity;
    let mut all = run.lacks();
    if integrity.unverified_rows > 0 && integrity.records.is_some() {
        all.push(format!(
            "{} from RT_INSTR lines, which have no checksum; marked with ?",
            many(integrity.unverified_rows as usize, "row")
        ));
    }
    if integrity.guessed_cpus > 0 && !integrity.tables && integrity.records.is_some() {
        all.push(format!(
            "labels of {} guessed of the MPIDR: the record was lost",
            many(integrity.guessed_cpus as usize, "CPU")
        ));
    }
    all.extend(run.doubts());
    all
}
