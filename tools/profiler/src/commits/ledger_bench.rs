//! Measures the commits in a range for a ledger: all of them, or those that a bisection selects.

use std::collections::BTreeMap;

use anyhow::Result;
use runner::build::checkout::{Commit, CommitRange};
use runner::qemu::run_spec::RunSpec;

use super::bisect::find_jumps;
use super::commit_bench::{CommitBench, releases};
use super::ledger::{
    CommitLedger, Comparison, LedgerEntry, LedgerJump, compare_neighbors, jump_between,
};

type Entry<C> = LedgerEntry<<C as Comparison>::Record>;
type Jump<C> = LedgerJump<<C as Comparison>::Change>;

/// The result of a bisection.
struct Bisection<C: Comparison> {
    /// The measured commits.
    entries: Vec<Entry<C>>,
    /// The jumps between them.
    jumps: Vec<Jump<C>>,
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
        let jumps = compare_neighbors(&self.comparison, &entries);
        Ok(self.finish(entries, jumps))
    }

    /// Bisects to find the commits at which the value of the comparison changes. If such a commit
    /// is a merge, the commits that it merged are searched as well.
    pub fn bisect(mut self) -> Result<CommitLedger<C>> {
        let commits = self.commits.commits();
        let main = self.find_jumps(&commits)?;
        let mut jumps = Vec::new();
        for jump in main.jumps {
            self.add_with_merged_jumps(jump, &mut jumps)?;
        }
        Ok(self.finish(main.entries, jumps))
    }

    fn finish(self, entries: Vec<Entry<C>>, jumps: Vec<Jump<C>>) -> CommitLedger<C> {
        CommitLedger::new(&self.range, self.comparison, entries, jumps)
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
    fn find_jumps(&mut self, commits: &[Commit]) -> Result<Bisection<C>> {
        let mut entries = BTreeMap::new();
        let tolerance = self.comparison.tolerance();
        let places = find_jumps(commits.len(), &releases(commits), tolerance, |place| {
            let entry = self.measure(commits, place)?;
            let value = self.comparison.value(&entry.record);
            entries.insert(place, entry);
            Ok(value)
        })?;
        let jumps = places
            .iter()
            .filter_map(|(old_index, new_index)| {
                jump_between(&self.comparison, &entries[old_index], &entries[new_index])
            })
            .collect();
        Ok(Bisection {
            entries: entries.into_values().collect(),
            jumps,
        })
    }

    /// Adds `jump` to `jumps`, followed by the jumps on the branch that its commit merged, and on
    /// the branches merged into that branch.
    fn add_with_merged_jumps(&mut self, jump: Jump<C>, jumps: &mut Vec<Jump<C>>) -> Result<()> {
        let merge = jump.commit.clone();
        jumps.push(jump);
        let branch = self.commits.merged_branch(&merge)?;
        if branch.is_empty() {
            return Ok(());
        }
        for mut merged in self.find_jumps(&branch)?.jumps {
            merged.merged_by = Some(merge.clone());
            self.add_with_merged_jumps(merged, jumps)?;
        }
        Ok(())
    }
}
