//! Compares which functions work, and which rules are kept, at different commits.

use anyhow::Result;
use serde::Serialize;

use super::ledger::Comparison;
use super::verdicts::{CheckVerdict, Tested, Verdicts};

/// The verdicts at a commit.
#[derive(Debug, Default, Serialize)]
pub struct CommitVerdicts {
    /// The verdicts by function and by rule.
    pub verdicts: Verdicts,
}

/// A function or a rule whose verdict changed.
#[derive(Debug, PartialEq, Serialize)]
pub struct VerdictChange {
    /// The function or the rule.
    pub tested: Tested,
    /// The verdict before the commit.
    pub old: CheckVerdict,
    /// The verdict at the commit.
    pub new: CheckVerdict,
}

/// A comparison of the verdicts on all functions, or on one function or rule in a bisection.
#[derive(Clone, Debug, Serialize)]
pub struct VerdictComparison {
    /// What to bisect; None to compare all functions.
    pub selected: Option<Tested>,
}

impl VerdictComparison {
    /// Returns true if the comparison is about this function or rule.
    pub fn is_about(&self, tested: &Tested) -> bool {
        match &self.selected {
            Some(selected) => selected == tested,
            None => tested.is_function(),
        }
    }
}

impl Comparison for VerdictComparison {
    type Measurement = Verdicts;
    type Record = CommitVerdicts;
    type Change = VerdictChange;

    fn record(&self, verdicts: Verdicts) -> Result<CommitVerdicts> {
        Ok(CommitVerdicts { verdicts })
    }

    fn value(&self, commit: &CommitVerdicts) -> Option<f64> {
        let verdict = commit.verdicts.0.get(self.selected.as_ref()?)?;
        Some(verdict.rank().into())
    }

    /// Any change from one number to the other is a jump.
    fn tolerance(&self) -> f64 {
        0.0
    }

    fn changes(&self, old: &CommitVerdicts, new: &CommitVerdicts) -> Vec<VerdictChange> {
        let mut changes = changes(&old.verdicts, &new.verdicts);
        changes.retain(|change| self.is_about(&change.tested));
        changes
    }

    fn is_worse(&self, change: &VerdictChange) -> bool {
        change.new.rank() < change.old.rank()
    }

    fn missing(&self, _: &CommitVerdicts, end: &CommitVerdicts) -> Option<String> {
        let selected = self.selected.as_ref()?;
        let is_missing = !end.verdicts.0.contains_key(selected);
        is_missing.then(|| format!("verdict on {}", selected.name()))
    }
}

/// Returns the functions and rules whose verdicts differ.
fn changes(old: &Verdicts, new: &Verdicts) -> Vec<VerdictChange> {
    let change = |(tested, old_verdict): (&Tested, &CheckVerdict)| {
        let new = new.0.get(tested)?;
        (old_verdict.rank() != new.rank()).then(|| VerdictChange {
            tested: tested.clone(),
            old: old_verdict.clone(),
            new: new.clone(),
        })
    };
    old.0.iter().filter_map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commits::ledger::{CommitLedger, LedgerEntry, compare_neighbors};
    use runner::build::checkout::Commit;
    use suite::model::Function;

    type Entry = LedgerEntry<CommitVerdicts>;

    fn entry(id: &str, verdicts: &[(Function, bool)]) -> Entry {
        let verdict = |is_working| match is_working {
            true => CheckVerdict::Works,
            false => CheckVerdict::Fails(vec!["CPU_ON: CPU 1 did not arrive.".to_owned()]),
        };
        let by_function = verdicts
            .iter()
            .map(|(function, is_working)| (Tested::Function(*function), verdict(*is_working)));
        let record = CommitVerdicts {
            verdicts: Verdicts(by_function.collect()),
        };
        let failure = record
            .verdicts
            .0
            .is_empty()
            .then(|| "does not build".to_owned());
        LedgerEntry {
            commit: Commit {
                id: id.to_owned(),
                ..Commit::default()
            },
            failure,
            same_as: None,
            record,
        }
    }

    fn ledger(
        range: &str,
        selected: Option<Function>,
        entries: Vec<Entry>,
    ) -> CommitLedger<VerdictComparison> {
        let selected = selected.map(Tested::Function);
        let comparison = VerdictComparison { selected };
        let jumps = compare_neighbors(&comparison, &entries);
        CommitLedger::new(range, comparison, entries, jumps)
    }

    fn jumps(ledger: &CommitLedger<VerdictComparison>) -> Vec<(&str, &str)> {
        let jumps = ledger.jumps.iter();
        jumps
            .map(|jump| (&*jump.since.id, &*jump.commit.id))
            .collect()
    }

    #[test]
    fn commit_that_breaks_a_function_and_the_one_that_mends_it_are_jumps() {
        use Function::{CpuOff, CpuOn};
        let entries = vec![
            entry("a", &[(CpuOn, true), (CpuOff, true)]),
            entry("b", &[]),
            entry("c", &[(CpuOn, false)]),
            entry("d", &[(CpuOn, true), (CpuOff, true)]),
        ];
        let all = ledger("a..d", None, entries);
        assert_eq!(jumps(&all), [("a", "c"), ("c", "d")]);
        assert!(all.whole.is_empty() && all.is_worse());
        assert_eq!(all.lack(), None);
        let mended = ledger("c..d", None, all.entries.into_iter().skip(2).collect());
        assert!(!mended.is_worse() && mended.whole.len() == 1);
    }

    #[test]
    fn end_without_a_verdict_is_never_well() {
        use Function::{CpuOff, CpuOn};
        let entries = || vec![entry("a", &[(CpuOn, true)]), entry("b", &[(CpuOff, true)])];
        let lack = ledger("a..b", Some(CpuOn), entries()).lack();
        assert_eq!(
            lack.as_deref(),
            Some("the last commit has no verdict on CPU_ON")
        );
        let lost = vec![entry("a", &[]), entry("b", &[(CpuOn, true)])];
        let lack = ledger("a..b", None, lost).lack();
        let expected = "the first commit cannot be measured: see above";
        assert_eq!(lack.as_deref(), Some(expected));
    }
}
