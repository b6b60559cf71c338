//! Runs side by side: a column for each, by board and firmware.
//!
//! Unlike [`super::merge`], which makes one table of runs of one question, this
//! puts nothing together: rows are CPUs by their MPIDR, and what a run does not
//! have is not there. Boards are never in one table.

use psci_bench::plan::{Method, ScenarioId};
use psci_bench::sample::Metric;
use psci_bench::verdict::Verdict;

use super::jobs::{Ending, Job};
use super::model::{Cpu, Run, Term, Test};

/// Jobs and their runs, by board and firmware.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// The jobs, by board and firmware, then in the order of the input.
    pub jobs: Vec<Job>,
    /// What the jobs are called, in their order.
    pub keys: Vec<Key>,
    /// The boards that have a run.
    pub boards: Vec<Board>,
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
    let mut keyed: Vec<(Key, Job)> = jobs.into_iter().map(|job| (key(&job, runs), job)).collect();
    keyed.sort_by(|(a, _), (b, _)| (&a.board, &a.firmware).cmp(&(&b.board, &b.firmware)));
    let mut boards: Vec<Board> = Vec::new();
    for (key, job) in &keyed {
        for (place, run) in job.runs.clone().enumerate() {
            if boards.last().is_none_or(|board| board.name != key.board) {
                boards.push(Board {
                    name: key.board.clone(),
                    columns: Vec::new(),
                    tests: Vec::new(),
                });
            }
            let mut column = key.firmware.clone();
            if let Some(engine) = &job.engine {
                column.push_str(&format!(" ({engine})"));
            }
            if job.runs.len() > 1 {
                column.push_str(&format!(", run {}", place + 1));
            }
            if let Some(board) = boards.last_mut() {
                board.columns.push((run, column));
            }
        }
    }
    for board in &mut boards {
        distinct(&mut board.columns);
        board.tests = side_by_side(&board.columns, runs);
    }
    let (keys, jobs) = keyed.into_iter().unzip();
    Matrix { jobs, keys, boards }
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

fn key(job: &Job, runs: &[Run]) -> Key {
    let run = runs.get(job.runs.clone()).and_then(<[Run]>::first);
    let or = |known: &Option<String>, of_run: Option<&str>| {
        known
            .as_deref()
            .or(of_run)
            .unwrap_or("not known")
            .to_owned()
    };
    Key {
        board: or(&job.board, run.and_then(|run| run.model.as_deref())),
        firmware: or(&job.firmware, run.and_then(Run::firmware_version)),
    }
}

fn side_by_side(columns: &[(usize, String)], runs: &[Run]) -> Vec<SideBySide> {
    let runs: Vec<&Run> = columns.iter().filter_map(|it| runs.get(it.0)).collect();
    let mut tests: Vec<SideBySide> = Vec::new();
    for test in runs.iter().flat_map(|run| &run.tests) {
        let same = |it: &SideBySide| it.scenario == test.scenario && it.method == test.method;
        if !tests.iter().any(same) {
            let rows = rows(test, &runs);
            tests.push(SideBySide {
                scenario: test.scenario.clone(),
                method: test.method.clone(),
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
    let of = |run: &Run| {
        let same = |it: &&Test| it.scenario == test.scenario && it.method == test.method;
        run.tests.iter().find(same).cloned()
    };
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

/// What a job comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// All is well.
    Passed,
    /// A job, a test case or a verdict is not passed.
    Failed,
    /// There is no run, or only a part of one.
    Incomplete,
}

impl Outcome {
    /// In a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Incomplete => "incomplete",
        }
    }
}

/// What `job` comes to, and what is wrong with it.
#[must_use]
pub fn outcome(job: &Job, runs: &[Run]) -> (Outcome, Vec<String>) {
    let mut outcome = Outcome::Passed;
    let mut said = Vec::new();
    if let Some(results) = &job.results {
        if let Some(why) = &results.failure {
            said.push(format!("the job failed: {why}"));
        }
        let is_bad = |it: &Ending| matches!(it, Ending::Failed | Ending::Unknown);
        let bad = results.cases.iter().filter(|case| is_bad(case.1));
        let names: Vec<&str> = bad.map(|case| case.0.as_str()).collect();
        if let Some(more) = names.len().checked_sub(3).filter(|more| *more > 0) {
            said.push(format!(
                "{} and {more} more not passed",
                names[..3].join(", ")
            ));
        } else if !names.is_empty() {
            said.push(format!("{} not passed", names.join(", ")));
        }
    }
    let own = runs.get(job.runs.clone()).unwrap_or_default();
    for run in own {
        if let Some(closing) = &run.closing
            && closing.verdict != Verdict::Pass
        {
            said.push(closing.line.clone());
        }
    }
    if !said.is_empty() {
        outcome = Outcome::Failed;
    }
    if !job.lacks.is_empty() || own.iter().any(|run| !run.is_complete()) {
        said.extend(job.lacks.iter().cloned());
        outcome = Outcome::Incomplete;
    }
    (outcome, said)
}
