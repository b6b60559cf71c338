//! Measures the commits in a range for a ledger: all of them, or those that a bisection selects.

use std::collections::BTreeMap;

use anyhow::Result;

use super::bisect::find_steps;
use super::commit_bench::{CommitBench, releases};
use super::ledger::{
    CommitLedger, Comparison, LedgerEntry, LedgerStep, compare_neighbors, step_between,
};
use crate::build::checkout::{Commit, CommitRange};
use crate::qemu::run_spec::RunSpec;

type Entry<C> = LedgerEntry<<C as Comparison>::Record>;
type Step<C> = LedgerStep<<C as Comparison>::Change>;

/// The result of a bisection.
struct Bisection<C: Comparison> {
    /// The measured commits.
    entries: Vec<Entry<C>>,
    /// The steps between them.
    steps: Vec<Step<C>>,
}

/// Measures the commits in a checkout.
#[derive(Debug)]
pub struct LedgerBench<C: Comparison> {
    commits: CommitBench<C::Measurement>,
    range: String,
    comparison: C,
}

impl<C: Comparison> LedgerBench<C> {
    /// Prepares to measure the commits in `range` of the checkout specified by `spec`.
    pub fn new(spec: &RunSpec, range: &CommitRange<'_>, comparison: C) -> Result<Self> {
        Ok(Self {
            commits: CommitBench::new(spec, range)?,
            range: range.ends.to_owned(),
            comparison,
        })
    }

    /// Measures all commits.
    pub fn ledger(mut self) -> Result<CommitLedger<C>> {
        let commits = self.commits.commits();
        let mut entries = Vec::new();
        for place in 0..commits.len() {
            entries.push(self.measure(&commits, place)?);
        }
        let steps = compare_neighbors(&self.comparison, &entries);
        Ok(self.finish(entries, steps))
    }

    /// Bisects to find the commits at which the value of the comparison changes. If such a commit
    /// is a merge, the commits that it merged are searched as well.
    pub fn bisect(mut self) -> Result<CommitLedger<C>> {
        let commits = self.commits.commits();
        let main = self.find_steps(&commits)?;
        let mut steps = Vec::new();
        for step in main.steps {
            self.add_with_merged_steps(step, &mut steps)?;
        }
        Ok(self.finish(main.entries, steps))
    }

    fn finish(self, entries: Vec<Entry<C>>, steps: Vec<Step<C>>) -> CommitLedger<C> {
        CommitLedger::new(&self.range, self.comparison, entries, steps)
    }

    /// Measures the commit at `place`. If the commit cannot be built or run, the entry contains the
    /// reason.
    fn measure(&mut self, commits: &[Commit], place: usize) -> Result<Entry<C>> {
        let measured = self.commits.measure(commits, place)?;
        let (record, failure) = match measured.result {
            Ok(measurement) => (self.comparison.record(measurement)?, None),
            Err(failure) => (C::Record::default(), Some(failure.to_string())),
        };
        Ok(LedgerEntry {
            commit: measured.commit,
            failure,
            same_as: measured.same_as,
            record,
        })
    }

    /// Bisects `commits`.
    fn find_steps(&mut self, commits: &[Commit]) -> Result<Bisection<C>> {
        let mut entries = BTreeMap::new();
        let tolerance = self.comparison.tolerance();
        let places = find_steps(commits.len(), &releases(commits), tolerance, |place| {
            let entry = self.measure(commits, place)?;
            let value = self.comparison.value(&entry.record);
            entries.insert(place, entry);
            Ok(value)
        })?;
        let steps = places
            .iter()
            .filter_map(|(old, new)| step_between(&self.comparison, &entries[old], &entries[new]))
            .collect();
        Ok(Bisection {
            entries: entries.into_values().collect(),
            steps,
        })
    }

    /// Adds `step` to `steps`, followed by the steps on the branch that its commit merged, and on
    /// the branches merged into that branch.
    fn add_with_merged_steps(&mut self, step: Step<C>, steps: &mut Vec<Step<C>>) -> Result<()> {
        let merge = step.commit.clone();
        steps.push(step);
        let branch = self.commits.merged_branch(&merge)?;
        if branch.is_empty() {
            return Ok(());
        }
        for mut merged in self.find_steps(&branch)?.steps {
            merged.merged_by = Some(merge.clone());
            self.add_with_merged_steps(merged, steps)?;
        }
        Ok(())
    }
}
