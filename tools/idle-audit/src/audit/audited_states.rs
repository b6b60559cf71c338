//! Audits the idle states of a board.

use anyhow::Result;
use device_tree::declared::DeclaredState;
use hardware::board::Mpidr;
use report::log::LoggedRun;

use super::check_run::check_run;
use super::declared_source::{DeclaredBy, DeclaredSource};
use super::idle_rules::{JudgedState, effective_wakeup, judge, measured_wakeup};
use super::judgement::{Judgement, RuleVerdict};
use super::measured_state::{MeasuredState, measure};
use super::suggestion::{PropertyChange, suggest};

/// A declared state, what was measured of it, and the verdicts.
#[derive(Clone, Debug)]
pub struct AuditedState {
    /// The declared values.
    pub declared: DeclaredState,
    /// The CPUs that use the state; empty if no CPU lists it.
    pub users: Vec<Mpidr>,
    /// None without a log, and for a state that no CPU uses.
    pub measured: Option<MeasuredState>,
    /// The verdicts, in the order of the rules.
    pub judgements: Vec<Judgement>,
    /// The changes that correct the state.
    pub changes: Vec<PropertyChange>,
}

impl AuditedState {
    /// Returns the verdicts that no change of a property can correct.
    pub(crate) fn uncorrectable(&self) -> impl Iterator<Item = &Judgement> {
        self.judgements
            .iter()
            .filter(|judgement| judgement.is_uncorrectable())
    }

    /// Returns the wake-up latency in microseconds as declared and as measured; None if one of them
    /// is unknown. PM QoS limits refer to it.
    pub(crate) fn limits(&self) -> Option<(u64, u64)> {
        let measured = measured_wakeup(self.measured.as_ref()?)?;
        Some((effective_wakeup(&self.declared)?, measured.us))
    }
}

/// An audit of a board's idle states.
///
/// Holding one proves that each log is from the declared board, as far as its CPUs and states show.
/// It does not prove that the logs cover every state.
#[derive(Clone, Debug)]
pub struct IdleAudit {
    /// The name of what declares the states, such as a path.
    pub source: String,
    /// The kind of the source.
    pub by: DeclaredBy,
    /// The name of the board.
    pub board: String,
    /// The logs.
    pub logs: Vec<String>,
    /// The largest factor by which a value may exceed the measured worst case.
    pub margin: f64,
    /// The states, in the order of the source.
    pub states: Vec<AuditedState>,
}

impl IdleAudit {
    /// Returns the verdicts of all states.
    pub fn judgements(&self) -> impl Iterator<Item = (&AuditedState, &Judgement)> {
        self.states.iter().flat_map(|state| {
            let judgements = state.judgements.iter();
            judgements.map(move |judgement| (state, judgement))
        })
    }

    /// Returns the number of verdicts of this kind.
    pub fn count(&self, verdict: RuleVerdict) -> usize {
        self.judgements()
            .filter(|(_, judgement)| judgement.verdict == verdict)
            .count()
    }

    /// Returns true if software that relies on the declared values can go wrong.
    pub fn has_broken(&self) -> bool {
        self.judgements()
            .any(|(_, judgement)| judgement.verdict.is_broken())
    }
}

/// Audits the states that `source` declares. Without `runs`, the states are only compared with each
/// other. `board` is the name of the board that the runs must be from.
///
/// # Errors
/// Returns an error if a run is from another board, or does not contain any of the states.
pub fn audit(
    source: &DeclaredSource,
    board: &str,
    runs: &[LoggedRun],
    margin: f64,
) -> Result<IdleAudit> {
    let declared = &source.declared;
    for logged in runs {
        check_run(source, board, logged)?;
    }
    let measured = match runs {
        [] => Vec::new(),
        runs => measure(declared, runs),
    };
    let judged_state = JudgedState {
        declared,
        index: 0,
        measured: &measured,
        margin,
    };
    let judgements: Vec<Vec<Judgement>> = (0..declared.states.len())
        .map(|index| {
            judge(JudgedState {
                index,
                ..judged_state
            })
        })
        .collect();
    let changes = suggest(judged_state, &judgements);
    let states =
        judgements
            .into_iter()
            .zip(changes)
            .enumerate()
            .map(|(index, (judgements, changes))| AuditedState {
                declared: declared.states[index].clone(),
                users: declared.users(index),
                measured: measured
                    .get(index)
                    .filter(|_| declared.is_listed(index))
                    .cloned(),
                judgements,
                changes,
            });
    Ok(IdleAudit {
        source: source.name.clone(),
        by: source.by,
        board: source.board.clone(),
        logs: runs
            .iter()
            .map(|logged| logged.source.input.clone())
            .collect(),
        margin,
        states: states.collect(),
    })
}
