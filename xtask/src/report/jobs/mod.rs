//! What lab engines give -> jobs, each with its results and the runs in its
//! logs.
//!
//! ```text
//! lava ─── LAVA's results, of its log or of its result YAML
//! junit ── labgrid's, in JUnit's XML
//! ```
//!
//! A job is a cell that `cargo xtask lab` has written, with what is in its
//! folder `results`; or one file, which says itself whose it is. What a file is
//! goes by its name: `*.xml` is JUnit's, `result*.yaml` LAVA's results; other
//! `*.yaml`, `*.log` and `*.txt` are logs, but for the `description.yaml` that
//! LAVA writes beside them. Further files of a cell are not read.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::model::Run;
use super::read::{Input, ReadError, read};
use crate::lab::cell::{MARK, Mark, RESULTS, SCHEMA};
use crate::payload;

mod junit;
mod lava;

pub use self::lava::read_log;

/// The largest file of results, in bytes; a log may be larger.
const RESULTS_MAX: usize = 64 << 20;
/// The largest `cell.json`.
const MARK_MAX: usize = 64 << 10;
/// How deep below a folder cells, and below `results` files, are looked for.
const DEPTH_MAX: u32 = 3;
/// The most files of a job.
const FILES_MAX: usize = 1000;

/// How a test case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// As it should.
    Passed,
    /// It was not run.
    Skipped,
    /// The engine could not tell.
    Unknown,
    /// Not as it should.
    Failed,
}

impl Ending {
    /// In a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Skipped => "skipped",
            Self::Unknown => "unknown",
            Self::Failed => "failed",
        }
    }
}

/// A file of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// JUnit's XML, as pytest writes it.
    Junit,
    /// LAVA's results in YAML.
    Lava,
}

impl Kind {
    /// What a file of this name is; None: a log.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let (stem, ending) = name.rsplit_once('.')?;
        match ending {
            "xml" => Some(Self::Junit),
            "yaml" | "yml" if stem.starts_with("result") => Some(Self::Lava),
            _ => None,
        }
    }

    /// Adds what `text` says.
    ///
    /// # Errors
    /// When it is no such file.
    pub fn read(self, text: &[u8], results: &mut Results) -> Result<()> {
        match self {
            Self::Junit => junit::read(text, results),
            Self::Lava => lava::read_results(text, results),
        }
    }
}

/// What the results of a job say together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// Test cases by name. Of one that is there twice, the worse counts.
    pub cases: BTreeMap<String, Ending>,
    /// How many measurements the engine has kept.
    pub measurements: usize,
    /// Why the job itself failed, if it did.
    pub failure: Option<String>,
    /// Whether the engine has said that the job is over.
    pub ended: bool,
}

impl Results {
    fn add(&mut self, name: String, ending: Ending) {
        let known = self.cases.entry(name).or_insert(ending);
        *known = ending.max(*known);
    }

    /// How many test cases ended so.
    #[must_use]
    pub fn count(&self, ending: Ending) -> usize {
        self.cases.values().filter(|it| **it == ending).count()
    }
}

/// A job, or a file of one.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its folder or file.
    pub name: String,
    /// The engine, where a cell says it.
    pub engine: Option<String>,
    /// What the cell calls the board.
    pub board: Option<String>,
    /// What the cell calls the firmware.
    pub firmware: Option<String>,
    /// What the engine says; None where it has said nothing.
    pub results: Option<Results>,
    /// Which of the runs that were read are its own.
    pub runs: std::ops::Range<usize>,
    /// What is not there that has to be.
    pub lacks: Vec<String>,
}

/// Reads the jobs at `paths`, and the runs in their logs.
///
/// # Errors
/// When there is none, or a file is none of those above.
pub fn read_all(paths: &[PathBuf]) -> Result<(Vec<Job>, Vec<Run>)> {
    let (mut jobs, mut runs) = (Vec::new(), Vec::new());
    for path in paths {
        if !path.is_dir() {
            let mut job = Job::new(path);
            job.read(path, &mut runs)?;
            job.close();
            jobs.push(job);
            continue;
        }
        let mut cells = Vec::new();
        find(path, 0, &mut cells)?;
        if cells.is_empty() {
            bail!(
                "{}: there is no {MARK} in it or below: it is not what cargo xtask lab writes",
                path.display()
            );
        }
        cells.sort();
        for cell in cells {
            jobs.push(of_cell(&cell, &mut runs)?);
        }
    }
    Ok((jobs, runs))
}

