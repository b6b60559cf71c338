//! Measures the commits in a range: all of them, or those that a bisection selects.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use host::files;
use host::interrupt;
use host::process;
use host::progress::say;
use itertools::Itertools as _;
use report::log::untrusted_text::plain;
use report::profile::difference::InstructionScope;
use report::profile::profile::Profile;
use thiserror::Error;

use super::bisect::find_steps;
use super::ledger::{CommitLedger, LedgerEntry, LedgerStep, Selected, step};
use super::run::ProfiledRun;
use crate::build::checkout::{self, Commit};
use crate::qemu::run_result::RunResult;
use crate::qemu::run_spec::RunSpec;
use crate::setup::scratch::Scratch;
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need};

/// The reason why a commit has no profile.
#[derive(Debug, Error)]
enum NoProfile {
    /// The commit cannot be built. Contains the compiler's error line.
    #[error("{0}")]
    NotBuilt(String),
    /// The commit's run did not pass.
    #[error("{0}")]
    NotPassed(String),
    /// The plugin's record of the commit's run is incomplete.
    #[error("{0}")]
    Damaged(String),
}

/// Measures the commits in a checkout.
#[derive(Debug)]
pub struct LedgerBench {
    checkout: PathBuf,
    spec: RunSpec,
    commits: Vec<Commit>,
    workspace: Workspace,
    /// The first commit with each run identity.
    seen: BTreeMap<String, Commit>,
}

impl LedgerBench {
    /// Prepares to measure the commits in `range` of the checkout specified by `spec`.
    pub fn new(spec: &RunSpec, range: &str, first_parent: bool) -> Result<Self> {
        let checkout = spec.tf_a.clone();
        let checkout = checkout.context("specify a TF-A checkout with --tf-a DIR")?;
        if !checkout.join(".git").exists() {
            let at = checkout.display();
            bail!("--tf-a {at}: not a Git checkout: it contains no .git");
        }
        if spec.variant.has("pmf=off") {
            bail!("--variant pmf=off: a ledger needs PMF's phases");
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
        })
    }

    /// Measures the commit at `place`. If the commit cannot be built or run, the entry contains the
    /// reason.
    fn measure(&mut self, place: usize) -> Result<LedgerEntry> {
        let commit = self.commits[place].clone();
        let (number, all, id) = (place + 1, self.commits.len(), commit.short());
        say(&format!("{number}/{all} {id} {}", commit.title));
        let (identity, profile) = match self.profile(&commit)? {
            Ok(measured) => measured,
            Err(failure) => {
                say(&format!("  skipped: {failure}"));
                let failure = Some(failure.to_string());
                return Ok(LedgerEntry {
                    commit,
                    failure,
                    ..LedgerEntry::default()
                });
            }
        };
        let same_as = self.seen.get(&identity).cloned();
        self.seen.entry(identity).or_insert_with(|| commit.clone());
        Ok(LedgerEntry::measured(commit, same_as, profile))
    }

    /// Returns the identity of the commit's run and its profile (stored or newly measured), or the
    /// reason why the commit cannot be measured.
    fn profile(&self, commit: &Commit) -> Result<Result<(String, Profile), NoProfile>> {
        interrupt::check()?;
        let source = Scratch::new(&self.workspace)?;
        checkout::unpack(&self.checkout, commit, source.path())?;
        let mut spec = self.spec.clone();
        spec.tf_a = Some(source.path().to_path_buf());
        let run = match ProfiledRun::prepare(&spec, None) {
            Ok(run) => run,
            Err(error) => {
                interrupt::check()?;
                return failure_of_commit(error).map(Err);
            }
        };
        let identity = run.identity.clone();
        let folder = self.workspace.state().join("ledger");
        let place = folder.join(&identity).with_added_extension("json");
        // If a stored profile is in a different format, the commit is measured again.
        let kept = fs::read(&place).ok();
        if let Some(profile) = kept.and_then(|it| Profile::from_json(&it).ok()) {
            return Ok(Ok((identity, profile)));
        }
        let (result, profile) = run.run(None)?;
        interrupt::check()?;
        let profile = match profile_of_run(&result, profile) {
            Ok(profile) => profile,
            Err(failure) => return Ok(Err(failure)),
        };
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let write = |out: &mut dyn io::Write| Ok(serde_json::to_writer(out, &profile)?);
        files::write_by(("the ledger's", &place), write)?;
        Ok(Ok((identity, profile)))
    }

    /// Measures all commits.
    pub fn ledger(mut self, range: &str, tolerance: f64) -> Result<CommitLedger> {
        let entries = (0..self.commits.len()).map(|place| self.measure(place));
        let entries: Vec<LedgerEntry> = entries.collect::<Result<_>>()?;
        let measured = entries.iter().filter(|it| it.profile.is_some());
        let mut steps: Vec<LedgerStep> = measured.tuple_windows().filter_map(step).collect();
        for step in &mut steps {
            step.changes
                .retain(|it| it.exceeds(&InstructionScope::BOTH, tolerance));
        }
        steps.retain(|it| !it.changes.is_empty());
        Ok(CommitLedger::new((range, tolerance), None, entries, steps))
    }

    /// Bisects to find the commits at which a figure changes.
    pub fn bisect(
        mut self,
        range: &str,
        tolerance: f64,
        selected: Selected,
    ) -> Result<CommitLedger> {
        let mut entries = BTreeMap::new();
        let places = find_steps(self.commits.len(), tolerance, |place| {
            let entry = self.measure(place)?;
            let figure = selected.of(&entry);
            if place == 0 && entry.failure.is_none() && figure.is_none() {
                let (name, known) = (&selected.figure, entry.figures.keys().join(", "));
                bail!("{name}: unknown figure; the figures are {known}");
            }
            entries.insert(place, entry);
            Ok(figure)
        })?;
        let steps = places.iter();
        let steps = steps.filter_map(|(old, new)| step((&entries[old], &entries[new])));
        let steps = steps.collect();
        let entries = entries.into_values().collect();
        Ok(CommitLedger::new(
            (range, tolerance),
            Some(selected),
            entries,
            steps,
        ))
    }
}

