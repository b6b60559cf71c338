//! The differences between two profiles.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::call_tree::{merge_calls, renamed_functions, renamed_text};
use super::profile::{Cost, PhaseFigure, Profile, ProfilePhase, RESET};

/// A phase in a profile, or the reason why it is missing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseSide {
    /// The scenario was not measured.
    NotMeasured,
    /// The scenario was measured, but none of its calls have this phase.
    NoSuchPhase,
    /// The mean number of instructions per call.
    Measured(PhaseFigure),
}

impl PhaseSide {
    /// Returns the side of the phase that is like `other` and that `profile` contains as `phase`.
    fn of(profile: &Profile, phase: Option<&ProfilePhase>, other: &ProfilePhase) -> Self {
        let is_in_log = other.name != RESET || profile.has_functions();
        let mut phases = profile.phases.iter();
        let has_scenario = phases.any(|phase| phase.scenario == other.scenario);
        match phase {
            Some(phase) => Self::Measured(phase.figure()),
            None if has_scenario && is_in_log => Self::NoSuchPhase,
            None => Self::NotMeasured,
        }
    }

    /// Returns the instruction counts if the phase was measured.
    pub fn figure(self) -> Option<PhaseFigure> {
        match self {
            Self::Measured(figure) => Some(figure),
            Self::NoSuchPhase | Self::NotMeasured => None,
        }
    }
}

/// Which CPUs' instructions are counted for a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InstructionScope {
    /// The CPU's own instructions.
    Own,
    /// The instructions executed by all CPUs: PMF's ticks.
    All,
}

impl InstructionScope {
    /// Both scopes.
    pub const BOTH: [Self; 2] = [Self::Own, Self::All];

    /// Returns the part of `figure` that is in this scope; None for [`Self::Own`] in a log's
    /// profile.
    pub fn select(self, figure: PhaseFigure) -> Option<f64> {
        match self {
            Self::Own => figure.own,
            Self::All => Some(figure.all),
        }
    }
}

/// A phase in two profiles.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseChange {
    /// The figure name: `SCENARIO:PHASE`.
    pub figure_name: String,
    /// The baseline.
    pub old: PhaseSide,
    /// The profile that is compared with the baseline.
    pub new: PhaseSide,
    /// The functions that differ or were renamed, largest change first; empty if one side is a log
    /// or was not measured.
    pub functions: Vec<FunctionChange>,
}

/// A function in a changed phase, with its figures in the baseline and in the new profile.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionChange {
    /// The function name.
    pub name: String,
    /// The name in the baseline if the function was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_name: Option<String>,
    /// Instructions in the baseline.
    pub old: f64,
    /// Instructions now.
    pub new: f64,
    /// How many times the function was entered, in the baseline and in the new profile.
    pub calls: [f64; 2],
}

impl FunctionChange {
    /// Returns the function name, or both names of a renamed function.
    pub fn label(&self) -> String {
        match &self.old_name {
            Some(old) => renamed_text(old, &self.name),
            None => self.name.clone(),
        }
    }
}

impl PhaseChange {
    /// Returns the instruction counts in the baseline and in the new profile, if both have them.
    pub fn both(&self, scope: InstructionScope) -> Option<[f64; 2]> {
        let count = |side: PhaseSide| scope.select(side.figure()?);
        Some([count(self.old)?, count(self.new)?])
    }

    /// Returns the change as a fraction of the baseline; infinite if the baseline is zero.
    pub fn share(&self, scope: InstructionScope) -> Option<f64> {
        let [old, new] = self.both(scope)?;
        Some(match new - old {
            0.0 => 0.0,
            change => change / old,
        })
    }

    /// Returns the functions whose counts differ, not just their names.
    pub fn changed_functions(&self) -> impl Iterator<Item = &FunctionChange> {
        self.functions
            .iter()
            .filter(|function| function.old != function.new)
    }

    /// Returns the change in the number of instructions that other CPUs execute at the same time.
    pub fn waiting(&self) -> Option<f64> {
        let waiting = |side: PhaseSide| side.figure()?.waiting();
        Some(waiting(self.new)? - waiting(self.old)?)
    }

