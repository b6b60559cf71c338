//! Reads the runs from the logs named on the command line.

use std::io::stdin;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::builder::TypedValueParser;
use hardware::text::plural::many;
use host::read_file;

use crate::analysis::typical::typical;
use crate::log::{LogReadError, LoggedRun, runs_in_file, tables};

/// Returns a parser for run numbers, which start at 1.
pub fn run_number_parser() -> impl TypedValueParser<Value = usize> {
    clap::value_parser!(u64)
        .range(1..)
        .map(|number| number as usize)
}

/// The runs to report: all of them, or only the one with a given number.
pub struct ChosenRuns {
    /// The number of the run that the user chose.
    number: Option<usize>,
    /// The number of runs in the input so far.
    count: usize,
    runs: Vec<LoggedRun>,
}

impl ChosenRuns {
    /// Creates an empty list. `number` is 1-based.
    pub fn new(number: Option<usize>) -> Self {
        Self {
            number,
            count: 0,
            runs: Vec::new(),
        }
    }

    /// Adds the next run, unless the user chose a different one.
    pub fn add(&mut self, logged: LoggedRun) {
        self.count += 1;
        if self.number.is_none_or(|number| number == self.count) {
            self.runs.push(logged);
        }
    }

    /// Returns the chosen runs once the input has ended.
    ///
    /// # Errors
    /// Returns an error if `option` selects a run that is not in the input, which is described by
    /// `what`.
    pub fn end(self, option: &str, what: &str) -> Result<Vec<LoggedRun>> {
        if let Some(number) = self.number
            && number > self.count
        {
            bail!("{option} {number}: {what} has {}", many(self.count, "run"));
        }
        Ok(self.runs)
    }
}

/// Returns all runs in `logs`; `-` is stdin.
pub fn read_all(logs: &[PathBuf]) -> Result<Vec<LoggedRun>> {
    let mut runs = Vec::new();
    read_each(logs, |logged| runs.push(logged))?;
    Ok(runs)
}

/// Calls `take` for each run in `logs` as soon as it has been read.
pub fn read_each(logs: &[PathBuf], take: impl FnMut(LoggedRun)) -> Result<()> {
    read_logs(logs, |read| read, take)
}

/// Like [`read_each`], but a log that ends before a run starts is not an error if it has boot
/// timestamps.
pub(super) fn read_each_boot(logs: &[PathBuf], take: impl FnMut(LoggedRun)) -> Result<()> {
    read_logs(logs, run_or_boot, take)
}

/// Returns the boot if there is no run, but there are boot timestamps.
pub(super) fn run_or_boot(read: ReadResult) -> ReadResult {
    match read {
        Err(LogReadError::NoRun(logged)) if !logged.boot.is_empty() => Ok(*logged),
        read => read,
    }
}

/// A run, or why there is none.
type ReadResult = Result<LoggedRun, LogReadError>;

fn read_logs(
    logs: &[PathBuf],
    admit: fn(ReadResult) -> ReadResult,
    mut take: impl FnMut(LoggedRun),
) -> Result<()> {
    for log in logs {
        if log == Path::new("-") {
            let file = stdin().as_fd().try_clone_to_owned().context("stdin")?;
            for run in runs_in_file("stdin", file.into()) {
                take(admit(run)?);
            }
        } else if tables::are_at(log) {
            take(tables::read(log)?);
        } else {
            let file = read_file::open_finite("", log)?;
            for run in runs_in_file(&log.display().to_string(), file) {
                take(admit(run)?);
            }
        }
    }
    Ok(())
}

/// Returns the baseline: the typical run of several files, or the run that `option` selects from a
/// single file.
pub fn read_baseline(paths: &[PathBuf], number: Option<usize>, option: &str) -> Result<LoggedRun> {
    let mut chosen = ChosenRuns::new(number);
    read_each(paths, |logged| chosen.add(logged))?;
    let runs = chosen.end(option, "the baseline")?;
    let count = runs.len();
    if number.is_none() && count > 1 && paths.len() == 1 {
        let path = paths[0].display();
        bail!("{path}: contains {count} runs; choose one with {option} N");
    }
    typical(&runs)
}
