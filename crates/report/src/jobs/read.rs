//! Reads jobs from lab engine files, with each job's results and logged runs.
//!
//! A job is either a cell written by `cargo xtask lab`, with the contents of its `results` folder,
//! or a single file. If a file in a cell cannot be read, its job is incomplete, but other jobs are
//! not affected. If a file named by the user cannot be read, an error is returned.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use hardware::text::plural::many;
use host::read_file;

use super::agreed;
use super::cell::Mark;
use super::find::{Found, named};
use super::job::{Key, LabJob};
use super::job_outcome::outcome;
use super::results::Results;
use crate::log::untrusted_text::plain;
use crate::log::{LogReadError, LoggedRun, runs_in_file};

/// The maximum size of a results file, in bytes. A log may be larger.
const RESULTS_MAX: usize = 64 << 20;

/// The format of a results file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultsFormat {
    /// JUnit XML, as written by pytest.
    Junit,
    /// LAVA results, in YAML.
    Lava,
}

impl ResultsFormat {
    /// Returns the format of the results file called `name`, or None for a log.
    pub fn of(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let (stem, ending) = name.rsplit_once('.')?;
        match ending {
            "xml" => Some(Self::Junit),
            "yaml" | "yml" if stem.starts_with("result") => Some(Self::Lava),
            _ => None,
        }
    }

    /// Adds the results in `text`.
    pub fn read(self, text: &[u8], results: &mut Results) -> Result<()> {
        match self {
            Self::Junit => super::junit::read(text, results),
            Self::Lava => super::lava::read_results(text, results),
        }
    }
}

/// Reads the jobs that were `found`, and the runs in their logs. A job that skipped something fails
/// if `deny_skipped` is set, here or in its cell. A file in an unsupported format causes an error
/// that names the file.
pub fn read_all(found: &Found, deny_skipped: bool) -> Result<(Vec<LabJob>, Vec<LoggedRun>)> {
    let (mut jobs, mut runs) = (Vec::new(), Vec::new());
    for cell in &found.cells {
        let mut parts = Parts::default();
        match Mark::read(&cell.dir) {
            Ok(mark) => parts.mark = Some(mark),
            Err(error) => parts.lacks.push(clause(&error)),
        }
        parts.lacks.extend(cell.lacks.iter().cloned());
        for file in &cell.files {
            if let Err(error) = parts.read(file) {
                parts.lacks.push(clause(&error));
            }
        }
        jobs.push(parts.into_job(&cell.dir, deny_skipped, &mut runs));
    }
    for file in &found.files {
        let mut parts = Parts::default();
        let read = parts.read(file);
        read.map_err(|error| anyhow!("{}", clause(&error)))?;
        jobs.push(parts.into_job(file, deny_skipped, &mut runs));
    }
    Ok((jobs, runs))
}

fn clause(error: &anyhow::Error) -> String {
    plain(format!("{error:#}").trim_start())
}

#[derive(Default)]
struct Parts {
    mark: Option<Mark>,
    results: Option<Results>,
    runs: Vec<LoggedRun>,
    without: Vec<String>,
    lacks: Vec<String>,
}

