//! The differences of two profiles.

use std::collections::BTreeSet;

use serde::Serialize;

use super::profile::{Phase, Profile};

/// A phase of two profiles. Figures are means of a call.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseChange {
    /// The figure's name: `SCENARIO:PHASE`.
    pub figure: String,
    /// Instructions in the baseline: the CPU's own, or of all CPUs where a side is a log.
    pub old: f64,
    /// Instructions now.
    pub new: f64,
    /// The functions that differ, the greatest change first; none where a side is a log.
    pub functions: Vec<FunctionChange>,
}

/// A function of such a phase, in the baseline and now.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionChange {
    /// The function's name.
    pub name: String,
    /// Instructions in the baseline.
    pub old: f64,
    /// Instructions now.
    pub new: f64,
    /// Times that it is entered, in the baseline and now.
    pub calls: [f64; 2],
}

impl PhaseChange {
    /// Returns the change as a share of the baseline; infinite from zero.
    pub fn share(&self) -> f64 {
        match self.new - self.old {
            0.0 => 0.0,
            change => change / self.old,
        }
    }

    fn of(old: &Phase, new: &Phase, has_functions: bool) -> Self {
        let figure = |it: &Phase| it.mean(if has_functions { it.own() } else { it.elapsed });
        let (before, after) = (old.functions(), new.functions());
        let names: BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
        let change = |name: &str| {
            let before = before.get(name).copied().unwrap_or_default();
            let after = after.get(name).copied().unwrap_or_default();
            FunctionChange {
                name: name.to_owned(),
                old: old.mean(before.instructions),
                new: new.mean(after.instructions),
                calls: [old.mean(before.calls), new.mean(after.calls)],
            }
        };
        let names = names.into_iter().filter(|_| has_functions);
        let mut functions: Vec<FunctionChange> = names.map(change).collect();
        functions.retain(|it| it.old != it.new);
        functions.sort_by(|a, b| (b.new - b.old).abs().total_cmp(&(a.new - a.old).abs()));
        Self {
            figure: new.figure_name(),
            old: figure(old),
            new: figure(new),
            functions,
        }
    }
}

/// Returns the changes of all phases. One that a side does not have is 0 there.
pub fn changes(old: &Profile, new: &Profile) -> Vec<PhaseChange> {
    let has_functions = old.has_functions() && new.has_functions();
    let (old, new) = (old.merged(), new.merged());
    let gone = old
        .iter()
        .filter(|it| !new.iter().any(|other| other.is_like(it)));
    let all = new.iter().chain(gone);
    let change = |phase: &Phase| {
        let none = || phase.without_calls();
        let find = |all: &[Phase]| all.iter().find(|it| it.is_like(phase)).cloned();
        let (old, new) = (
            find(&old).unwrap_or_else(none),
            find(&new).unwrap_or_else(none),
        );
        PhaseChange::of(&old, &new, has_functions)
    };
    all.map(change).collect()
}
