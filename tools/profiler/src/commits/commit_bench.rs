//! Measures the commits of a TF-A checkout one at a time, and keeps the results.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hardware::text::plural::many;
use host::progress::{in_words, say};
use host::untrusted_text::plain;
use host::{interrupt, process};
use itertools::Itertools as _;
use runner::build::checkout::{self, Commit, CommitRange};
use runner::qemu::run_spec::RunSpec;
use runner::setup::scratch::Scratch;
use runner::setup::workspace::Workspace;
use runner::setup::{self, Need};
use thiserror::Error;

use super::kept_file;
use super::known_commits::{KnownCommit, KnownCommits};

/// The reason why a commit cannot be measured, in one line.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct NotMeasured(pub String);

/// The result of measuring a commit.
pub trait Measurement: Sized {
    /// The folder below `target/psci-bench` in which measurements are kept.
    const FOLDER: &'static str;

    /// A run that has been prepared but not started.
    type Run;

    /// Rejects a run that cannot be measured.
    fn check(_: &RunSpec) -> Result<()> {
        Ok(())
    }

    /// Builds any additional files that measurements depend on, such as a plugin.
    fn tools(workspace: &Workspace) -> Result<Vec<PathBuf>>;

    /// Builds everything that the run needs.
    fn prepare(spec: &RunSpec) -> Result<Self::Run>;

    /// Returns a hash of everything that the measurement depends on.
    fn identity(run: &Self::Run) -> Result<String>;

    /// Runs the machine. If the run measures nothing, returns the reason, which must be the same
    /// each time the commit is measured.
    fn measure(run: Self::Run) -> Result<Result<Self, NotMeasured>>;

    /// Reads a kept measurement, or returns None if it is in another format.
    fn read(json: &[u8]) -> Option<Self>;

    /// Writes the measurement so that [`Self::read`] can read it.
    fn write(&self, out: &mut dyn Write) -> Result<()>;
}

/// A commit and its measurement.
#[derive(Debug)]
pub(super) struct MeasuredCommit<M> {
    pub commit: Commit,
    /// The earlier commit with an identical run, if there is one.
    pub same_as: Option<Commit>,
    pub result: Result<M, NotMeasured>,
}

/// Measures the commits in a range of a checkout.
#[derive(Debug)]
pub(super) struct CommitBench<M> {
    checkout: PathBuf,
    spec: RunSpec,
    commits: Vec<Commit>,
    known: KnownCommits,
    workspace: Workspace,
    /// The number of commits measured by this process, and how long that took.
    measured: Cell<(u32, Duration)>,
    /// The first commit with each run identity.
    seen: BTreeMap<String, Commit>,
    measurement: PhantomData<M>,
}

/// Returns the indices of the releases in `commits`.
pub(super) fn releases(commits: &[Commit]) -> Vec<usize> {
    let places = commits.iter().positions(|commit| commit.release.is_some());
    places.collect()
}

impl<M: Measurement> CommitBench<M> {
    /// Prepares to measure the commits in `range` of the checkout specified by `spec`.
    pub fn new(spec: &RunSpec, range: &CommitRange<'_>) -> Result<Self> {
        M::check(spec)?;
        let Some(checkout) = spec.tf_a.clone() else {
            bail!("specify a TF-A checkout with --tf-a DIR");
        };
        if !checkout.join(".git").exists() {
            let at = checkout.display();
            bail!("--tf-a {at}: not a Git checkout: it contains no .git");
        }
        let commits = checkout::commits(&checkout, range)?;
        if checkout::has_changes(&checkout)? {
            let at = checkout.display();
            say(&format!(
                "warning: --tf-a {at}: uncommitted changes are not measured; a ledger covers only commits"
            ));
        }
        let workspace = Workspace::find()?;
        // Install these first, so that a later failure at a commit is caused by that commit.
        setup::ensure(&workspace, &[Need::Qemu, Need::CrossCompiler, Need::Make])?;
        let folder = workspace.state().join(M::FOLDER).join("commits");
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let known = KnownCommits::open(folder, &workspace, spec, &M::tools(&workspace)?)?;
        Ok(Self {
            commits,
            known,
            checkout,
            spec: spec.clone(),
            workspace,
            measured: Cell::default(),
            seen: BTreeMap::new(),
            measurement: PhantomData,
        })
    }

    /// Returns the commits in the range, in order.
    pub fn commits(&self) -> Vec<Commit> {
        self.commits.clone()
    }

    /// Returns the branch that `commit` merged, starting with the commit at which the branch left
    /// the main line. Empty if `commit` is not a merge.
    pub fn merged_branch(&self, commit: &Commit) -> Result<Vec<Commit>> {
        let branch = checkout::merged_branch(&self.checkout, commit)?;
        if !branch.is_empty() {
            let own = many(branch.len() - 1, "commit");
            say(&format!("searching {own} merged by {}", commit.short()));
        }
        Ok(branch)
    }

    /// Measures the commit at `place` in `commits`.
    pub fn measure(&mut self, commits: &[Commit], place: usize) -> Result<MeasuredCommit<M>> {
        let commit = commits[place].clone();
        let position = format!("{}/{}", place + 1, commits.len());
        let pace = self.pace();
        say(&format!(
            "{position} {} {}{pace}",
            commit.name(),
            commit.title
        ));
        let (same_as, result) = match self.kept_or_measured(&commit)? {
            Ok((identity, measurement)) => {
                let same_as = self.seen.get(&identity).cloned();
                self.seen.entry(identity).or_insert_with(|| commit.clone());
                (same_as, Ok(measurement))
            }
            Err(failure) => {
                say(&format!("  skipped: {failure}"));
                (None, Err(failure))
            }
        };
        Ok(MeasuredCommit {
            commit,
            same_as,
            result,
        })
    }