/// Returns the reason why a commit cannot be built.
///
/// # Errors
/// Returns an error if the disk is full, which is not the commit's fault.
fn failure_of_commit(error: anyhow::Error) -> Result<NoProfile> {
    if process::is_storage_full(&error) {
        return Err(error);
    }
    Ok(NoProfile::NotBuilt(short(&error)))
}

/// Returns the profile of a run that passed. Otherwise returns the reason why the run has no
/// profile, which must be the same each time the commit is measured.
fn profile_of_run(
    result: &RunResult,
    profile: Option<Result<Profile>>,
) -> Result<Profile, NoProfile> {
    match profile {
        Some(profile) if result.exit_code() == 0 => {
            profile.map_err(|error| NoProfile::Damaged(short(&error)))
        }
        _ => Err(NoProfile::NotPassed(result.reason())),
    }
}

/// Returns the line with the compiler error, or the first line if there is none.
fn short(error: &anyhow::Error) -> String {
    let failure = format!("{error:#}");
    let of_compiler = failure.lines().find(|line| line.contains("error: "));
    let line = of_compiler.or(failure.lines().next());
    plain(line.unwrap_or(&failure).trim())
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Duration;

    use anyhow::anyhow;
    use report::follow::stream::MachineEnding;
    use run::model::Verdict;

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

    #[test]
    fn failure_of_a_run_does_not_contain_its_time() {
        let run = |verdict, seconds| RunResult {
            log: Vec::new(),
            verdict,
            ending: MachineEnding::TimedOut,
            diagnosis: Some("no closing line within 7 s".to_owned()),
            positions: Vec::new(),
            elapsed: Duration::from_secs(seconds),
        };
        let failures = [7, 8].map(|seconds| {
            let hung = run(Verdict::Incomplete, seconds);
            profile_of_run(&hung, None)
                .expect_err("no verdict")
                .to_string()
        });
        assert_eq!(failures, ["INCOMPLETE: no closing line within 7 s"; 2]);
        let passed = run(Verdict::Pass, 1);
        let cut = profile_of_run(&passed, Some(Err(anyhow!("the record is cut"))));
        assert_eq!(
            cut.expect_err("no profile").to_string(),
            "the record is cut"
        );
    }
}
