//! Profiles the commits in a range: all of them, or those that a bisection selects.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, bail};
use itertools::Itertools as _;
use report::profile::difference::InstructionScope;
use report::profile::event::Event;
use report::profile::profile::Profile;

use super::bisect::find_steps;
use super::commit_bench::{CommitBench, Measurement, NotMeasured, compiler_error, releases};
use super::ledger::{CommitLedger, LedgerEntry, LedgerStep, Selected, step};
use crate::build::checkout::{Commit, CommitRange};
use crate::profile::run::{ProfiledRun, build_plugin, check_plan};
use crate::qemu::run_result::RunResult;
use crate::qemu::run_spec::RunSpec;
use crate::setup::workspace::Workspace;

impl Measurement for Profile {
    const FOLDER: &'static str = "ledger";

    type Run = ProfiledRun;

    fn tools(workspace: &Workspace) -> Result<Vec<PathBuf>> {
        Ok(vec![build_plugin(workspace)?])
    }

    fn prepare(spec: &RunSpec) -> Result<ProfiledRun> {
        ProfiledRun::prepare(spec, None)
    }

    fn identity(run: &ProfiledRun) -> Result<String> {
        Ok(run.identity.clone())
    }

    fn measure(run: ProfiledRun) -> Result<Result<Self, NotMeasured>> {
        let (result, profile) = run.run(None)?;
        Ok(profile_of_run(&result, profile))
    }

    fn read(json: &[u8]) -> Option<Self> {
        Self::from_json(json).ok()
    }

    fn write(&self, out: &mut dyn Write) -> Result<()> {
        Ok(serde_json::to_writer(out, self)?)
    }
}

/// Profiles the commits in a checkout.
#[derive(Debug)]
pub struct LedgerBench {
    commits: CommitBench<Profile>,
    /// The event to count instead of instructions.
    unit: Option<Event>,
}

impl LedgerBench {
    /// Prepares to measure the commits in `range` of the checkout specified by `spec`.
    pub fn new(spec: &RunSpec, range: &CommitRange<'_>) -> Result<Self> {
        if spec.variant.has("pmf=off") {
            bail!("--variant pmf=off: a ledger needs PMF's phases");
        }
        check_plan(spec)?;
        let commits = CommitBench::new(spec, range)?;
        let unit = None;
        Ok(Self { commits, unit })
    }

    /// Measures the commit at `place`. If the commit cannot be built or run, the entry contains the
    /// reason.
    fn measure(&mut self, commits: &[Commit], place: usize) -> Result<LedgerEntry> {
        let measured = self.commits.measure(commits, place)?;
        let commit = measured.commit;
        Ok(match measured.result {
            Ok(profile) => {
                let counted = self.unit.map(|event| profile.count_event(event));
                let profile = counted.unwrap_or(Ok(profile))?;
                LedgerEntry::measured(commit, measured.same_as, profile)
            }
            Err(failure) => LedgerEntry {
                commit,
                failure: Some(failure.to_string()),
                ..LedgerEntry::default()
            },
        })
    }

    /// Counts an event instead of instructions.
    #[must_use]
    pub fn counting(self, unit: Option<Event>) -> Self {
        Self { unit, ..self }
    }

    /// Measures all commits.
    pub fn ledger(mut self, range: &str, tolerance: f64) -> Result<CommitLedger> {
        let commits = self.commits.commits();
        let entries = (0..commits.len()).map(|place| self.measure(&commits, place));
        let entries: Vec<LedgerEntry> = entries.collect::<Result<_>>()?;
        let measured = entries.iter().filter(|it| it.profile.is_some());
        let mut steps: Vec<LedgerStep> = measured.tuple_windows().filter_map(step).collect();
        for step in &mut steps {
            step.changes
                .retain(|it| it.exceeds(&InstructionScope::BOTH, tolerance));
        }
        steps.retain(|it| !it.changes.is_empty());
        let unit = self.unit;
        let ledger = CommitLedger::new((range, tolerance), None, entries, steps);
        Ok(CommitLedger { unit, ..ledger })
    }

    /// Bisects to find the commits at which a figure changes. If such a commit is a merge, the
    /// commits that it merged are searched as well.
    pub fn bisect(
        mut self,
        range: &str,
        tolerance: f64,
        selected: Selected,
    ) -> Result<CommitLedger> {
        self.unit = selected.unit;
        let commits = self.commits.commits();
        let (entries, main_steps) = self.find_steps(&commits, tolerance, &selected)?;
        if let Some(first) = entries.first().filter(|it| it.failure.is_none())
            && selected.of(first).is_none()
        {
            let (name, known) = (&selected.figure, first.figures.keys().join(", "));
            bail!("{name}: unknown figure; the figures are {known}");
        }
        let mut steps = Vec::new();
        for step in main_steps {
            let merged = self.find_merged_steps(&step, tolerance, &selected)?;
            steps.push(step);
            steps.extend(merged);
        }
        let unit = self.unit;
        let ledger = CommitLedger::new((range, tolerance), Some(selected), entries, steps);
        Ok(CommitLedger { unit, ..ledger })
    }

    /// Returns the measured commits and the steps between them.
    fn find_steps(
        &mut self,
        commits: &[Commit],
        tolerance: f64,
        selected: &Selected,
    ) -> Result<(Vec<LedgerEntry>, Vec<LedgerStep>)> {
        let mut entries = BTreeMap::new();
        let places = find_steps(commits.len(), &releases(commits), tolerance, |place| {
            let entry = self.measure(commits, place)?;
            let figure = selected.of(&entry);
            entries.insert(place, entry);
            Ok(figure)
        })?;
        let steps = places.iter();
        let steps = steps.filter_map(|(old, new)| step((&entries[old], &entries[new])));
        let steps = steps.collect();
        Ok((entries.into_values().collect(), steps))
    }

    /// Returns the steps on the branch merged by the step's commit, and on the branches merged into
    /// that branch.
    fn find_merged_steps(
        &mut self,
        by: &LedgerStep,
        tolerance: f64,
        selected: &Selected,
    ) -> Result<Vec<LedgerStep>> {
        let branch = self.commits.merged_branch(&by.commit)?;
        if branch.is_empty() {
            return Ok(Vec::new());
        }
        let (_, found) = self.find_steps(&branch, tolerance, selected)?;
        let mut steps = Vec::new();
        for mut step in found {
            step.merged_by = Some(by.commit.clone());
            let merged = self.find_merged_steps(&step, tolerance, selected)?;
            steps.push(step);
            steps.extend(merged);
        }
        Ok(steps)
    }
}

/// Returns the profile of a run that passed. Otherwise returns the reason why the run has no
/// profile, which must be the same each time the commit is measured.
fn profile_of_run(
    result: &RunResult,
    profile: Option<Result<Profile>>,
) -> Result<Profile, NotMeasured> {
    match profile {
        Some(profile) if result.exit_code() == 0 => {
            profile.map_err(|error| NotMeasured(compiler_error(&error)))
        }
        _ => Err(NotMeasured(result.reason())),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use anyhow::anyhow;
    use report::follow::stream::MachineEnding;
    use suite::model::Verdict;

    use super::*;

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
