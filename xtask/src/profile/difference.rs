//! The differences of two profiles.

use std::collections::BTreeSet;

use serde::Serialize;

use super::calls::Cost;
use super::profile::{Phase, Profile};

/// A phase of two profiles. Figures are means of a call.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseChange {
    /// The scenario's name.
    pub scenario: String,
    /// The phase's name.
    pub phase: String,
    /// Instructions in the baseline: the CPU's own, or of all CPUs where a side is a log.
    pub old: f64,
    /// Instructions now.
    pub new: f64,
    /// The functions that differ, the greatest change first; none where a side is a log.
    pub functions: Vec<FunctionChange>,
}

/// A function of such a phase.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionChange {
    /// The function's name.
    pub name: String,
    /// Instructions in the baseline.
    pub old: f64,
    /// Instructions now.
    pub new: f64,
    /// Times that it was entered in the baseline.
    pub old_calls: f64,
    /// Times that it is entered now.
    pub new_calls: f64,
}

impl PhaseChange {
    /// Returns `SCENARIO:PHASE`, without blanks.
    pub fn name(&self) -> String {
        figure_name(&self.scenario, &self.phase)
    }

    /// Returns the change as a share of the baseline; infinite from zero.
    pub fn share(&self) -> f64 {
        match self.new - self.old {
            0.0 => 0.0,
            change => change / self.old,
        }
    }

    fn of(scenario: &str, old: &Phase, new: &Phase) -> Self {
        let have_stacks = !old.all.stacks.is_empty() && !new.all.stacks.is_empty();
        let figure = |phase: &Phase| match have_stacks {
            true => phase.mean(phase.all.own()),
            false => phase.mean(phase.all.elapsed),
        };
        let (before, after) = (old.functions(), new.functions());
        let names: BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
        let change = |name: &str| {
            let of = |all: Option<&Cost>| all.copied().unwrap_or_default();
            let (before, after) = (of(before.get(name)), of(after.get(name)));
            FunctionChange {
                name: name.to_owned(),
                old: old.mean(before.instructions),
                new: new.mean(after.instructions),
                old_calls: old.mean(before.calls),
                new_calls: new.mean(after.calls),
            }
        };
        let names = names.into_iter().filter(|_| have_stacks);
        let mut functions: Vec<FunctionChange> = names.map(change).collect();
        functions.retain(|it| it.old != it.new);
        functions.sort_by(|a, b| (b.new - b.old).abs().total_cmp(&(a.new - a.old).abs()));
        Self {
            scenario: scenario.to_owned(),
            phase: new.all.name.clone(),
            old: figure(old),
            new: figure(new),
            functions,
        }
    }
}

/// Returns the name of a figure, `SCENARIO:PHASE`, without blanks.
pub fn figure_name(scenario: &str, phase: &str) -> String {
    format!("{scenario}:{}", phase.replace(' ', "-"))
}

/// Returns the phases that both profiles have, and the names of those that one of them has.
pub fn changes(old: &Profile, new: &Profile) -> (Vec<PhaseChange>, Vec<String>) {
    let all = |profile: &Profile| {
        let scenarios = profile.scenarios.clone().into_iter();
        let phases = |it: super::profile::ScenarioProfile| {
            let phases = it.phases().into_iter();
            phases.map(move |phase| (it.name.clone(), phase))
        };
        scenarios.flat_map(phases).collect::<Vec<_>>()
    };
    let (mut old, mut changes, mut lone) = (all(old), Vec::new(), Vec::new());
    for (scenario, phase) in all(new) {
        let is_it = |it: &(String, Phase)| it.0 == scenario && it.1.all.name == phase.all.name;
        match old.iter().position(is_it) {
            Some(place) => {
                changes.push(PhaseChange::of(&scenario, &old.remove(place).1, &phase));
            }
            None => lone.push(figure_name(&scenario, &phase.all.name)),
        }
    }
    lone.extend(old.iter().map(|it| figure_name(&it.0, &it.1.all.name)));
    (changes, lone)
}