    /// Returns a clause with the mean time that a measurement has taken, or an empty string before
    /// the first one. Which commits a bisection will measure is not known in advance.
    fn pace(&self) -> String {
        let (count, time) = self.measured.get();
        match time.checked_div(count) {
            Some(mean) => format!(" ({} a commit so far)", in_words(mean)),
            None => String::new(),
        }
    }

    /// Returns the identity of the commit's run and its measurement.
    fn kept_or_measured(&self, commit: &Commit) -> Result<Result<(String, M), NotMeasured>> {
        interrupt::check()?;
        match self.known.get(commit) {
            Some(KnownCommit::DoesNotCompile(why)) => return Ok(Err(NotMeasured(why))),
            Some(KnownCommit::Measured(identity)) => {
                if let Some(measurement) = self.kept(&identity) {
                    return Ok(Ok((identity, measurement)));
                }
            }
            None => {}
        }
        let begun = Instant::now();
        let source = Scratch::new(&self.workspace)?;
        checkout::unpack(&self.checkout, commit, source.path())?;
        let mut spec = self.spec.clone();
        spec.tf_a = Some(source.path().to_path_buf());
        spec.tf_a_title = Some(commit.name().to_owned());
        let run = match M::prepare(&spec) {
            Ok(run) => run,
            Err(error) => return self.not_prepared(commit, error).map(Err),
        };
        let identity = M::identity(&run)?;
        let measurement = match self.kept(&identity) {
            Some(measurement) => measurement,
            None => match self.measure_and_keep(run, &identity)? {
                Ok(measurement) => measurement,
                Err(failure) => return Ok(Err(failure)),
            },
        };
        let known = KnownCommit::Measured(identity.clone());
        self.known.keep(commit, &known)?;
        let (count, time) = self.measured.get();
        self.measured.set((count + 1, time + begun.elapsed()));
        Ok(Ok((identity, measurement)))
    }

    /// Returns the file for the measurement of the run with this identity.
    fn place(&self, identity: &str) -> PathBuf {
        let folder = self.workspace.state().join(M::FOLDER);
        folder.join(identity).with_added_extension("json")
    }

    fn kept(&self, identity: &str) -> Option<M> {
        M::read(&kept_file::read(&self.place(identity))?)
    }

    fn measure_and_keep(&self, run: M::Run, identity: &str) -> Result<Result<M, NotMeasured>> {
        let result = M::measure(run)?;
        interrupt::check()?;
        if let Ok(measurement) = &result {
            let place = self.place(identity);
            kept_file::write("a kept measurement", &place, |out| measurement.write(out))?;
        }
        Ok(result)
    }

    /// Returns the reason why the commit's run could not be prepared.
    ///
    /// # Errors
    /// Returns an error if that is not the commit's fault.
    fn not_prepared(&self, commit: &Commit, error: anyhow::Error) -> Result<NotMeasured> {
        interrupt::check()?;
        let is_compiler_error = compiler_error_line(&format!("{error:#}")).is_some();
        let failure = failure_of_commit(error)?;
        // Other failures may have a cause outside the commit, such as a missing package.
        if is_compiler_error {
            let known = KnownCommit::DoesNotCompile(failure.to_string());
            self.known.keep(commit, &known)?;
        }
        Ok(failure)
    }
}

/// Returns the reason why a commit cannot be built.
///
/// # Errors
/// Returns an error if the disk is full, which is not the commit's fault.
fn failure_of_commit(error: anyhow::Error) -> Result<NotMeasured> {
    if process::is_storage_full(&error) {
        return Err(error);
    }
    Ok(NotMeasured(compiler_error(&error)))
}

/// Returns the line with the compiler error, or the first line if there is no such error.
pub(super) fn compiler_error(error: &anyhow::Error) -> String {
    let failure = format!("{error:#}");
    let line = compiler_error_line(&failure).or(failure.lines().next());
    plain(line.unwrap_or(&failure).trim())
}

/// Returns the line with the compiler's first error.
fn compiler_error_line(failure: &str) -> Option<&str> {
    failure.lines().find(|line| line.contains("error: "))
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::process::Command;

    use anyhow::anyhow;

    use super::*;

    #[test]
    fn full_disk_is_no_failure_of_a_commit() {
        let failed = |stderr: &str| {
            let mut command = Command::new("sh");
            command
                .args(["-c", "echo \"$TEXT\" >&2; exit 1"])
                .env("TEXT", stderr);
            let error = process::output(&mut command);
            failure_of_commit(error.expect_err("exit code 1").context("make"))
        };
        let commit_reason = failed("making bl31\na.c:1:2: error: expected ';'").expect("a reason");
        assert_eq!(commit_reason.to_string(), "a.c:1:2: error: expected ';'");
        let full = failed("cc1: error: a.o: No space left on device").expect_err("a full disk");
        assert_eq!(full.to_string(), "make");
        let own = io::Error::from(io::ErrorKind::StorageFull);
        let full = failure_of_commit(anyhow!(own).context("unpacking"));
        assert_eq!(full.expect_err("a full disk").to_string(), "unpacking");
    }
}