impl Parts {
    fn read(&mut self, path: &Path) -> Result<()> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let at = || named(path);
        if let Some(format) = ResultsFormat::of(&name) {
            let text = read_file::read("", path, RESULTS_MAX)?;
            let mut own = Results::default();
            let read = format.read(&text, &mut own).with_context(at);
            // Results read before an error still count.
            self.results.get_or_insert_default().merge(own);
            return read;
        }
        let file = File::open(path).with_context(at)?;
        if let Some(own) = super::lava::read_log(file).with_context(at)? {
            self.results.get_or_insert_default().merge(own);
        }
        let file = File::open(path).with_context(at)?;
        match runs_in_file(&at(), file).collect::<Result<Vec<_>, _>>() {
            Ok(runs) => self.runs.extend(runs),
            // A job that failed early has no runs, but must still be listed.
            Err(error @ LogReadError::NoRun(_)) => self.without.push(plain(&error.to_string())),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Returns the job with its outcome, and moves its runs to `runs`.
    fn into_job(mut self, path: &Path, deny_skipped: bool, runs: &mut Vec<LoggedRun>) -> LabJob {
        // A run that appears in two of a job's files is counted only once.
        let mut notes = take_repeats(&mut self.runs);
        let is_read = self.lacks.is_empty();
        self.check_cpus();
        // Files without UART output are a problem only if the job has no runs.
        if self.runs.is_empty() {
            self.lacks.append(&mut self.without);
            if self.lacks.is_empty() {
                self.lacks.push("no UART log".to_owned());
            }
        }
        notes.extend(self.check_results(is_read));
        let Self { mark, results, .. } = self;
        let is_denied = deny_skipped || mark.as_ref().is_some_and(|mark| mark.deny_skipped);
        let (outcome, said) = outcome(results.as_ref(), &self.runs, self.lacks, is_denied);
        let own = runs.len()..runs.len() + self.runs.len();
        let job = LabJob {
            name: named(path),
            key: Key::of(mark.as_ref(), self.runs.iter()),
            engine: mark.as_ref().map(|mark| mark.engine.clone()),
            outcome,
            said,
            notes,
            measurements: results.as_ref().map(Results::measurements),
            results,
            runs: own.collect(),
            mark,
        };
        runs.append(&mut self.runs);
        job
    }

    /// Finds runs whose CPU count differs from the cell's, which means that their log is from
    /// another job.
    fn check_cpus(&mut self) {
        let cpus = self.mark.as_ref().map_or(0, |mark| mark.cpus as usize);
        // A run read from lines contains only the CPUs that have figures.
        let runs = self.runs.iter();
        for run in runs.filter(|run| run.integrity.records.is_some() && cpus > 0) {
            let count = run.run.cpus.len();
            if count != cpus {
                self.lacks.push(format!(
                    "the log is from another job: {}, but the cell has {cpus}",
                    many(count, "CPU")
                ));
            }
        }
    }

    /// Records what is missing from the engine's results, and returns a note about anything that
    /// was not checked. `is_read` is true if all files could be read.
    fn check_results(&mut self, is_read: bool) -> Option<String> {
        let Some(results) = &self.results else {
            let is_lack = self.mark.is_some() && is_read;
            let text = "no results from the engine";
            self.lacks.extend(is_lack.then(|| text.to_owned()));
            return None;
        };
        self.lacks.extend(results.lacks.iter().cloned());
        let mut note = None;
        match self.mark.as_ref().map(|mark| mark.engine.as_str()) {
            Some("lava") if agreed::has_others_monitors(results) => {
                note = Some(agreed::OTHERS_MONITORS.to_owned());
            }
            Some(_) if is_read => self.lacks.extend(agreed::lacks(results, &self.runs)),
            _ => {}
        }
        if is_read && !results.ended {
            let text = "the engine's log ends before the job does";
            self.lacks.push(text.to_owned());
        }
        if is_read && results.cases.is_empty() && results.measured.is_empty() {
            self.lacks.push("the engine has no test cases".to_owned());
        }
        note
    }
}

/// Removes runs that are identical to an earlier run down to the last tick, and returns a sentence
/// about each of them. The samples must not be counted twice if a run is specified twice or if a
/// machine produces exactly the same run again.
fn take_repeats(runs: &mut Vec<LoggedRun>) -> Vec<String> {
    let mut repeats = Vec::new();
    for run in std::mem::take(runs) {
        let Some(first) = runs.iter().find(|it| is_repeat(&run, it)) else {
            runs.push(run);
            continue;
        };
        let (run, first) = (&run.source, &first.source);
        repeats.push(format!(
            "{} (run {}) and {} (run {}) are identical down to the last tick; counted once",
            run.input, run.place, first.input, first.place
        ));
    }
    repeats
}

/// Returns true if `run` is identical to `other` down to the last tick.
fn is_repeat(run: &LoggedRun, other: &LoggedRun) -> bool {
    let (own, others) = (&run.run.scenarios, &other.run.scenarios);
    !own.is_empty() && own == others
}
