//! A verdict ledger: which functions work at each commit in a range, and which commits changed a
//! verdict.

use itertools::Itertools as _;
use serde::Serialize;
use suite::model::Function;

use super::verdicts::{FunctionVerdict, Verdicts};
use crate::build::checkout::Commit;

/// A commit and its verdicts.
#[derive(Debug, Default, Serialize)]
pub struct VerdictEntry {
    /// The commit.
    pub commit: Commit,
    /// Why the commit has no verdicts; None if it has any.
    pub failure: Option<String>,
    /// The earlier commit with an identical run, if there is one.
    pub same_as: Option<Commit>,
    /// The verdicts by function.
    pub verdicts: Verdicts,
}

/// A function whose verdict changed.
#[derive(Debug, PartialEq, Serialize)]
pub struct VerdictChange {
    /// The function.
    pub function: Function,
    /// The verdict before the commit.
    pub old: FunctionVerdict,
    /// The verdict at the commit.
    pub new: FunctionVerdict,
}

/// A commit at which functions stopped or started working.
#[derive(Debug, Serialize)]
pub struct VerdictStep {
    /// The commit.
    pub commit: Commit,
    /// The last measured commit before this one.
    pub since: Commit,
    /// The merge in the range that merged this commit; None if the commit is in the range itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged_by: Option<Commit>,
    /// The functions.
    pub changes: Vec<VerdictChange>,
}

/// The verdicts of all commits in a range.
#[derive(Debug, Serialize)]
pub struct VerdictLedger {
    /// The range, as specified by the user.
    pub range: String,
    /// The function to bisect; None if all commits were measured.
    pub selected: Option<Function>,
    /// The commits, in order. In a bisection, this contains only measured commits.
    pub entries: Vec<VerdictEntry>,
    /// The steps.
    pub steps: Vec<VerdictStep>,
    /// The changes from the first commit to the last; empty if either was not measured.
    pub whole: Vec<VerdictChange>,
}

impl VerdictLedger {
    /// Compares the commits. A commit without a verdict on a function is skipped: the commit before
    /// it is compared with the one after it.
    pub(super) fn new(range: &str, selected: Option<Function>, entries: Vec<VerdictEntry>) -> Self {
        let is_measured = |it: &&VerdictEntry| match selected {
            Some(function) => it.verdicts.0.contains_key(&function),
            None => it.failure.is_none(),
        };
        let between = |old: &VerdictEntry, new: &VerdictEntry| {
            let mut changes = changes(&old.verdicts, &new.verdicts);
            changes.retain(|it| selected.is_none_or(|selected| selected == it.function));
            changes
        };
        let measured = entries.iter().filter(is_measured);
        let steps = measured.tuple_windows().map(|(old, new)| VerdictStep {
            commit: new.commit.clone(),
            since: old.commit.clone(),
            merged_by: None,
            changes: between(old, new),
        });
        let steps = steps.filter(|it| !it.changes.is_empty()).collect();
        let ends = entries.first().zip(entries.last());
        let whole = ends.map_or_else(Vec::new, |(first, last)| between(first, last));
        Self {
            range: range.to_owned(),
            selected,
            entries,
            steps,
            whole,
        }
    }

    /// Returns the steps at commits in the range itself, excluding those on merged branches.
    pub fn main_steps(&self) -> impl Iterator<Item = &VerdictStep> {
        self.steps.iter().filter(|it| it.merged_by.is_none())
    }

    /// Returns the reason why the first commit cannot be compared with the last.
    pub fn lack(&self) -> Option<String> {
        for (end, name) in [
            (self.entries.first(), "first"),
            (self.entries.last(), "last"),
        ] {
            let Some(end) = end.filter(|it| it.failure.is_none()) else {
                return Some(format!("the {name} commit cannot be measured: see above"));
            };
            let is_lacking = |it: &Function| !end.verdicts.0.contains_key(it);
            if let Some(function) = self.selected.filter(is_lacking) {
                let function = function.name();
                return Some(format!("the {name} commit has no verdict on {function}"));
            }
        }
        None
    }

    /// Returns true if a function stopped working at a commit, or over the range.
    pub fn is_worse(&self) -> bool {
        let mut changes = self.steps.iter().flat_map(|it| &it.changes);
        let stopped = |it: &VerdictChange| it.old.works() && !it.new.works();
        changes.any(stopped) || self.whole.iter().any(stopped)
    }
}

/// Returns the functions that work according to one set of verdicts but fail according to the
/// other.
fn changes(old: &Verdicts, new: &Verdicts) -> Vec<VerdictChange> {
    let change = |(function, old): (&Function, &FunctionVerdict)| {
        let new = new.0.get(function)?;
        (old.works() != new.works()).then(|| VerdictChange {
            function: *function,
            old: old.clone(),
            new: new.clone(),
        })
    };
    old.0.iter().filter_map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str, verdicts: &[(Function, bool)]) -> VerdictEntry {
        let verdict = |works| match works {
            true => FunctionVerdict::Works,
            false => FunctionVerdict::Fails(vec!["CPU_ON: CPU 1 did not arrive.".to_owned()]),
        };
        let verdicts = verdicts
            .iter()
            .map(|(function, works)| (*function, verdict(*works)));
        let verdicts = Verdicts(verdicts.collect());
        let failure = verdicts.0.is_empty().then(|| "does not build".to_owned());
        let (id, title) = (id.to_owned(), String::new());
        VerdictEntry {
            commit: Commit {
                id,
                title,
                ..Commit::default()
            },
            failure,
            same_as: None,
            verdicts,
        }
    }

    fn steps(ledger: &VerdictLedger) -> Vec<(&str, &str)> {
        let steps = ledger.steps.iter();
        steps.map(|it| (&*it.since.id, &*it.commit.id)).collect()
    }

    #[test]
    fn commit_that_breaks_a_function_and_the_one_that_mends_it_are_steps() {
        use Function::{CpuOff, CpuOn};
        let entries = vec![
            entry("a", &[(CpuOn, true), (CpuOff, true)]),
            entry("b", &[]),
            entry("c", &[(CpuOn, false)]),
            entry("d", &[(CpuOn, true), (CpuOff, true)]),
        ];
        let ledger = VerdictLedger::new("a..d", None, entries);
        assert_eq!(steps(&ledger), [("a", "c"), ("c", "d")]);
        assert!(ledger.whole.is_empty() && ledger.is_worse());
        assert_eq!(ledger.lack(), None);
        let mended = VerdictLedger::new("c..d", None, ledger.entries.into_iter().skip(2).collect());
        assert!(!mended.is_worse() && mended.whole.len() == 1);
    }

    #[test]
    fn end_without_a_verdict_is_never_well() {
        use Function::{CpuOff, CpuOn};
        let entries = || vec![entry("a", &[(CpuOn, true)]), entry("b", &[(CpuOff, true)])];
        let lack = VerdictLedger::new("a..b", Some(CpuOn), entries()).lack();
        assert_eq!(
            lack.as_deref(),
            Some("the last commit has no verdict on CPU_ON")
        );
        let lost = vec![entry("a", &[]), entry("b", &[(CpuOn, true)])];
        let lack = VerdictLedger::new("a..b", None, lost).lack();
        let said = "the first commit cannot be measured: see above";
        assert_eq!(lack.as_deref(), Some(said));
    }
}