/// The cells in `dir` and below.
fn find(dir: &Path, depth: u32, cells: &mut Vec<PathBuf>) -> Result<()> {
    if dir.join(MARK).is_file() {
        cells.push(dir.to_path_buf());
        return Ok(());
    }
    if depth < DEPTH_MAX {
        for entry in fs::read_dir(dir).with_context(|| dir.display().to_string())? {
            let path = entry?.path();
            // A link may lead back here.
            if path.is_dir() && !path.is_symlink() {
                find(&path, depth + 1, cells)?;
            }
        }
    }
    Ok(())
}

fn of_cell(dir: &Path, runs: &mut Vec<Run>) -> Result<Job> {
    let path = dir.join(MARK);
    let at = || path.display().to_string();
    let mark = payload::read("", &path, MARK_MAX)?;
    let mark: Mark = serde_json::from_slice(&mark).with_context(at)?;
    if mark.schema != SCHEMA || mark.version != 1 {
        bail!(
            "{}: this is {} {}, and not {SCHEMA} 1",
            at(),
            mark.schema,
            mark.version
        );
    }
    let mut job = Job::new(dir);
    job.engine = Some(mark.engine);
    job.board = Some(mark.board);
    job.firmware = Some(mark.firmware);
    job.runs = runs.len()..runs.len();
    let mut files = Vec::new();
    let results = dir.join(RESULTS);
    if results.is_dir() {
        list(&results, 0, &mut files)?;
    }
    files.sort();
    if files.is_empty() {
        job.lacks
            .push(format!("there is nothing in {}", results.display()));
        return Ok(job);
    }
    for file in files {
        job.read(&file, runs)?;
    }
    job.close();
    Ok(job)
}

/// The files in `dir` and below.
fn list(dir: &Path, depth: u32, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(dir).with_context(|| dir.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() && !path.is_symlink() && depth < DEPTH_MAX {
            list(&path, depth + 1, files)?;
        } else if path.is_file() && is_read(&path) {
            files.push(path);
        }
        if files.len() > FILES_MAX {
            bail!(
                "{}: more than the {FILES_MAX} files that are read of a job",
                dir.display()
            );
        }
    }
    Ok(())
}

/// Whether a file of a cell has a name of those above.
fn is_read(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default();
    let endings = ["xml", "yaml", "yml", "log", "txt"];
    endings.iter().any(|known| ending == *known)
        && path
            .file_name()
            .is_some_and(|name| name != "description.yaml")
}

impl Job {
    fn new(path: &Path) -> Self {
        Self {
            name: path.display().to_string(),
            engine: None,
            board: None,
            firmware: None,
            results: None,
            runs: 0..0,
            lacks: Vec::new(),
        }
    }

    /// Reads one of its files.
    fn read(&mut self, path: &Path, runs: &mut Vec<Run>) -> Result<()> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let at = || path.display().to_string();
        if self.runs.is_empty() {
            self.runs = runs.len()..runs.len();
        }
        if let Some(kind) = Kind::of(&name) {
            let text = payload::read("", path, RESULTS_MAX)?;
            let results = self.results.get_or_insert_default();
            return kind.read(&text, results).with_context(at);
        }
        let file = File::open(path).with_context(at)?;
        if let Some(of_log) = lava::read_log(file).with_context(at)? {
            let results = self.results.get_or_insert_default();
            results.measurements += of_log.measurements;
            results.failure = results.failure.take().or(of_log.failure);
            results.ended |= of_log.ended;
            for (name, ending) in of_log.cases {
                results.add(name, ending);
            }
        }
        let file = File::open(path).with_context(at)?;
        match read([Input {
            name: at(),
            from: file,
        }]) {
            Ok(report) => runs.extend(report.runs),
            // A job that failed early has none, and is not left out for that.
            Err(error @ (ReadError::NoRun { .. } | ReadError::Empty { .. })) => {
                self.lacks.push(error.to_string());
            }
            Err(error) => return Err(error.into()),
        }
        self.runs.end = runs.len();
        Ok(())
    }

    /// What it lacks when all is read.
    fn close(&mut self) {
        // Not every file of a job is the UART's.
        if !self.runs.is_empty() {
            self.lacks.clear();
        } else if self.lacks.is_empty() {
            self.lacks.push("there is no log of the UART".to_owned());
        }
        let of_engine = self.engine.is_some();
        match &self.results {
            None if of_engine => self
                .lacks
                .push("there are no results of the engine".to_owned()),
            Some(results) if !results.ended => {
                self.lacks
                    .push("the engine's log does not come to the end of the job".to_owned());
            }
            _ => {}
        }
    }
}