    /// Returns true if the counts in any of `scopes` differ by more than `tolerance`, or if only one
    /// side has the phase.
    pub fn exceeds(&self, scopes: &[InstructionScope], tolerance: f64) -> bool {
        let mut shares = scopes.iter().filter_map(|scope| self.share(*scope));
        let is_on_one_side = self.old.figure().is_some() != self.new.figure().is_some();
        is_on_one_side || shares.any(|share| share.abs() > tolerance)
    }

    /// Returns true if the counts in any of `scopes` have grown by more than `tolerance`, or if the
    /// phase is new.
    pub fn is_larger(&self, scopes: &[InstructionScope], tolerance: f64) -> bool {
        let mut shares = scopes.iter().filter_map(|scope| self.share(*scope));
        let is_added = self.old == PhaseSide::NoSuchPhase && self.new.figure().is_some();
        is_added || shares.any(|share| share > tolerance)
    }
}

/// Returns the functions that differ or were renamed, largest change first.
fn function_changes(old: &ProfilePhase, new: &ProfilePhase) -> Vec<FunctionChange> {
    let (old_costs, new_costs) = (old.functions(), new.functions());
    let cost =
        |costs: &BTreeMap<&str, Cost>, name: &str| costs.get(name).copied().unwrap_or_default();
    let old_names: BTreeMap<&str, &str> = renamed_functions(&merge_calls(old, new))
        .into_iter()
        .filter(|[old_stack, _]| old_costs.contains_key(old_stack))
        .map(|[old_stack, new_stack]| (new_stack, old_stack))
        .collect();
    let mut names: BTreeSet<&str> = old_costs.keys().chain(new_costs.keys()).copied().collect();
    for (new, old) in &old_names {
        names.remove(old);
        names.insert(new);
    }
    let change = |name: &str| {
        let old_name = old_names.get(name).copied();
        let before = cost(&old_costs, old_name.unwrap_or(name));
        let after = cost(&new_costs, name);
        FunctionChange {
            name: name.to_owned(),
            old_name: old_name.map(str::to_owned),
            old: old.mean(before.instructions),
            new: new.mean(after.instructions),
            calls: [old.mean(before.calls), new.mean(after.calls)],
        }
    };
    let mut functions: Vec<FunctionChange> = names.into_iter().map(change).collect();
    functions.retain(|function| function.old != function.new || function.old_name.is_some());
    functions.sort_by(|a, b| (b.new - b.old).abs().total_cmp(&(a.new - a.old).abs()));
    functions
}

