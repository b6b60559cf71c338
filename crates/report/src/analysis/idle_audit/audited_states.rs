//! Audits the idle states of a board.

use anyhow::{Result, bail, ensure};
use device_tree::declared::{DeclaredState, DeclaredStates};
use hardware::board::Mpidr;
use itertools::Itertools as _;

use super::declared_source::{DeclaredBy, DeclaredSource};
use super::idle_rules::{Subject, effective_wakeup, judge, measured_wakeup};
use super::judgement::{Judgement, Verdict};
use super::measured_state::{MeasuredState, measure};
use super::suggestion::{PropertyChange, suggest};
use crate::analysis::worst_case::suspends;
use crate::log::LoggedRun;

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
    pub fn count(&self, verdict: Verdict) -> usize {
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

/// A tree among several that has no audit.
#[derive(Clone, Debug)]
pub struct UnauditedTree {
    /// The file's path.
    pub source: String,
    /// Why there is no audit.
    pub why: Unaudited,
}

/// Why a tree has no audit.
#[derive(Clone, Debug)]
pub enum Unaudited {
    /// The tree declares no idle states, so there is nothing to audit.
    NoStates,
    /// The file cannot be read or audited, for this reason.
    Refused(String),
}

impl UnauditedTree {
    /// Returns the reason why the file cannot be audited; None if it has nothing to audit.
    pub fn refusal(&self) -> Option<&str> {
        match &self.why {
            Unaudited::NoStates => None,
            Unaudited::Refused(reason) => Some(reason),
        }
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
    for run in runs {
        check_run(source, board, run)?;
    }
    let measured = match runs {
        [] => Vec::new(),
        runs => measure(declared, runs),
    };
    let subject = Subject {
        declared,
        index: 0,
        measured: &measured,
        margin,
    };
    let judgements: Vec<Vec<Judgement>> = (0..declared.states.len())
        .map(|index| judge(Subject { index, ..subject }))
        .collect();
    let changes = suggest(subject, &judgements);
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
        logs: runs.iter().map(|run| run.source.input.clone()).collect(),
        margin,
        states: states.collect(),
    })
}

/// Rejects a run that is from another board, or that cannot be audited.
fn check_run(source: &DeclaredSource, board: &str, run: &LoggedRun) -> Result<()> {
    let input = &run.source.input;
    let name = &source.name;
    ensure!(
        run.integrity.records.is_some(),
        "{input}: no records; an audit cannot be based on lines without a checksum"
    );
    ensure!(
        run.run.clock().is_known(),
        "{input}: the counter frequency is unknown, but latencies are declared in microseconds"
    );
    let logged_board = run.board().unwrap_or("an unknown board");
    if logged_board != board {
        bail!(
            "{input}: is a log of {logged_board}, but {name} is for {board}; if they are the same \
             board, name its board file with --board"
        );
    }
    let mut mpidrs = run.run.cpus.iter().filter_map(|cpu| cpu.mpidr);
    if let Some(other) = mpidrs.find(|mpidr| !source.declared.cpus.contains(mpidr)) {
        bail!("{input}: CPU {other} is not in {name}, so the log is from another board");
    }
    let suspends = suspends(run);
    ensure!(
        !suspends.is_empty(),
        "{input}: no scenario suspended a CPU; select idle_states with only="
    );
    if !has_common(&source.declared, suspends.keys()) {
        let list = |states: Vec<u32>| {
            states
                .iter()
                .map(|state| format!("{state:#010x}"))
                .join(", ")
        };
        let states = source.declared.states.iter();
        let declared = list(states.map(|state| state.power_state).collect());
        let measured = list(suspends.into_keys().collect());
        bail!(
            "{input}: has only the states {measured}, but {name} declares {declared}: the log is \
             from another board or firmware"
        );
    }
    Ok(())
}

/// Returns true if any of the power_state values is declared.
fn has_common<'k>(declared: &DeclaredStates, mut keys: impl Iterator<Item = &'k u32>) -> bool {
    keys.any(|key| {
        declared
            .states
            .iter()
            .any(|state| state.power_state == *key)
    })
}
