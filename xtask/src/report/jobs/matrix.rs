//! Runs side by side: a column for each, by board and firmware.
//!
//! Unlike [`crate::report::analysis::merge`], which makes one table of runs of one question, this
//! puts nothing together: rows are CPUs by their MPIDR, and what a run does not
//! have is not there. Boards are never in one table.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools as _;
use psci_bench::measure::Metric;
use psci_bench::model::{Cpu, ScenarioKey};
use psci_bench::plan::{Method, ScenarioId};
use serde::Serialize;

use super::job::{Job, Results};
use super::outcome::{Outcome, outcome};
use crate::report::log::LoggedRun;

/// Jobs and their runs, by board and firmware.
#[derive(Clone, Debug, Serialize)]
pub struct Matrix {
    pub(crate) jobs: Vec<Listed>,
    pub(crate) boards: Vec<Board>,
    /// Inputs that were not looked at: the matrix is complete without any.
    pub(crate) unread: Vec<String>,
    pub(crate) notes: Vec<String>,
}

/// A job with its outcome.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) key: Key,
    pub(crate) engine: Option<String>,
    pub(crate) outcome: Outcome,
    /// The reasons against a better outcome.
    pub(crate) said: Vec<String>,
    pub(crate) notes: Vec<String>,
    pub(crate) results: Option<Results>,
    /// The number of measurements that the engine has kept.
    pub(crate) measurements: Option<usize>,
    /// The runs' places in the list of all.
    pub(crate) runs: Vec<usize>,
}

/// A job's name: board and firmware.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Key {
    /// The board: as its cell calls it, or as the payload does.
    pub(crate) board: String,
    /// The firmware: as its cell calls it, or by its version.
    pub(crate) firmware: String,
}

/// All runs of one board.
#[derive(Clone, Debug, Serialize)]
pub struct Board {
    pub(crate) name: String,
    /// The runs, by index, and the names of their columns.
    pub(crate) columns: Vec<(usize, String)>,
    pub(crate) tests: Vec<SideBySide>,
}

/// A scenario in the runs of one board.
#[derive(Clone, Debug, Serialize)]
pub struct SideBySide {
    pub(crate) scenario: ScenarioId,
    pub(crate) method: Method,
    /// The index of the CPU that stayed awake for the others.
    pub(crate) helper: Option<u16>,
    /// The rows: one for each CPU and figure, CPUs first.
    pub(crate) rows: Vec<Row>,
}

/// A figure of a CPU in several runs. Durations are in ticks of each run.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub(crate) cpu: Cpu,
    pub(crate) metric: Metric,
    /// The figure in each run's main table, and true if it is from a record.
    pub(crate) shown: Vec<Option<(u64, bool)>>,
}

/// Puts `runs`, which are those of `jobs`, side by side.
pub fn matrix(jobs: &[Job], runs: &[LoggedRun]) -> Matrix {
    let mut all = Vec::new();
    for job in jobs {
        let several = job.runs.len() > 1;
        let has_models = models(job.board.as_deref(), jobs, runs).len() > 1;
        let columns = job.runs.clone().enumerate().map(|(place, index)| {
            let key = of_run(job, &runs[index], has_models);
            let mut column = key.firmware.clone();
            if let Some(engine) = &job.engine {
                column += &format!(" ({engine})");
            }
            if several {
                column += &format!(", run {}", place + 1);
            }
            (key, index, column)
        });
        let columns: Vec<(Key, usize, String)> = columns.collect();
        all.push((list(job, runs, &columns), columns));
    }
    all.sort_by(|a, b| a.0.key.cmp(&b.0.key));
    let (listed, columns): (Vec<Listed>, Vec<_>) = all.into_iter().unzip();
    let mut columns = columns.concat();
    columns.sort_by(|a, b| a.0.cmp(&b.0));
    let boards = columns.chunk_by(|a, b| a.0.board == b.0.board).map(|own| {
        let columns = own.iter().map(|it| (it.1, it.2.clone()));
        let mut columns: Vec<(usize, String)> = columns.collect();
        distinct(&mut columns);
        Board {
            name: own[0].0.board.clone(),
            tests: side_by_side(&columns, runs),
            columns,
        }
    });
    Matrix {
        boards: boards.collect(),
        jobs: listed,
        unread: Vec::new(),
        notes: notes(jobs, runs),
    }
}

