//! Runs side by side: a column for each, by board and firmware.
//!
//! Unlike [`crate::report::analysis::merge`], which makes one table of runs of one question, this
//! puts nothing together: rows are CPUs by their MPIDR, and what a run does not
//! have is not there. Boards are never in one table.

use std::collections::BTreeMap;

use psci_bench::measure::Metric;
use psci_bench::model::{Cpu, Scenario};
use psci_bench::plan::{Method, ScenarioId};
use serde::Serialize;

use super::job::Job;
use crate::report::log::LoggedRun;

/// Jobs and their runs, by board and firmware.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// The jobs, by board and firmware, then in the order of the input.
    pub jobs: Vec<Job>,
    /// The names of the jobs, in their order.
    pub keys: Vec<Key>,
    /// The boards that have a run.
    pub boards: Vec<Board>,
    /// Inputs that were not looked at: the matrix is complete without any.
    pub unread: Vec<String>,
    /// Further notes.
    pub notes: Vec<String>,
}

/// A job's name: board and firmware.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Key {
    /// The board: as its cell calls it, or as the payload does.
    pub board: String,
    /// The firmware: as its cell calls it, or by its version.
    pub firmware: String,
}

/// All runs of one board.
#[derive(Clone, Debug, Serialize)]
pub struct Board {
    /// The board's name.
    pub name: String,
    /// The runs, by index, and the names of their columns.
    pub columns: Vec<(usize, String)>,
    /// The scenarios that any of them has.
    pub tests: Vec<SideBySide>,
}

/// A scenario in the runs of one board.
#[derive(Clone, Debug, Serialize)]
pub struct SideBySide {
    /// The scenario.
    pub scenario: ScenarioId,
    /// The method.
    pub method: Method,
    /// The index of the CPU that stayed awake for the others.
    pub helper: Option<u16>,
    /// The rows: one for each CPU and figure, CPUs first.
    pub rows: Vec<Row>,
}

/// A figure of a CPU in several runs. Durations are in ticks of each run.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The CPU.
    pub cpu: Cpu,
    /// The metric.
    pub metric: Metric,
    /// The figure in each run's main table, and true if it is from a record.
    pub shown: Vec<Option<(u64, bool)>>,
}

/// Puts `runs`, which are those of `jobs`, side by side.
pub fn matrix(jobs: Vec<Job>, runs: &[LoggedRun]) -> Matrix {
    let models = Models::of(&jobs, runs);
    let mut keyed: Vec<(Key, Job)> = jobs
        .into_iter()
        .map(|job| (of_job(&job, runs, &models), job))
        .collect();
    keyed.sort_by(|(a, _), (b, _)| (&a.board, &a.firmware).cmp(&(&b.board, &b.firmware)));
    let mut boards: BTreeMap<String, Vec<(String, usize, String)>> = BTreeMap::new();
    for (_, job) in &keyed {
        for (place, index) in job.runs.clone().enumerate() {
            let Some(run) = runs.get(index) else {
                continue;
            };
            let key = of_run(job, run, &models);
            let mut column = key.firmware.clone();
            if let Some(engine) = &job.engine {
                column.push_str(&format!(" ({engine})"));
            }
            if job.runs.len() > 1 {
                column.push_str(&format!(", run {}", place + 1));
            }
            let columns = boards.entry(key.board).or_default();
            columns.push((key.firmware, index, column));
        }
    }
    let boards = boards.into_iter().map(|(name, mut columns)| {
        columns.sort_by(|a, b| a.0.cmp(&b.0));
        let mut columns: Vec<(usize, String)> =
            columns.into_iter().map(|it| (it.1, it.2)).collect();
        distinct(&mut columns);
        Board {
            name,
            tests: side_by_side(&columns, runs),
            columns,
        }
    });
    let boards = boards.collect();
    let (keys, jobs) = keyed.into_iter().unzip();
    Matrix {
        jobs,
        keys,
        boards,
        unread: Vec::new(),
        notes: models.notes(),
    }
}

/// Numbers columns that have one name.
fn distinct(columns: &mut [(usize, String)]) {
    let names: Vec<String> = columns.iter().map(|column| column.1.clone()).collect();
    for (place, (_, name)) in columns.iter_mut().enumerate() {
        let same = |it: &&String| **it == names[place];
        if names.iter().filter(same).count() > 1 {
            let number = names[..=place].iter().filter(same).count();
            name.push_str(&format!(" #{number}"));
        }
    }
}

/// The names in logs of the boards that cells name, or logs without a cell, with the
/// jobs of these logs.
struct Models(BTreeMap<String, BTreeMap<String, Vec<String>>>);

impl Models {
    fn of(jobs: &[Job], runs: &[LoggedRun]) -> Self {
        let mut all = Self(BTreeMap::new());
        for job in jobs {
            let own = runs.get(job.runs.clone()).unwrap_or_default();
            for model in own.iter().filter_map(LoggedRun::board) {
                let board = job.board.as_deref().unwrap_or(model);
                let known = all.0.entry(board.to_owned()).or_default();
                let jobs = known.entry(model.to_owned()).or_default();
                if !jobs.contains(&job.name) {
                    jobs.push(job.name.clone());
                }
            }
        }
        all
    }

