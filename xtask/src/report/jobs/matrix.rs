//! Runs side by side: a column for each, by board and firmware.
//!
//! Unlike [`crate::report::analysis::merge`], which makes one table of runs of one question, this
//! puts nothing together: rows are CPUs by their MPIDR, and what a run does not
//! have is not there. Boards are never in one table.

use std::collections::BTreeMap;

use psci_bench::measure::Metric;
use psci_bench::plan::{Method, ScenarioId};

use super::job::Job;
use crate::report::model::{Cpu, Run, Term, Test};

/// Jobs and their runs, by board and firmware.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// The jobs, by board and firmware, then in the order of the input.
    pub jobs: Vec<Job>,
    /// What the jobs are called, in their order.
    pub keys: Vec<Key>,
    /// The boards that have a run.
    pub boards: Vec<Board>,
    /// What was not looked at: with anything here the matrix is not complete.
    pub unread: Vec<String>,
    /// What to know of it besides.
    pub notes: Vec<String>,
}

/// What a job is found by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The board: as its cell calls it, or as the payload does.
    pub board: String,
    /// The firmware: as its cell calls it, or by its version.
    pub firmware: String,
}

/// All runs of one board.
#[derive(Clone, Debug)]
pub struct Board {
    /// What it is called.
    pub name: String,
    /// The runs, by index, and what their columns are called.
    pub columns: Vec<(usize, String)>,
    /// The scenarios that any of them has.
    pub tests: Vec<SideBySide>,
}

/// A scenario in the runs of one board.
#[derive(Clone, Debug)]
pub struct SideBySide {
    /// Which one.
    pub scenario: Term<ScenarioId>,
    /// By which method.
    pub method: Term<Method>,
    /// The CPU that stayed awake for the others, by its index.
    pub helper: Option<usize>,
    /// One for each CPU and figure, CPUs first.
    pub rows: Vec<Row>,
}

/// A figure of a CPU in several runs. Durations are in ticks of each run.
#[derive(Clone, Debug)]
pub struct Row {
    /// The CPU.
    pub cpu: Cpu,
    /// Which figure.
    pub metric: Term<Metric>,
    /// What each run's main table shows, and whether a record says so.
    pub shown: Vec<Option<(u64, bool)>>,
}