/// Returns the changes in all phases that are present on at least one side.
pub fn changes(old: &Profile, new: &Profile) -> Vec<PhaseChange> {
    let has_functions = old.has_functions() && new.has_functions();
    let (old_phases, new_phases) = (old.merged(), new.merged());
    let removed = old_phases
        .iter()
        .filter(|phase| phase.find_in(&new_phases).is_none());
    let change = |phase: &ProfilePhase| {
        let old_phase = phase.find_in(&old_phases);
        let new_phase = phase.find_in(&new_phases);
        let old_side = PhaseSide::of(old, old_phase, phase);
        let new_side = PhaseSide::of(new, new_phase, phase);
        let is_measured = ![old_side, new_side].contains(&PhaseSide::NotMeasured);
        let functions = if has_functions && is_measured {
            let none = ProfilePhase::default();
            function_changes(old_phase.unwrap_or(&none), new_phase.unwrap_or(&none))
        } else {
            Vec::new()
        };
        PhaseChange {
            figure_name: phase.figure_name(),
            old: old_side,
            new: new_side,
            functions,
        }
    };
    new_phases.iter().chain(removed).map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_counts_beside_own_instructions() {
        let old = Profile::synthetic(&[("parallel", "entry", 2788, 63_435)]);
        let new = Profile::synthetic(&[("parallel", "entry", 1544, 943_026)]);
        let [change] = &changes(&old, &new)[..] else {
            panic!("one phase");
        };
        assert_eq!(change.both(InstructionScope::Own), Some([1394.0, 772.0]));
        assert_eq!(
            change.both(InstructionScope::All),
            Some([31_717.5, 471_513.0])
        );
        assert_eq!(change.waiting(), Some(470_741.0 - 30_323.5));
        assert!(change.is_larger(&InstructionScope::BOTH, 0.01));
        assert!(
            !change.is_larger(&[InstructionScope::Own], 0.01)
                && change.exceeds(&[InstructionScope::Own], 0.01)
        );
    }

    #[test]
    fn log_has_no_reset_phase_because_pmf_does_not_measure_it() {
        let profile =
            Profile::synthetic(&[("serial", "reset", 30, 30), ("serial", "entry", 10, 10)]);
        let mut log = Profile::synthetic(&[("serial", "entry", 10, 10)]);
        let old_figure = |log_profile: &Profile| changes(log_profile, &profile)[0].old;
        assert_eq!(old_figure(&log), PhaseSide::NoSuchPhase);
        log.phases[0].stacks.clear();
        assert_eq!(old_figure(&log), PhaseSide::NotMeasured);
    }

    #[test]
    fn phase_of_one_side_has_no_figure_on_the_other() {
        let old = Profile::synthetic(&[("serial", "entry", 10, 10), ("parallel", "entry", 10, 10)]);
        let new = Profile::synthetic(&[("serial", "entry", 10, 10), ("serial", "flush", 20, 20)]);
        let changes = changes(&old, &new);
        let sides = |figure_name: &str| {
            let change = changes
                .iter()
                .find(|change| change.figure_name == figure_name)
                .expect("a change");
            assert!(
                change.exceeds(&InstructionScope::BOTH, 1.0)
                    && change.share(InstructionScope::All).is_none()
            );
            let is_measured = ![change.old, change.new].contains(&PhaseSide::NotMeasured);
            assert_eq!(change.functions.len(), usize::from(is_measured));
            let is_larger = change.is_larger(&InstructionScope::BOTH, 0.0);
            (change.old, change.new, is_larger)
        };
        let figure = |own_count: f64| {
            PhaseSide::Measured(PhaseFigure {
                own: Some(own_count),
                all: own_count,
            })
        };
        // A new phase counts as larger, but an unmeasured phase does not.
        let flush = (PhaseSide::NoSuchPhase, figure(10.0), true);
        assert_eq!(sides("serial:flush"), flush);
        let parallel = (figure(5.0), PhaseSide::NotMeasured, false);
        assert_eq!(sides("parallel:entry"), parallel);
    }

    #[test]
    fn renamed_function_is_one_change() {
        let phase = |stacks: &[(&str, u64)]| {
            let cost = |instructions| Cost {
                instructions,
                calls: 1,
                ..Cost::default()
            };
            ProfilePhase {
                samples: 1,
                stacks: stacks
                    .iter()
                    .map(|(stack, instructions)| ((*stack).to_owned(), cost(*instructions)))
                    .collect(),
                ..ProfilePhase::default()
            }
        };
        let rows = |old_stacks: &[(&str, u64)], new_stacks: &[(&str, u64)]| {
            let changes = function_changes(&phase(old_stacks), &phase(new_stacks));
            let row = |change: &FunctionChange| {
                format!("{} {} {}", change.label(), change.old, change.new)
            };
            changes.iter().map(row).collect::<Vec<_>>()
        };
        assert_eq!(
            rows(
                &[("f", 4), ("f;x_old", 7), ("f;x_old;a", 2)],
                &[("f", 5), ("f;x_new", 7), ("f;x_new;a", 2)],
            ),
            ["f 4 5", "x_old → x_new 7 7"]
        );
        // One of the two calls of `x_old` was not replaced with a call of `x_new`.
        assert_eq!(
            rows(
                &[("f;x_old", 7), ("g;x_old", 3)],
                &[("f;x_new", 7), ("g", 1)]
            ),
            ["x_old 10 0", "x_new 0 7", "g 0 1"]
        );
    }
}