    /// Returns the name over the tables of `run`, which is of `board` by its cell:
    /// with the log's name, if there are logs of several boards by this name.
    fn board(&self, board: &str, run: &LoggedRun) -> String {
        match self.0.get(board) {
            Some(models) if models.len() > 1 => {
                format!("{board} ({})", run.board().unwrap_or(NOT_KNOWN))
            }
            _ => board.to_owned(),
        }
    }

    fn notes(&self) -> Vec<String> {
        let several = self.0.iter().filter(|it| it.1.len() > 1);
        let note = |(board, models): (&String, &BTreeMap<String, Vec<String>>)| {
            let each = models.iter();
            let each = each.map(|(name, jobs)| format!("{name} ({})", jobs.join(", ")));
            let each = each.collect::<Vec<_>>().join("; ");
            format!(
                "board {board} has logs of {} boards, which have tables of their own: {each}",
                models.len()
            )
        };
        several.map(note).collect()
    }
}

/// The name of a board or a firmware that neither cell nor log names.
const NOT_KNOWN: &str = "not known";

fn of_run(job: &Job, run: &LoggedRun, models: &Models) -> Key {
    let firmware = job.firmware.as_deref().or_else(|| run.firmware_version());
    let board = job.board.as_deref().or(run.board());
    let known = board.map(|board| models.board(board, run));
    Key {
        board: known.unwrap_or_else(|| NOT_KNOWN.to_owned()),
        firmware: firmware.unwrap_or(NOT_KNOWN).to_owned(),
    }
}

/// Returns the name of a job, by its cell or all of its runs.
fn of_job(job: &Job, runs: &[LoggedRun], models: &Models) -> Key {
    let own = runs.get(job.runs.clone()).unwrap_or_default();
    let keys: Vec<Key> = own.iter().map(|run| of_run(job, run, models)).collect();
    let name = |known: &Option<String>, of: fn(&Key) -> &String| {
        if let Some(known) = known {
            return known.clone();
        }
        let mut names: Vec<&str> = Vec::new();
        for name in keys.iter().map(|key| of(key).as_str()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        match names.as_slice() {
            [] => NOT_KNOWN.to_owned(),
            names => names.join(", "),
        }
    };
    Key {
        board: name(&job.board, |key| &key.board),
        firmware: name(&job.firmware, |key| &key.firmware),
    }
}

fn side_by_side(columns: &[(usize, String)], runs: &[LoggedRun]) -> Vec<SideBySide> {
    let runs: Vec<&LoggedRun> = columns.iter().filter_map(|it| runs.get(it.0)).collect();
    let mut all: Vec<SideBySide> = Vec::new();
    for scenario in runs.iter().flat_map(|run| &run.run.scenarios) {
        let key = scenario.key();
        let is_it = |it: &SideBySide| {
            (it.scenario, it.method, it.helper) == (key.id, key.method, key.helper)
        };
        if !all.iter().any(is_it) {
            all.push(SideBySide {
                scenario: key.id,
                method: key.method,
                helper: key.helper,
                rows: rows(scenario, &runs),
            });
        }
    }
    all.retain(|scenario| !scenario.rows.is_empty());
    all
}

/// Returns true if both are one CPU: by MPIDR, or by labels if one has none.
fn is_same(one: &Cpu, other: &Cpu) -> bool {
    match (one.mpidr, other.mpidr) {
        (Some(one), Some(other)) => one == other,
        _ => (one.cluster, one.core, one.thread) == (other.cluster, other.core, other.thread),
    }
}

fn rows(scenario: &Scenario, runs: &[&LoggedRun]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        let mut scenarios = run.run.scenarios.iter();
        let Some(own) = scenarios.find(|it| it.key() == scenario.key()) else {
            continue;
        };
        let columns = own.columns();
        let cells = own
            .rows
            .iter()
            .flat_map(|row| columns.iter().map(move |metric| (row, *metric)));
        for (row, metric) in cells {
            let Some(ticks) = own.figure(row, metric) else {
                continue;
            };
            let cpu = run.run.cpu(row.cpu);
            let is_it = |it: &&mut Row| it.metric == metric && is_same(&it.cpu, &cpu);
            let shown = Some((ticks, !run.is_doubtful(row)));
            match rows.iter_mut().find(is_it) {
                Some(known) => known.shown[place] = shown,
                None => {
                    let mut all = vec![None; runs.len()];
                    all[place] = shown;
                    rows.push(Row {
                        cpu,
                        metric,
                        shown: all,
                    });
                }
            }
        }
    }
    // A CPU that only a later run has stands with its like.
    let mut order: Vec<Cpu> = Vec::new();
    for row in &rows {
        if !order.iter().any(|cpu| is_same(cpu, &row.cpu)) {
            order.push(row.cpu);
        }
    }
    rows.sort_by_key(|row| order.iter().position(|cpu| is_same(cpu, &row.cpu)));
    rows
}
