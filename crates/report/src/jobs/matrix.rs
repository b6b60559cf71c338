//! A matrix of runs: one column per run, grouped by board and firmware.
//!
//! Unlike [`crate::analysis::merge`], which combines runs of the same measurement into one table, a
//! matrix keeps all runs separate. Rows are CPUs, matched by MPIDR. If a run lacks a figure, its
//! cell is left empty. Different boards never share a table.

use hardware::board::CpuIndex;
use itertools::Itertools as _;
use run::measure::Metric;
use run::model::{Cpu, ScenarioKey};
use run::plan::{Method, ScenarioId};
use serde::Serialize;

use super::job::{Key, LabJob};
use crate::log::LoggedRun;

/// Jobs and their runs, by board and firmware.
#[derive(Clone, Debug, Serialize)]
pub struct Matrix {
    pub(crate) jobs: Vec<LabJob>,
    pub(crate) boards: Vec<MatrixBoard>,
    /// Inputs that could not be read. The matrix is complete only if every input could be read.
    pub(crate) unread: Vec<String>,
}

/// All runs from one board.
#[derive(Clone, Debug, Serialize)]
pub struct MatrixBoard {
    pub(crate) name: String,
    /// The runs, by index, and their column names.
    pub(crate) columns: Vec<(usize, String)>,
    pub(crate) tests: Vec<SideBySide>,
}

/// A scenario in the runs from one board.
#[derive(Clone, Debug, Serialize)]
pub struct SideBySide {
    pub(crate) scenario: ScenarioId,
    pub(crate) method: Method,
    /// The index of the CPU that stayed awake to wake the others.
    pub(crate) helper: Option<CpuIndex>,
    /// The rows, one for each CPU and figure, sorted by CPU.
    pub(crate) rows: Vec<MatrixRow>,
}

/// One figure for one CPU, across several runs. Durations are in ticks of each run's own clock.
#[derive(Clone, Debug, Serialize)]
pub struct MatrixRow {
    pub(crate) cpu: Cpu,
    pub(crate) metric: Metric,
    /// The figure in each run's main table, and whether it comes from a record.
    pub(crate) shown: Vec<Option<(u64, bool)>>,
}

/// Builds the matrix of `runs`, which belong to `jobs`.
pub fn matrix(mut jobs: Vec<LabJob>, runs: &[LoggedRun], unread: Vec<String>) -> Matrix {
    jobs.sort_by(|a, b| a.key.cmp(&b.key));
    let mut columns: Vec<(Key, usize)> = Vec::new();
    for job in &jobs {
        let has_models = models(job, &jobs, runs).nth(1).is_some();
        columns.extend(job.runs.iter().map(|index| {
            let run = &runs[*index];
            let mut key = Key::of(job.mark.as_ref(), [run].into_iter());
            if has_models {
                key.board += &format!(" ({})", run.board().unwrap_or("not known"));
            }
            if let Some(engine) = &job.engine {
                key.firmware += &format!(" ({engine})");
            }
            (key, *index)
        }));
    }
    columns.sort();
    let boards = columns.chunk_by(|a, b| a.0.board == b.0.board).map(|own| {
        let columns = named(own);
        MatrixBoard {
            name: own[0].0.board.clone(),
            tests: side_by_side(&columns, runs),
            columns,
        }
    });
    Matrix {
        boards: boards.collect(),
        jobs,
        unread,
    }
}

/// Returns a board's runs with their column names, numbered if several have the same name.
fn named(runs: &[(Key, usize)]) -> Vec<(usize, String)> {
    let alike = runs.chunk_by(|a, b| a.0 == b.0);
    let named = alike.flat_map(|alike| {
        (1..).zip(alike).map(|(number, (key, index))| match alike {
            [_] => (*index, key.firmware.clone()),
            _ => (*index, format!("{} #{number}", key.firmware)),
        })
    });
    named.collect()
}

/// Returns the board names in the logs of a job's cell and of other cells for the same board.
fn models<'r>(
    job: &LabJob,
    jobs: &[LabJob],
    runs: &'r [LoggedRun],
) -> impl Iterator<Item = &'r str> {
    let board = |job: &LabJob| job.mark.as_ref().map(|mark| mark.board.clone());
    let own = board(job);
    let same = jobs.iter().filter(|it| own.is_some() && board(it) == own);
    let places = same.flat_map(|job| job.runs.clone());
    places
        .filter_map(|place| runs[place].board())
        .unique()
        .collect::<Vec<_>>()
        .into_iter()
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

/// Returns true if both are the same CPU, based on their MPIDRs or, if either has no MPIDR, on
/// their labels.
fn is_same(one: &Cpu, other: &Cpu) -> bool {
    match (one.mpidr, other.mpidr) {
        (Some(one), Some(other)) => one == other,
        _ => (one.cluster, one.core, one.thread) == (other.cluster, other.core, other.thread),
    }
}

fn rows(key: ScenarioKey, runs: &[&LoggedRun]) -> Vec<MatrixRow> {
    let mut rows: Vec<MatrixRow> = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        let Some(own) = run.run.scenarios.iter().find(|it| it.key() == key) else {
            continue;
        };
        let columns = own.columns();
        let cells = own.suite_cells().iter();
        let figures = cells.flat_map(|cell| columns.iter().map(move |metric| (cell, *metric)));
        for (cell, metric) in figures {
            let Some(ticks) = cell.figure(metric) else {
                continue;
            };
            let cpu = run.run.cpu(cell.cpu);
            // CPUs with the same label are kept in separate rows.
            let is_it = |it: &MatrixRow| {
                it.metric == metric && it.shown[place].is_none() && is_same(&it.cpu, &cpu)
            };
            let at = rows.iter().position(is_it).unwrap_or_else(|| {
                let shown = vec![None; runs.len()];
                rows.push(MatrixRow { cpu, metric, shown });
                rows.len() - 1
            });
            rows[at].shown[place] = Some((ticks, !run.is_doubtful(cell)));
        }
    }
    // A CPU found only in a later run is placed among similar CPUs.
    let order: Vec<Cpu> = rows.iter().map(|row| row.cpu).collect();
    rows.sort_by_key(|row| order.iter().position(|cpu| is_same(cpu, &row.cpu)));
    rows
}
