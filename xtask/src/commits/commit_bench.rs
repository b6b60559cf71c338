//! Measures the commits of a TF-A checkout one at a time, and keeps the results.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::marker::PhantomData;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use host::files;
use host::interrupt;
use host::process;
use host::progress::say;
use report::log::untrusted_text::plain;
use thiserror::Error;

use crate::build::checkout::{self, Commit};
use crate::qemu::run_spec::RunSpec;
use crate::setup::scratch::Scratch;
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need};

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
    workspace: Workspace,
    /// The first commit with each run identity.
    seen: BTreeMap<String, Commit>,
    measurement: PhantomData<M>,
}

impl<M: Measurement> CommitBench<M> {
    /// Prepares to measure the commits in `range` of the checkout specified by `spec`.
    pub fn new(spec: &RunSpec, range: &str, first_parent: bool) -> Result<Self> {
        let checkout = spec.tf_a.clone();
        let checkout = checkout.context("specify a TF-A checkout with --tf-a DIR")?;
        if !checkout.join(".git").exists() {
            let at = checkout.display();
            bail!("--tf-a {at}: not a Git checkout: it contains no .git");
        }
        let commits = checkout::commits(&checkout, range, first_parent)?;
        if checkout::has_changes(&checkout)? {
            let at = checkout.display();
            say(&format!(
                "warning: --tf-a {at}: uncommitted changes are not measured; a ledger covers only commits"
            ));
        }
        let workspace = Workspace::find()?;
        // Install these first, so that a later failure at a commit is caused by that commit.
        setup::ensure(&workspace, &[Need::Qemu, Need::CrossCompiler, Need::Make])?;
        Ok(Self {
            commits,
            checkout,
            spec: spec.clone(),
            workspace,
            seen: BTreeMap::new(),
            measurement: PhantomData,
        })
    }

    /// Returns the number of commits.
    pub fn count(&self) -> usize {
        self.commits.len()
    }

    /// Measures the commit at `place`.
    pub fn measure(&mut self, place: usize) -> Result<MeasuredCommit<M>> {
        let commit = self.commits[place].clone();
        let position = format!("{}/{}", place + 1, self.commits.len());
        say(&format!("{position} {} {}", commit.short(), commit.title));
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

    /// Returns the identity of the commit's run and its measurement.
    fn kept_or_measured(&self, commit: &Commit) -> Result<Result<(String, M), NotMeasured>> {
        interrupt::check()?;
        let source = Scratch::new(&self.workspace)?;
        checkout::unpack(&self.checkout, commit, source.path())?;
        let mut spec = self.spec.clone();
        spec.tf_a = Some(source.path().to_path_buf());
        let run = match M::prepare(&spec) {
            Ok(run) => run,
            Err(error) => {
                interrupt::check()?;
                return failure_of_commit(error).map(Err);
            }
        };
        let identity = M::identity(&run)?;
        let folder = self.workspace.state().join(M::FOLDER);
        let place = folder.join(&identity).with_added_extension("json");
        let kept = fs::read(&place).ok();
        if let Some(measurement) = kept.and_then(|it| M::read(&it)) {
            return Ok(Ok((identity, measurement)));
        }
        let result = M::measure(run)?;
        interrupt::check()?;
        let measurement = match result {
            Ok(measurement) => measurement,
            Err(failure) => return Ok(Err(failure)),
        };
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        files::write_by(("a kept measurement", &place), |out| measurement.write(out))?;
        Ok(Ok((identity, measurement)))
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
    let of_compiler = failure.lines().find(|line| line.contains("error: "));
    let line = of_compiler.or(failure.lines().next());
    plain(line.unwrap_or(&failure).trim())
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::process::Command;

    use anyhow::anyhow;

    use super::*;

    #[test]
    fn full_disk_is_no_failure_of_a_commit() {
        let failed = |said: &str| {
            let mut command = Command::new("sh");
            command
                .args(["-c", "echo \"$SAID\" >&2; exit 1"])
                .env("SAID", said);
            let error = process::output(&mut command);
            failure_of_commit(error.expect_err("exit code 1").context("make"))
        };
        let of_commit = failed("making bl31\na.c:1:2: error: expected ';'").expect("a reason");
        assert_eq!(of_commit.to_string(), "a.c:1:2: error: expected ';'");
        let full = failed("cc1: error: a.o: No space left on device").expect_err("a full disk");
        assert_eq!(full.to_string(), "make");
        let own = io::Error::from(io::ErrorKind::StorageFull);
        let full = failure_of_commit(anyhow!(own).context("unpacking"));
        assert_eq!(full.expect_err("a full disk").to_string(), "unpacking");
    }
}
