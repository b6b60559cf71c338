//! What jobs and their runs tell people side by side.

use serde_json::{Map, Value, json};

use super::table::Table;
use crate::report::jobs::Ending;
use crate::report::jobs::matrix::{Board, Matrix};
use crate::report::jobs::outcome::{Outcome, outcome};
use crate::report::model::{Run, Term, heading};

/// All tables, the jobs' first.
pub(super) fn tables(matrix: &Matrix, runs: &[Run]) -> Vec<Table> {
    let mut all = vec![jobs(matrix, runs)];
    for board in &matrix.boards {
        all.push(columns(board, runs));
        all.extend(figures(board, runs));
    }
    all
}

/// What there is to know, and what is wrong, a sentence for each job that has
/// something.
pub(super) fn remarks(matrix: &Matrix, runs: &[Run]) -> Vec<String> {
    let mut all = matrix.unread.clone();
    all.extend(matrix.notes.iter().cloned());
    for (job, key) in matrix.jobs.iter().zip(&matrix.keys) {
        all.extend(job.notes.iter().cloned());
        let (outcome, said) = outcome(job, runs);
        if outcome != Outcome::Passed || !said.is_empty() {
            let what = said.join("; ");
            let more = if what.is_empty() { "" } else { ": " };
            all.push(format!(
                "{}, {} ({}): {}{more}{what}",
                key.board,
                key.firmware,
                job.name,
                outcome.word()
            ));
        }
    }
    let rows = matrix.boards.iter().flat_map(|board| &board.tests);
    let mut shown = rows.flat_map(|test| &test.rows).flat_map(|row| &row.shown);
    if shown.any(|shown| shown.is_some_and(|(_, is_verified)| !is_verified)) {
        all.push(DOUBTFUL.to_owned());
    }
    all
}

/// What the mark behind a figure means.
const DOUBTFUL: &str = "figures with a ? are from RT_INSTR lines, which have no checksum";

fn jobs(matrix: &Matrix, runs: &[Run]) -> Table {
    let mut table = Table::titled("Jobs");
    for name in ["Board", "Firmware", "Engine", "Outcome"] {
        table.words(name);
    }
    for name in [
        "Runs",
        "Passed",
        "Skipped",
        "Unknown",
        "Failed",
        "Measurements",
    ] {
        table.numbers(name);
    }
    for (job, key) in matrix.jobs.iter().zip(&matrix.keys) {
        let count = |ending| match &job.results {
            Some(results) => results.count(ending).to_string(),
            None => "n/a".to_owned(),
        };
        let results = job.results.as_ref();
        table.rows.push(vec![
            key.board.clone(),
            key.firmware.clone(),
            job.engine.clone().unwrap_or_else(|| "-".to_owned()),
            outcome(job, runs).0.word().to_owned(),
            job.runs.len().to_string(),
            count(Ending::Passed),
            count(Ending::Skipped),
            count(Ending::Unknown),
            count(Ending::Failed),
            results.map_or("n/a".to_owned(), |it| it.measurements().to_string()),
        ]);
    }
    table
}

/// What the columns of a board's tables are.
fn columns(board: &Board, runs: &[Run]) -> Table {
    let mut table = Table::titled(format!("{}: runs", board.name));
    for name in ["Run", "Model", "Firmware says", "Verdict"] {
        table.words(name);
    }
    table.numbers("CPUs");
    for (place, name) in &board.columns {
        let Some(run) = runs.get(*place) else {
            continue;
        };
        let or = |text: Option<&str>| text.unwrap_or("not known").to_owned();
        table.rows.push(vec![
            name.clone(),
            or(run.model.as_deref()),
            or(run.firmware_version()),
            run.verdict_said(),
            run.cpus.len().to_string(),
        ]);
    }
    table
}

