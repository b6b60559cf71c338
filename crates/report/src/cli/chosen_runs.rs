//! Reads the runs from the logs named on the command line.

use std::io::stdin;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::builder::TypedValueParser;
use hardware::text::plural::many;
use host::read_file;

use crate::analysis::typical::typical;
use crate::log::{LoggedRun, runs_in_file, tables};

/// Returns a parser for run numbers, which start at 1.
pub fn place_parser() -> impl TypedValueParser<Value = usize> {
    clap::value_parser!(u64)
        .range(1..)
        .map(|place| place as usize)
}

/// The runs to report: all of them, or only the one with a given number.
pub struct ChosenRuns {
    place: Option<usize>,
    count: usize,
    runs: Vec<LoggedRun>,
}

impl ChosenRuns {
    /// Creates an empty list. `place` is 1-based.
    pub fn new(place: Option<usize>) -> Self {
        Self {
            place,
            count: 0,
            runs: Vec::new(),
        }
    }

    /// Adds the next run, unless the user chose a different one.
    pub fn add(&mut self, run: LoggedRun) {
        self.count += 1;
        if self.place.is_none_or(|place| place == self.count) {
            self.runs.push(run);
        }
    }

    /// Returns the runs.
    ///
    /// # Errors
    /// Returns an error if `option` selects a run that is not in the input, which is described by
    /// `what`.
    pub fn end(self, option: &str, what: &str) -> Result<Vec<LoggedRun>> {
        match self.place {
            Some(place) if place > self.count => {
                bail!("{option} {place}: {what} has {}", many(self.count, "run"))
            }
            _ => Ok(self.runs),
        }
    }
}

/// Returns all runs in `logs`; `-` is stdin.
pub fn read_all(logs: &[PathBuf]) -> Result<Vec<LoggedRun>> {
    let mut all = Vec::new();
    read_each(logs, |run| all.push(run))?;
    Ok(all)
}

/// Calls `take` for each run in `logs` as soon as it has been read.
pub fn read_each(logs: &[PathBuf], mut take: impl FnMut(LoggedRun)) -> Result<()> {
    for log in logs {
        if log == Path::new("-") {
            let file = stdin().as_fd().try_clone_to_owned().context("stdin")?;
            for run in runs_in_file("stdin", file.into()) {
                take(run?);
            }
        } else if tables::are_at(log) {
            take(tables::read(log)?);
        } else {
            let file = read_file::open_finite("", log)?;
            for run in runs_in_file(&log.display().to_string(), file) {
                take(run?);
            }
        }
    }
    Ok(())
}

/// Returns the baseline: the typical run of several files, or the run that `option` selects from a
/// single file.
pub fn read_baseline(paths: &[PathBuf], place: Option<usize>, option: &str) -> Result<LoggedRun> {
    let mut chosen = ChosenRuns::new(place);
    read_each(paths, |run| chosen.add(run))?;
    let runs = chosen.end(option, "the baseline")?;
    let count = runs.len();
    if place.is_none() && count > 1 && paths.len() == 1 {
        let path = paths[0].display();
        bail!("{path}: contains {count} runs; choose one with {option} N");
    }
    typical(&runs)
}
