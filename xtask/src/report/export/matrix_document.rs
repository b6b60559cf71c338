//! Jobs and their runs side by side, in the order of reading.

use super::document::{Block, Remark};
use super::table::Table;
use crate::report::jobs::Ending;
use crate::report::jobs::matrix::{Board, Matrix, SideBySide};
use crate::report::jobs::outcome::Outcome;
use crate::report::log::LoggedRun;

/// Returns the blocks of a matrix, the jobs' first.
pub(super) fn matrix<'r>(matrix: &Matrix, runs: &[LoggedRun]) -> Vec<Block<'r>> {
    let title = "PSCI latencies by board and firmware".to_owned();
    let mut all = vec![Block::Title(title), Block::Table(jobs(matrix))];
    for board in &matrix.boards {
        all.push(Block::Table(columns(board, runs)));
        let tables = board.tests.iter().map(|test| figures(board, test, runs));
        all.extend(tables.map(Block::Table));
    }
    let remarks = remarks(matrix).into_iter().map(Remark::from);
    let remarks: Vec<Remark> = remarks.collect();
    if !remarks.is_empty() {
        all.push(Block::Remarks(remarks));
    }
    all
}

/// Returns notes and failures, a sentence for each job that has some.
fn remarks(matrix: &Matrix) -> Vec<String> {
    let mut all = [matrix.unread.clone(), matrix.notes.clone()].concat();
    for job in &matrix.jobs {
        all.extend(job.notes.iter().cloned());
        if job.outcome != Outcome::Passed || !job.said.is_empty() {
            let (key, outcome) = (&job.key, job.outcome.word());
            let mut text = format!("{}, {} ({}): {outcome}", key.board, key.firmware, job.name);
            if !job.said.is_empty() {
                text += &format!(": {}", job.said.join("; "));
            }
            all.push(text);
        }
    }
    let rows = matrix.boards.iter().flat_map(|board| &board.tests);
    let mut shown = rows.flat_map(|test| &test.rows).flat_map(|row| &row.shown);
    if shown.any(|shown| shown.is_some_and(|(_, is_verified)| !is_verified)) {
        let text = "figures with a ? are from RT_INSTR lines, which have no checksum";
        all.push(text.to_owned());
    }
    all
}

fn jobs(matrix: &Matrix) -> Table {
    let mut table = Table::titled("Jobs");
    table.words(["Board", "Firmware", "Engine", "Outcome"]);
    table.numbers(["Runs", "Passed", "Skipped", "Unknown", "Failed"]);
    table.numbers(["Measurements"]);
    for job in &matrix.jobs {
        let or_none = |count: Option<usize>| count.map_or("n/a".to_owned(), |it| it.to_string());
        let mut cells = vec![
            job.key.board.clone(),
            job.key.firmware.clone(),
            job.engine.clone().unwrap_or_else(|| "-".to_owned()),
            job.outcome.word().to_owned(),
            job.runs.len().to_string(),
        ];
        for ending in Ending::ALL {
            cells.push(or_none(job.results.as_ref().map(|it| it.count(ending))));
        }
        cells.push(or_none(job.measurements));
        table.rows.push(cells);
    }
    table
}

/// Returns the table of a board's runs, which are the columns of its others.
fn columns(board: &Board, runs: &[LoggedRun]) -> Table {
    let mut table = Table::titled(format!("{}: runs", board.name));
    table.words(["Run", "Model", "Firmware says", "Verdict"]);
    table.numbers(["CPUs"]);
    for (place, name) in &board.columns {
        let Some(run) = runs.get(*place) else {
            continue;
        };
        let or = |text: Option<&str>| text.unwrap_or("not known").to_owned();
        table.rows.push(vec![
            name.clone(),
            or(run.board()),
            or(run.firmware_version()),
            run.verdict_text(),
            run.run.cpus.len().to_string(),
        ]);
    }
    table
}

fn figures(board: &Board, test: &SideBySide, runs: &[LoggedRun]) -> Table {
    let columns: Vec<Option<&LoggedRun>> = board.columns.iter().map(|it| runs.get(it.0)).collect();
    // A run whose clock is not known has ticks.
    let units = columns.iter().flatten().map(|run| run.unit());
    let mut units: Vec<&str> = units.collect();
    units.dedup();
    let mut table = Table::titled(format!(
        "{}: {}, method {} ({})",
        board.name,
        test.scenario.name(),
        test.method.word(),
        units.join(", ")
    ));
    table.numbers(["Cluster", "Core"]);
    table.words(["Figure"]);
    table.numbers(board.columns.iter().map(|it| it.1.as_str()));
    for row in &test.rows {
        let core = match row.cpu.thread {
            0 => row.cpu.core.to_string(),
            thread => format!("{}.{thread}", row.cpu.core),
        };
        let heading = psci_bench::model::heading(row.metric);
        let mut cells = vec![row.cpu.cluster.to_string(), core, heading.to_owned()];
        cells.extend(row.shown.iter().zip(&columns).map(|it| match it {
            (Some((ticks, true)), Some(run)) => run.duration(*ticks),
            (Some((ticks, false)), Some(run)) => format!("{}?", run.duration(*ticks)),
            _ => "n/a".to_owned(),
        }));
        table.rows.push(cells);
    }
    table
}