fn figures(board: &Board, runs: &[Run]) -> Vec<Table> {
    let of = |place: usize| board.columns.get(place).and_then(|it| runs.get(it.0));
    let tests = board.tests.iter();
    tests
        .map(|test| {
            let name = match &test.scenario {
                Term::Known(id) => id.name(),
                Term::Other(tag) => tag,
            };
            // A run whose counter has no frequency is told in ticks.
            let mut units: Vec<&str> = (0..board.columns.len())
                .filter_map(of)
                .map(Run::unit)
                .collect();
            units.dedup();
            let unit = units.join(", ");
            let title = format!("{}: {name}, method {} ({unit})", board.name, test.method);
            let mut table = Table::titled(title);
            table.numbers("Cluster");
            table.numbers("Core");
            table.words("Figure");
            for (_, name) in &board.columns {
                table.numbers(name);
            }
            for row in &test.rows {
                let mut cells = vec![
                    row.cpu.cluster.to_string(),
                    match row.cpu.thread {
                        0 => row.cpu.core.to_string(),
                        thread => format!("{}.{thread}", row.cpu.core),
                    },
                    heading(&row.metric).to_owned(),
                ];
                for (place, shown) in row.shown.iter().enumerate() {
                    cells.push(match (shown, of(place)) {
                        (Some((ticks, true)), Some(run)) => run.shown(*ticks),
                        (Some((ticks, false)), Some(run)) => format!("{}?", run.shown(*ticks)),
                        _ => "n/a".to_owned(),
                    });
                }
                table.rows.push(cells);
            }
            table
        })
        .collect()
}

/// All of it for `json`.
pub(super) fn value(matrix: &Matrix, runs: &[Run]) -> Value {
    let jobs = matrix.jobs.iter().zip(&matrix.keys).map(|(job, key)| {
        let (outcome, said) = outcome(job, runs);
        let results = job.results.as_ref().map(|it| {
            let cases = it.cases.iter();
            let cases = cases.map(|(name, ending)| (name.clone(), json!(ending.word())));
            json!({
                "cases": cases.collect::<Map<_, _>>(), "measurements": it.measurements(),
                "failure": it.failure, "faults": it.faults,
            })
        });
        json!({
            "name": job.name, "board": key.board, "firmware": key.firmware,
            "engine": job.engine, "outcome": outcome.word(), "said": said,
            "notes": job.notes,
            "results": results, "runs": job.runs.clone().collect::<Vec<_>>(),
        })
    });
    let boards = matrix.boards.iter().map(|board| {
        let tests = board.tests.iter().map(|test| {
            let rows = test.rows.iter().map(|row| {
                let shown = row.shown.iter().zip(&board.columns).map(|(shown, column)| {
                    let (ticks, verified) = (*shown)?;
                    let ns = runs.get(column.0).and_then(|run| run.ns(ticks));
                    Some(json!({"ticks": ticks, "ns": ns, "verified": verified}))
                });
                json!({
                    "mpidr": hex(row.cpu.mpidr), "cluster": row.cpu.cluster,
                    "core": row.cpu.core, "thread": row.cpu.thread,
                    "metric": row.metric.word(), "shown": shown.collect::<Vec<_>>(),
                })
            });
            json!({
                "scenario": test.scenario.word(), "method": test.method.word(),
                "rows": rows.collect::<Vec<_>>(),
            })
        });
        let columns = board.columns.iter();
        let columns = columns.map(|(run, name)| json!({"run": run, "name": name}));
        json!({
            "board": board.name, "columns": columns.collect::<Vec<_>>(),
            "tests": tests.collect::<Vec<_>>(),
        })
    });
    json!({
        "jobs": jobs.collect::<Vec<_>>(), "boards": boards.collect::<Vec<_>>(),
        "unread": matrix.unread, "notes": matrix.notes,
    })
}

/// Registers and identifiers: hexadecimal, as records write them.
pub(super) fn hex(value: Option<u64>) -> Option<String> {
    value.map(|value| format!("{value:#x}"))
}