/// Returns a job with its outcome, and its name by its cell or its runs.
fn list(job: &Job, runs: &[LoggedRun], columns: &[(Key, usize, String)]) -> Listed {
    let name = |known: &Option<String>, of: fn(&Key) -> &String| {
        let names = columns.iter().map(|it| of(&it.0)).unique().join(", ");
        let names = Some(names).filter(|names| !names.is_empty());
        known.clone().or(names).unwrap_or(NOT_KNOWN.to_owned())
    };
    let key = Key {
        board: name(&job.board, |key| &key.board),
        firmware: name(&job.firmware, |key| &key.firmware),
    };
    let (outcome, said) = outcome(job, runs);
    Listed {
        name: job.name.clone(),
        key,
        engine: job.engine.clone(),
        outcome,
        said,
        notes: job.notes.clone(),
        results: job.results.clone(),
        measurements: job.results.as_ref().map(Results::measurements),
        runs: job.runs.clone().collect(),
    }
}

/// Numbers columns that have one name.
fn distinct(columns: &mut [(usize, String)]) {
    let counts = columns.iter().map(|column| column.1.clone()).counts();
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for (_, name) in columns.iter_mut().filter(|it| counts[&it.1] > 1) {
        let number = numbers.entry(name.clone()).or_default();
        *number += 1;
        name.push_str(&format!(" #{number}"));
    }
}

/// Returns the boards that the logs of a cell's board name.
fn models<'r>(board: Option<&str>, jobs: &[Job], runs: &'r [LoggedRun]) -> BTreeSet<&'r str> {
    let is_own = |job: &&Job| board.is_some() && job.board.as_deref() == board;
    let own = jobs.iter().filter(is_own);
    let own = own.flat_map(|job| &runs[job.runs.clone()]);
    own.filter_map(LoggedRun::board).collect()
}

fn notes(jobs: &[Job], runs: &[LoggedRun]) -> Vec<String> {
    let boards = jobs.iter().filter_map(|job| job.board.as_deref()).unique();
    let several = boards.map(|board| (board, models(Some(board), jobs, runs)));
    let notes = several.filter(|it| it.1.len() > 1).map(|(board, models)| {
        let (count, each) = (models.len(), models.iter().join(", "));
        format!("board {board} has logs of {count} boards, which have tables of their own: {each}")
    });
    notes.collect()
}

/// The name of a board or a firmware that neither cell nor log names.
const NOT_KNOWN: &str = "not known";

/// Returns the name of a run: that of its cell's board with the log's, if there are logs of
/// several boards by this name.
fn of_run(job: &Job, run: &LoggedRun, is_several: bool) -> Key {
    let firmware = job.firmware.as_deref().or_else(|| run.firmware_version());
    let model = run.board().unwrap_or(NOT_KNOWN);
    let board = job.board.as_deref().unwrap_or(model);
    let board = match is_several {
        true => format!("{board} ({model})"),
        false => board.to_owned(),
    };
    let firmware = firmware.unwrap_or(NOT_KNOWN).to_owned();
    Key { board, firmware }
}

fn side_by_side(columns: &[(usize, String)], runs: &[LoggedRun]) -> Vec<SideBySide> {
    let runs: Vec<&LoggedRun> = columns.iter().map(|it| &runs[it.0]).collect();
    let scenarios = runs.iter().flat_map(|run| &run.run.scenarios);
    let keys = scenarios.map(|it| it.key()).unique();
    let all = keys.map(|key| SideBySide {
        scenario: key.id,
        method: key.method,
        helper: key.helper,
        rows: rows(key, &runs),
    });
    all.filter(|scenario| !scenario.rows.is_empty()).collect()
}

/// Returns true if both are one CPU: by MPIDR, or by labels if one has none.
fn is_same(one: &Cpu, other: &Cpu) -> bool {
    match (one.mpidr, other.mpidr) {
        (Some(one), Some(other)) => one == other,
        _ => (one.cluster, one.core, one.thread) == (other.cluster, other.core, other.thread),
    }
}

fn rows(key: ScenarioKey, runs: &[&LoggedRun]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        let Some(own) = run.run.scenarios.iter().find(|it| it.key() == key) else {
            continue;
        };
        let columns = own.columns();
        let cells = own.rows.iter();
        let cells = cells.flat_map(|row| columns.iter().map(move |metric| (row, *metric)));
        for (row, metric) in cells {
            let Some(ticks) = own.figure(row, metric) else {
                continue;
            };
            let cpu = run.run.cpu(row.cpu);
            // Of rows with equal labels each has a line of its own.
            let is_it = |it: &Row| {
                it.metric == metric && it.shown[place].is_none() && is_same(&it.cpu, &cpu)
            };
            let at = rows.iter().position(is_it).unwrap_or_else(|| {
                let shown = vec![None; runs.len()];
                rows.push(Row { cpu, metric, shown });
                rows.len() - 1
            });
            rows[at].shown[place] = Some((ticks, !run.is_doubtful(row)));
        }
    }
    // A CPU that only a later run has stands with its like.
    let order: Vec<Cpu> = rows.iter().map(|row| row.cpu).collect();
    rows.sort_by_key(|row| order.iter().position(|cpu| is_same(cpu, &row.cpu)));
    rows
}
