//! Files of lab engines -> jobs, each with its results and the runs in its logs.
//!
//! A job is a cell that `cargo xtask lab` has written, with what is in its folder
//! `results`; or one file. A file of a cell that cannot be read makes its job incomplete,
//! and hides no other one; one that was named is an error.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};

use super::cell::{MARK, Mark, SCHEMA, check_name};
use super::find::{Found, named};
use super::job::{Job, Results};
use crate::report::analysis::merge::is_repeat;
use crate::report::log::untrusted_text::plain;
use crate::report::log::{LoggedRun, ReadError, read};
use crate::setup::plural::many;
use crate::setup::read_file;

/// The largest file of results, in bytes; a log may be larger.
const RESULTS_MAX: usize = 64 << 20;
/// The largest `cell.json`.
const MARK_MAX: usize = 64 << 10;

/// A file of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// JUnit's XML, as pytest writes it.
    Junit,
    /// LAVA's results in YAML.
    Lava,
}

impl Kind {
    /// Returns the kind of a file of this name; None of a log.
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

/// Reads the jobs that were `found`, and the runs in their logs. An error names a
/// file of none of the kinds above.
pub fn read_all(found: &Found) -> Result<(Vec<Job>, Vec<LoggedRun>)> {
    let (mut jobs, mut runs) = (Vec::new(), Vec::new());
    for cell in &found.cells {
        let mut job = Job::new(&cell.dir);
        if let Err(error) = job.mark(&cell.dir) {
            job.lacks.push(told(&error));
        }
        job.lacks.extend(cell.lacks.iter().cloned());
        let mut parts = Parts::default();
        for file in &cell.files {
            if let Err(error) = job.read(file, &mut parts) {
                job.lacks.push(told(&error));
            }
        }
        job.close(parts, &mut runs);
        jobs.push(job);
    }
    for file in &found.files {
        let (mut job, mut parts) = (Job::new(file), Parts::default());
        let read = job.read(file, &mut parts);
        read.map_err(|error| anyhow!("{}", told(&error)))?;
        job.close(parts, &mut runs);
        jobs.push(job);
    }
    Ok((jobs, runs))
}

/// Returns an error as a part of a sentence.
fn told(error: &anyhow::Error) -> String {
    plain(format!("{error:#}").trim_start())
}

/// The logs of a job.
#[derive(Debug, Default)]
struct Parts {
    /// The runs of each log.
    logs: Vec<Vec<LoggedRun>>,
    /// The errors of logs without a run.
    without: Vec<String>,
}

impl Job {
    fn new(path: &Path) -> Self {
        Self {
            name: named(path),
            ..Self::default()
        }
    }

    /// Reads the mark of the cell.
    fn mark(&mut self, dir: &Path) -> Result<()> {
        let path = dir.join(MARK);
        let at = path.display();
        let mark = read_file::read("", &path, MARK_MAX)?;
        let mark: Mark = serde_json::from_slice(&mark).with_context(|| at.to_string())?;
        let (schema, version) = (&mark.schema, mark.version);
        let is_known = (schema.as_str(), version) == (SCHEMA, 1);
        ensure!(
            is_known,
            "{at}: this is {schema:?} {version}, and not {SCHEMA} 1"
        );
        let name = |key: &str, name: String| {
            let checked = check_name(&name);
            checked.map_err(|why| anyhow!("{at}: {key} {name:?}: {why}"))
        };
        self.engine = Some(name("engine", mark.engine)?);
        self.board = Some(name("board", mark.board)?);
        self.firmware = Some(name("firmware", mark.firmware)?);
        self.cpus = Some(u64::from(mark.cpus)).filter(|cpus| *cpus > 0);
        self.deny_skipped = mark.deny_skipped;
        Ok(())
    }

    /// Reads a file of the job.
    fn read(&mut self, path: &Path, parts: &mut Parts) -> Result<()> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let at = || named(path);
        if let Some(kind) = Kind::of(&name) {
            let text = read_file::read("", path, RESULTS_MAX)?;
            let mut own = Results::default();
            let read = kind.read(&text, &mut own).with_context(at);
            // What came before it broke off counts.
            self.results.get_or_insert_default().merge(own);
            return read;
        }
        let file = File::open(path).with_context(at)?;
        if let Some(own) = super::lava::read_log(file).with_context(at)? {
            self.results.get_or_insert_default().merge(own);
        }
        let file = File::open(path).with_context(at)?;
        match read(&at(), file) {
            Ok(runs) => parts.logs.push(runs),
            // A job that failed early has none, and is not left out for that.
            Err(error @ ReadError::NoRun(_)) => {
                parts.without.push(plain(&error.to_string()));
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Moves the job's runs to `runs`, and finds what the job lacks.
    fn close(&mut self, parts: Parts, runs: &mut Vec<LoggedRun>) {
        let from = runs.len();
        for log in parts.logs {
            let before = runs.len();
            for run in log {
                // In another file of the same job: it ran once.
                if let Some(first) = runs[from..before].iter().find(|it| is_repeat(&run, it)) {
                    let (run, first) = (&run.source, &first.source);
                    self.notes.push(format!(
                        "{} (run {}) is {} (run {}) again, to the last tick: counted once",
                        run.input, run.place, first.input, first.place
                    ));
                } else {
                    runs.push(run);
                }
            }
        }
        self.runs = from..runs.len();
        let own = &runs[from..];
        let is_read = self.lacks.is_empty();
        // Lines without records are of the CPUs that have figures.
        for run in own.iter().filter(|run| run.integrity.records.is_some()) {
            let count = run.run.cpus.len();
            if let Some(cpus) = self.cpus.filter(|cpus| *cpus != count as u64) {
                let count = many(count, "CPU");
                let text =
                    format!("the log is of another job: of {count}, and the cell has {cpus}");
                self.lacks.push(text);
            }
        }
        // Not every file of a job is the UART's.
        if own.is_empty() {
            self.lacks.extend(parts.without);
            if self.lacks.is_empty() {
                self.lacks.push("there is no log of the UART".to_owned());
            }
        }
        self.check_results(own, is_read);
    }

    /// Finds what the engine's results lack; `is_read` is true if all files could be read.
    fn check_results(&mut self, runs: &[LoggedRun], is_read: bool) {
        let Some(results) = &self.results else {
            let is_lack = self.engine.is_some() && is_read;
            let text = "there are no results of the engine";
            return self.lacks.extend(is_lack.then(|| text.to_owned()));
        };
        self.lacks.extend(results.lacks.iter().cloned());
        match self.engine.as_deref() {
            Some("lava") if super::agreed::has_others_monitors(results) => {
                self.notes.push(super::agreed::OTHERS_MONITORS.to_owned());
            }
            Some(_) if is_read => self.lacks.extend(super::agreed::lacks(results, runs)),
            _ => {}
        }
        if is_read && !results.ended {
            let text = "the engine's log does not come to the end of the job";
            self.lacks.push(text.to_owned());
        }
        if is_read && results.cases.is_empty() && results.measured.is_empty() {
            self.lacks.push("the engine has no test case".to_owned());
        }
    }
}