/// Puts `runs`, which are those of `jobs`, side by side.
#[must_use]
pub fn matrix(jobs: Vec<Job>, runs: &[Run]) -> Matrix {
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

/// Two columns of one name get numbers.
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

/// What logs call the boards that cells name, or logs without a cell, and which
/// jobs they are of.
struct Models(BTreeMap<String, BTreeMap<String, Model>>);

/// A board as logs call it.
#[derive(Default)]
struct Model {
    name: String,
    jobs: Vec<String>,
}

impl Models {
    fn of(jobs: &[Job], runs: &[Run]) -> Self {
        let mut all = Self(BTreeMap::new());
        for job in jobs {
            let own = runs.get(job.runs.clone()).unwrap_or_default();
            for model in own.iter().filter_map(|run| run.model.as_ref()) {
                let board = job.board.as_ref().unwrap_or(model);
                let known = all.0.entry(board.clone()).or_default();
                let known = known.entry(word(model)).or_default();
                // Of two that differ in blanks alone, the one with blanks.
                if known.name.is_empty() || *model < known.name {
                    known.name.clone_from(model);
                }
                if !known.jobs.contains(&job.name) {
                    known.jobs.push(job.name.clone());
                }
            }
        }
        all
    }

    /// What the tables of `run` are called, which a cell says to be of `board`:
    /// by the log, too, where there are logs of other boards by this name.
    fn board(&self, board: &str, run: &Run) -> String {
        match self.0.get(board) {
            Some(models) if models.len() > 1 => {
                let model = run.model.as_ref().and_then(|it| models.get(&word(it)));
                let model = model.map_or("not known", |model| &model.name);
                format!("{board} ({model})")
            }
            _ => board.to_owned(),
        }
    }

    fn notes(&self) -> Vec<String> {
        let several = self.0.iter().filter(|it| it.1.len() > 1);
        let note = |(board, models): (&String, &BTreeMap<String, Model>)| {
            let each = models.values();
            let each = each.map(|it| format!("{} ({})", it.name, it.jobs.join(", ")));
            let each = each.collect::<Vec<_>>().join("; ");
            format!(
                "board {board} has logs of {} boards, which have tables of their own: {each}",
                models.len()
            )
        };
        several.map(note).collect()
    }
}

/// A board's name as a record has it.
fn word(model: &str) -> String {
    let plain = |c: char| if c.is_ascii_graphic() { c } else { '_' };
    model.chars().map(plain).collect()
}

/// What stands for a name that nobody tells.
const NOT_KNOWN: &str = "not known";

fn of_run(job: &Job, run: &Run, models: &Models) -> Key {
    let firmware = job.firmware.as_deref().or_else(|| run.firmware_version());
    let board = job.board.as_ref().or(run.model.as_ref());
    let known = board.map(|board| models.board(board, run));
    Key {
        board: known.unwrap_or_else(|| NOT_KNOWN.to_owned()),
        firmware: firmware.unwrap_or(NOT_KNOWN).to_owned(),
    }
}

/// What a job is called by: its cell, or all of its runs.
fn of_job(job: &Job, runs: &[Run], models: &Models) -> Key {
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

fn side_by_side(columns: &[(usize, String)], runs: &[Run]) -> Vec<SideBySide> {
    let runs: Vec<&Run> = columns.iter().filter_map(|it| runs.get(it.0)).collect();
    let mut tests: Vec<SideBySide> = Vec::new();
    for test in runs.iter().flat_map(|run| &run.tests) {
        let same = |it: &SideBySide| {
            (&it.scenario, &it.method, it.helper) == (&test.scenario, &test.method, test.helper)
        };
        if !tests.iter().any(same) {
            let rows = rows(test, &runs);
            tests.push(SideBySide {
                scenario: test.scenario.clone(),
                method: test.method.clone(),
                helper: test.helper,
                rows,
            });
        }
    }
    tests.retain(|test| !test.rows.is_empty());
    tests
}

/// Whether both are one CPU: by MPIDR, or by labels where one has none.
fn is_same(one: &Cpu, other: &Cpu) -> bool {
    match (one.mpidr, other.mpidr) {
        (Some(one), Some(other)) => one == other,
        _ => (one.cluster, one.core, one.thread) == (other.cluster, other.core, other.thread),
    }
}

fn rows(test: &Test, runs: &[&Run]) -> Vec<Row> {
    let of = |run: &Run| run.tests.iter().find(|it| it.is_same(test)).cloned();
    let tests: Vec<Option<Test>> = runs.iter().map(|run| of(run)).collect();
    let mut rows: Vec<Row> = Vec::new();
    for (place, (run, test)) in runs.iter().zip(&tests).enumerate() {
        for row in test.iter().flat_map(|test| &test.rows) {
            let Some(cpu) = run.cpus.get(row.cpu) else {
                continue;
            };
            for (metric, ticks) in &row.figures {
                let same = |it: &&mut Row| it.metric == *metric && is_same(&it.cpu, cpu);
                let shown = Some((*ticks, row.verified));
                match rows.iter_mut().find(same) {
                    Some(known) => known.shown[place] = shown,
                    None => {
                        let mut all = vec![None; runs.len()];
                        all[place] = shown;
                        rows.push(Row {
                            cpu: cpu.clone(),
                            metric: metric.clone(),
                            shown: all,
                        });
                    }
                }
            }
        }
    }
    // A CPU that only a later run has stands with its like.
    let mut order: Vec<Cpu> = Vec::new();
    for row in &rows {
        if !order.iter().any(|cpu| is_same(cpu, &row.cpu)) {
            order.push(row.cpu.clone());
        }
    }
    rows.sort_by_key(|row| order.iter().position(|cpu| is_same(cpu, &row.cpu)));
    rows
}
