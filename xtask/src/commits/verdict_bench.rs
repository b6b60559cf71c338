//! Runs the fitness checks at the commits in a range: all of them, or those that a bisection
//! selects.

use std::collections::BTreeMap;
use std::mem;

use anyhow::Result;
use suite::model::Function;

use super::bisect::find_steps;
use super::commit_bench::{CommitBench, releases};
use super::verdict_ledger::{VerdictEntry, VerdictLedger, VerdictStep};
use super::verdicts::Verdicts;
use crate::build::checkout::{Commit, CommitRange};
use crate::qemu::run_spec::RunSpec;

/// Runs the checks at the commits in a checkout.
#[derive(Debug)]
pub struct VerdictBench {
    commits: CommitBench<Verdicts>,
}

impl VerdictBench {
    /// Prepares to check the commits in `range` of the checkout specified by `spec`, which must run
    /// the `fitness` scenario.
    pub fn new(spec: &RunSpec, range: &CommitRange<'_>) -> Result<Self> {
        let commits = CommitBench::new(spec, range)?;
        Ok(Self { commits })
    }

    fn measure(&mut self, commits: &[Commit], place: usize) -> Result<VerdictEntry> {
        let measured = self.commits.measure(commits, place)?;
        let (verdicts, failure) = match measured.result {
            Ok(verdicts) => (verdicts, None),
            Err(failure) => (Verdicts::default(), Some(failure.to_string())),
        };
        Ok(VerdictEntry {
            commit: measured.commit,
            failure,
            same_as: measured.same_as,
            verdicts,
        })
    }

    /// Checks all commits.
    pub fn ledger(mut self, range: &str) -> Result<VerdictLedger> {
        let commits = self.commits.commits();
        let entries = (0..commits.len()).map(|place| self.measure(&commits, place));
        let entries = entries.collect::<Result<_>>()?;
        Ok(VerdictLedger::new(range, None, entries))
    }

    /// Bisects to find the commits at which a function stopped or started working. If such a commit
    /// is a merge, the commits that it merged are searched as well.
    pub fn bisect(mut self, range: &str, function: Function) -> Result<VerdictLedger> {
        let commits = self.commits.commits();
        let mut ledger = self.find_steps(range, &commits, function)?;
        for step in mem::take(&mut ledger.steps) {
            let merged = self.find_merged_steps(range, &step, function)?;
            ledger.steps.push(step);
            ledger.steps.extend(merged);
        }
        Ok(ledger)
    }

    fn find_steps(
        &mut self,
        range: &str,
        commits: &[Commit],
        function: Function,
    ) -> Result<VerdictLedger> {
        let mut entries = BTreeMap::new();
        // With a tolerance of 0, any change from one number to the other is a step.
        let number = |works| if works { 1.0 } else { 0.0 };
        find_steps(commits.len(), &releases(commits), 0.0, |place| {
            let entry = self.measure(commits, place)?;
            let verdict = entry.verdicts.0.get(&function);
            let works = verdict.map(|it| number(it.works()));
            entries.insert(place, entry);
            Ok(works)
        })?;
        let entries = entries.into_values().collect();
        Ok(VerdictLedger::new(range, Some(function), entries))
    }

    /// Returns the steps on the branch merged by the step's commit, and on the branches merged into
    /// that branch.
    fn find_merged_steps(
        &mut self,
        range: &str,
        by: &VerdictStep,
        function: Function,
    ) -> Result<Vec<VerdictStep>> {
        let branch = self.commits.merged_branch(&by.commit)?;
        if branch.is_empty() {
            return Ok(Vec::new());
        }
        let mut steps = Vec::new();
        for mut step in self.find_steps(range, &branch, function)?.steps {
            step.merged_by = Some(by.commit.clone());
            let merged = self.find_merged_steps(range, &step, function)?;
            steps.push(step);
            steps.extend(merged);
        }
        Ok(steps)
    }
}
