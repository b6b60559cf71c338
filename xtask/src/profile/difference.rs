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

    fn of(old: &Phase, new: &Phase) -> Self {
        let have_stacks = !old.stacks.is_empty() && !new.stacks.is_empty();
        let figure = |it: &Phase| it.mean(if have_stacks { it.own() } else { it.elapsed });
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
        let names = names.into_iter().filter(|_| have_stacks);
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

/// Returns the changes of the phases that both profiles have, and the names of those that one
/// of them has.
pub fn changes(old: &Profile, new: &Profile) -> (Vec<PhaseChange>, Vec<String>) {
    let (old, new) = (old.merged(), new.merged());
    let find = |all: &[Phase], phase: &Phase| all.iter().position(|it| it.is_like(phase));
    let pairs = new.iter().filter_map(|it| Some((find(&old, it)?, it)));
    let changes = pairs.map(|(place, it)| PhaseChange::of(&old[place], it));
    let gone = old.iter().filter(|it| find(&new, it).is_none());
    let lone = new.iter().filter(|it| find(&old, it).is_none()).chain(gone);
    (changes.collect(), lone.map(Phase::figure_name).collect())
}
