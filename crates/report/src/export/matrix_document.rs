//! Converts jobs and the matrix of their runs to blocks, in reading order.

use itertools::Itertools as _;

use super::document::Block;
use super::table::{Table, cell};
use crate::jobs::CaseStatus;
use crate::jobs::job_outcome::JobOutcome;
use crate::jobs::matrix::{Matrix, MatrixBoard, SideBySide};
use crate::log::LoggedRun;

pub(super) fn matrix<'r>(matrix: &Matrix, runs: &[LoggedRun]) -> Vec<Block<'r>> {
    let mut boards = matrix.jobs.iter().map(|it| &it.key.board).unique();
    let title = format!("PSCI latencies of {} by firmware", boards.join(", "));
    let mut tables = vec![jobs(matrix)];
    for board in &matrix.boards {
        tables.push(columns(board, runs));
        tables.extend(board.tests.iter().map(|test| figures(board, test, runs)));
    }
    let mut all = vec![Block::Title(title)];
    all.extend(tables.into_iter().flatten().map(Block::Table));
    let remarks = remarks(matrix);
    if !remarks.is_empty() {
        all.push(Block::Remarks(remarks));
    }
    all
}

/// Returns notes and failures, with one sentence for each affected job.
fn remarks(matrix: &Matrix) -> Vec<String> {
    let mut all = matrix.unread.clone();
    for job in &matrix.jobs {
        all.extend(job.notes.iter().cloned());
        if job.outcome != JobOutcome::Passed || !job.said.is_empty() {
            let (key, outcome) = (&job.key, job.outcome.word());
            let job_text = format!("{}, {} ({})", key.board, key.firmware, job.name);
            let said = job.said.join("; ");
            let parts = [job_text, outcome.to_owned(), said];
            all.push(parts.iter().filter(|it| !it.is_empty()).join(": "));
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

fn jobs(matrix: &Matrix) -> Option<Table> {
    let mut table = Table::titled("Jobs");
    table.words(["Board", "Firmware", "Engine", "Outcome"]);
    table.numbers(["Runs", "Passed", "Skipped", "Unknown", "Failed"]);
    table.numbers(["Measurements"]);
    for job in &matrix.jobs {
        let (board, firmware) = (job.key.board.clone(), job.key.firmware.clone());
        let engine = job.engine.as_deref().unwrap_or("-").to_owned();
        let (outcome, runs) = (job.outcome.word().to_owned(), job.runs.len().to_string());
        let count = |ending| cell(job.results.as_ref().map(|it| it.count(ending)));
        let mut cells = vec![board, firmware, engine, outcome, runs];
        cells.extend(CaseStatus::ALL.map(count));
        cells.push(cell(job.measurements));
        table.rows.push(cells);
    }
    table.finished()
}

/// Returns the table of a board's runs, which form the columns of its other tables.
fn columns(board: &MatrixBoard, runs: &[LoggedRun]) -> Option<Table> {
    let mut table = Table::titled(format!("{}: runs", board.name));
    table.words(["Run", "Model", "Firmware says", "Verdict"]);
    table.numbers(["CPUs"]);
    for (place, name) in &board.columns {
        let Some(run) = runs.get(*place) else {
            continue;
        };
        let or = |text: Option<&str>| text.unwrap_or("not known").to_owned();
        let (model, firmware) = (or(run.board()), or(run.firmware_version()));
        let (verdict, cpus) = (run.verdict_text(), run.run.cpus.len().to_string());
        let cells = [name.clone(), model, firmware, verdict, cpus];
        table.rows.push(cells.into());
    }
    table.finished()
}

fn figures(board: &MatrixBoard, test: &SideBySide, runs: &[LoggedRun]) -> Option<Table> {
    let columns: Vec<Option<&LoggedRun>> = board.columns.iter().map(|it| runs.get(it.0)).collect();
    // If a run's clock is unknown, its figures are in ticks.
    let units = columns.iter().flatten().map(|run| run.unit());
    let units = units.dedup().join(", ");
    let (name, method) = (test.scenario.name(), test.method.word());
    let title = format!("{}: {name}, method {method} ({units})", board.name);
    let mut table = Table::titled(title);
    table.numbers(["Cluster", "Core"]);
    table.words(["Figure"]);
    table.numbers(board.columns.iter().map(|it| it.1.as_str()));
    for row in &test.rows {
        let core = match row.cpu.thread {
            0 => row.cpu.core.to_string(),
            thread => format!("{}.{thread}", row.cpu.core),
        };
        let figure = row.metric.heading().to_owned();
        let mut cells = vec![row.cpu.cluster.to_string(), core, figure];
        cells.extend(row.shown.iter().zip(&columns).map(|it| match it {
            (Some((ticks, true)), Some(run)) => run.duration(*ticks),
            (Some((ticks, false)), Some(run)) => run.duration(*ticks) + "?",
            _ => "n/a".to_owned(),
        }));
        table.rows.push(cells);
    }
    table.finished()
}
