//! The differences between two profiles.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::call_tree::{merge_calls, renamed_functions, renamed_text};
use super::profile::{PhaseFigure, Profile, ProfilePhase, RESET};

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
        let has_scenario = phases.any(|it| it.scenario == other.scenario);
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
    pub fn of(self, figure: PhaseFigure) -> Option<f64> {
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
    pub figure: String,
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
    pub fn both(&self, part: InstructionScope) -> Option<[f64; 2]> {
        let of = |side: PhaseSide| part.of(side.figure()?);
        Some([of(self.old)?, of(self.new)?])
    }

    /// Returns the change as a fraction of the baseline; infinite if the baseline is zero.
    pub fn share(&self, part: InstructionScope) -> Option<f64> {
        let [old, new] = self.both(part)?;
        Some(match new - old {
            0.0 => 0.0,
            change => change / old,
        })
    }

    /// Returns the functions whose counts differ, not just their names.
    pub fn changed_functions(&self) -> impl Iterator<Item = &FunctionChange> {
        self.functions.iter().filter(|it| it.old != it.new)
    }

    /// Returns the change in the number of instructions that other CPUs execute at the same time.
    pub fn waiting(&self) -> Option<f64> {
        let [old, new] = [self.old, self.new].map(|it| it.figure()?.waiting());
        Some(new? - old?)
    }

    /// Returns true if any of `parts` differs by more than `tolerance`, or if only one side has the
    /// phase.
    pub fn exceeds(&self, parts: &[InstructionScope], tolerance: f64) -> bool {
        let mut shares = parts.iter().filter_map(|it| self.share(*it));
        let is_of_one = self.old.figure().is_some() != self.new.figure().is_some();
        is_of_one || shares.any(|it| it.abs() > tolerance)
    }

    /// Returns true if any of `parts` has grown by more than `tolerance`, or if the phase is new.
    pub fn is_larger(&self, parts: &[InstructionScope], tolerance: f64) -> bool {
        let mut shares = parts.iter().filter_map(|it| self.share(*it));
        let is_added = self.old == PhaseSide::NoSuchPhase && self.new.figure().is_some();
        is_added || shares.any(|it| it > tolerance)
    }
}

/// Returns the functions that differ or were renamed, largest change first.
fn function_changes(old: &ProfilePhase, new: &ProfilePhase) -> Vec<FunctionChange> {
    let (before, after) = (old.functions(), new.functions());
    let frames = merge_calls(old, new);
    let renamed = renamed_functions(&frames).into_iter();
    let renamed = renamed.filter(|[old, _]| before.contains_key(old));
    let old_names: BTreeMap<&str, &str> = renamed.map(|[old, new]| (new, old)).collect();
    let mut names: BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
    for (new, old) in &old_names {
        names.remove(old);
        names.insert(new);
    }
    let change = |name: &str| {
        let old_name = old_names.get(name).copied();
        let before = before.get(old_name.unwrap_or(name)).copied();
        let before = before.unwrap_or_default();
        let after = after.get(name).copied().unwrap_or_default();
        FunctionChange {
            name: name.to_owned(),
            old_name: old_name.map(str::to_owned),
            old: old.mean(before.instructions),
            new: new.mean(after.instructions),
            calls: [old.mean(before.calls), new.mean(after.calls)],
        }
    };
    let mut functions: Vec<FunctionChange> = names.into_iter().map(change).collect();
    functions.retain(|it| it.old != it.new || it.old_name.is_some());
    functions.sort_by(|a, b| (b.new - b.old).abs().total_cmp(&(a.new - a.old).abs()));
    functions
}

/// Returns the changes in all phases that are present on at least one side.
pub fn changes(old: &Profile, new: &Profile) -> Vec<PhaseChange> {
    let has_functions = old.has_functions() && new.has_functions();
    let (before, after) = (old.merged(), new.merged());
    let gone = before
        .iter()
        .filter(|it| !after.iter().any(|other| other.is_like(it)));
    let change = |phase: &ProfilePhase| {
        let [old_phase, new_phase] =
            [&before, &after].map(|all| all.iter().find(|it| it.is_like(phase)));
        let none = ProfilePhase::default();
        let [of_old, of_new] = [old_phase, new_phase].map(|it| it.unwrap_or(&none));
        let old = PhaseSide::of(old, old_phase, phase);
        let new = PhaseSide::of(new, new_phase, phase);
        let is_measured = ![old, new].contains(&PhaseSide::NotMeasured);
        let functions = match has_functions && is_measured {
            true => function_changes(of_old, of_new),
            false => Vec::new(),
        };
        PhaseChange {
            figure: phase.figure_name(),
            old,
            new,
            functions,
        }
    };
    after.iter().chain(gone).map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::profile::Cost;

    #[test]
    fn waiting_counts_beside_own_instructions() {
        let old = Profile::made_up(&[("parallel", "entry", 2788, 63_435)]);
        let new = Profile::made_up(&[("parallel", "entry", 1544, 943_026)]);
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
        let profile = Profile::made_up(&[("serial", "reset", 30, 30), ("serial", "entry", 10, 10)]);
        let mut log = Profile::made_up(&[("serial", "entry", 10, 10)]);
        let old = |log: &Profile| changes(log, &profile)[0].old;
        assert_eq!(old(&log), PhaseSide::NoSuchPhase);
        log.phases[0].stacks.clear();
        assert_eq!(old(&log), PhaseSide::NotMeasured);
    }

    #[test]
    fn phase_of_one_side_has_no_figure_on_the_other() {
        let old = Profile::made_up(&[("serial", "entry", 10, 10), ("parallel", "entry", 10, 10)]);
        let new = Profile::made_up(&[("serial", "entry", 10, 10), ("serial", "flush", 20, 20)]);
        let all = changes(&old, &new);
        let sides = |figure: &str| {
            let found = all.iter().find(|it| it.figure == figure);
            let it = found.expect("a change");
            assert!(
                it.exceeds(&InstructionScope::BOTH, 1.0)
                    && it.share(InstructionScope::All).is_none()
            );
            let is_measured = ![it.old, it.new].contains(&PhaseSide::NotMeasured);
            assert_eq!(it.functions.len(), usize::from(is_measured));
            (it.old, it.new, it.is_larger(&InstructionScope::BOTH, 0.0))
        };
        let figure = |own: f64| {
            PhaseSide::Measured(PhaseFigure {
                own: Some(own),
                all: own,
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
            let stacks = stacks
                .iter()
                .map(|(stack, it)| ((*stack).to_owned(), cost(*it)));
            ProfilePhase {
                samples: 1,
                stacks: stacks.collect(),
                ..ProfilePhase::default()
            }
        };
        let rows = |old: &[(&str, u64)], new: &[(&str, u64)]| {
            let changes = function_changes(&phase(old), &phase(new));
            let row = |it: &FunctionChange| format!("{} {} {}", it.label(), it.old, it.new);
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
