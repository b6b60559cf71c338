//! A ledger: what was measured at each commit in a range, and the commits that changed it.

use anyhow::Result;
use itertools::Itertools as _;
use runner::build::checkout::Commit;
use serde::Serialize;

use super::commit_bench::Measurement;

/// What a ledger compares between commits. Serialized as a part of the ledger.
pub trait Comparison: Serialize {
    /// The result of measuring a commit.
    type Measurement: Measurement;

    /// What the ledger contains of a measurement. The default is for a commit without one.
    type Record: Default + Serialize;

    /// A difference between two commits.
    type Change: Serialize;

    /// Returns what the ledger contains of `measurement`.
    fn record(&self, measurement: Self::Measurement) -> Result<Self::Record>;

    /// Returns the value that a bisection follows. None if `record` has no such value.
    fn value(&self, record: &Self::Record) -> Option<f64>;

    /// Returns the largest change of the value that is not a jump, as a fraction of the value.
    fn tolerance(&self) -> f64;

    /// Returns the changes from one commit to another, limited to what the user selected. Empty if
    /// either commit was not measured.
    fn changes(&self, old: &Self::Record, new: &Self::Record) -> Vec<Self::Change>;

    /// Returns true if a commit with this change is a jump.
    fn is_jump(&self, _: &Self::Change) -> bool {
        true
    }

    /// Returns true if the change is for the worse.
    fn is_worse(&self, change: &Self::Change) -> bool;

    /// Returns by how much the value of a bisection changes, if changes can be added up.
    fn difference(&self, _: &Self::Change) -> Option<f64> {
        None
    }

    /// Returns what is missing at one end of the range, such as "verdict on CPU_ON". `first` is the
    /// record of the first commit.
    fn missing(&self, first: &Self::Record, end: &Self::Record) -> Option<String>;
}

/// A commit and what was measured.
#[derive(Debug, Default, Serialize)]
pub struct LedgerEntry<R> {
    /// The commit.
    pub commit: Commit,
    /// The reason why the commit was not measured; None if it was.
    pub failure: Option<String>,
    /// The earlier commit with an identical run, if there is one.
    pub same_as: Option<Commit>,
    /// What was measured.
    #[serde(flatten)]
    pub record: R,
}

/// A commit that changed something.
#[derive(Debug, Serialize)]
pub struct LedgerJump<C> {
    /// The commit.
    pub commit: Commit,
    /// The last measured commit before this one.
    pub since: Commit,
    /// The merge in the range that merged this commit; None if the commit is in the range itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged_by: Option<Commit>,
    /// The changes.
    pub changes: Vec<C>,
    /// In a bisection, this commit's share of the change over the range. The share is negative if
    /// this change goes in the opposite direction, and more than 1 if other commits partly reverse
    /// it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_of_whole: Option<f64>,
}

/// The measurements of all commits in a range.
#[derive(Debug, Serialize)]
pub struct CommitLedger<C: Comparison> {
    /// The range, as specified by the user.
    pub range: String,
    /// What is compared.
    #[serde(flatten)]
    pub comparison: C,
    /// The commits, in order. In a bisection, this contains only measured commits.
    pub entries: Vec<LedgerEntry<C::Record>>,
    /// The jumps.
    pub jumps: Vec<LedgerJump<C::Change>>,
    /// The changes from the first commit to the last; empty if either was not measured.
    pub whole: Vec<C::Change>,
}

impl<C: Comparison> CommitLedger<C> {
    /// Compares the ends of the range, and determines the share of each jump in that change.
    pub(super) fn new(
        range: &str,
        comparison: C,
        entries: Vec<LedgerEntry<C::Record>>,
        mut jumps: Vec<LedgerJump<C::Change>>,
    ) -> Self {
        let whole = match (entries.first(), entries.last()) {
            (Some(first), Some(last)) => comparison.changes(&first.record, &last.record),
            _ => Vec::new(),
        };
        let difference = |changes: &[C::Change]| comparison.difference(changes.first()?);
        let in_all = difference(&whole).filter(|difference| *difference != 0.0);
        for jump in &mut jumps {
            if jump.merged_by.is_none() {
                let own = difference(&jump.changes);
                jump.share_of_whole = own
                    .zip(in_all)
                    .map(|(own_difference, whole_difference)| own_difference / whole_difference);
            }
        }
        Self {
            range: range.to_owned(),
            comparison,
            entries,
            jumps,
            whole,
        }
    }

    /// Returns the jumps at commits in the range itself, without those at merged commits.
    pub fn main_jumps(&self) -> impl Iterator<Item = &LedgerJump<C::Change>> {
        self.jumps.iter().filter(|jump| jump.merged_by.is_none())
    }

    /// Returns the jump at `commit`, if it is one.
    pub(super) fn jump_at(&self, commit: &Commit) -> Option<&LedgerJump<C::Change>> {
        self.jumps.iter().find(|jump| jump.commit.id == commit.id)
    }

    /// Returns the reason why the first commit cannot be compared with the last.
    pub fn lack(&self) -> Option<String> {
        let first = self.entries.first();
        for (end, name) in [(first, "first"), (self.entries.last(), "last")] {
            let Some((first, end)) = first.zip(end.filter(|entry| entry.failure.is_none())) else {
                return Some(format!("the {name} commit cannot be measured: see above"));
            };
            if let Some(missing) = self.comparison.missing(&first.record, &end.record) {
                return Some(format!("the {name} commit has no {missing}"));
            }
        }
        None
    }

    /// Returns true if a commit, or the range overall, is a change for the worse.
    pub fn is_worse(&self) -> bool {
        let in_jumps = self.jumps.iter().flat_map(|jump| &jump.changes);
        in_jumps
            .chain(&self.whole)
            .any(|change| self.comparison.is_worse(change))
    }
}

/// Returns the jumps from each measured commit to the next. A commit that was not measured is
/// skipped: the commit before it is compared with the one after it.
pub(super) fn compare_neighbors<C: Comparison>(
    comparison: &C,
    entries: &[LedgerEntry<C::Record>],
) -> Vec<LedgerJump<C::Change>> {
    let measured = entries.iter().filter(|entry| entry.failure.is_none());
    let pairs = measured.tuple_windows();
    pairs
        .filter_map(|(old_entry, new_entry)| jump_between(comparison, old_entry, new_entry))
        .collect()
}

/// Returns the jump from one entry to a later one, if there is a change.
pub(super) fn jump_between<C: Comparison>(
    comparison: &C,
    old: &LedgerEntry<C::Record>,
    new: &LedgerEntry<C::Record>,
) -> Option<LedgerJump<C::Change>> {
    let mut changes = comparison.changes(&old.record, &new.record);
    changes.retain(|change| comparison.is_jump(change));
    (!changes.is_empty()).then(|| LedgerJump {
        commit: new.commit.clone(),
        since: old.commit.clone(),
        merged_by: None,
        changes,
        share_of_whole: None,
    })
}
