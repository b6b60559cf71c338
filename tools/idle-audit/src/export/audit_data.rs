//! The audits as data, for JSON. The README describes the keys.

use device_tree::declared::Duration;
use hardware::board::Mpidr;
use serde::Serialize;

use super::idle_report::IdleReport;
use crate::audit::{AuditedState, DeclaredBy, IdleAudit, Judgement, MeasuredGroup, PropertyChange};

/// All audits.
#[derive(Serialize)]
pub(super) struct AuditData<'r> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    idle_audits: Vec<OneAudit<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unaudited_trees: Vec<OneTree<'r>>,
}

#[derive(Serialize)]
struct OneAudit<'r> {
    source: &'r str,
    by: DeclaredBy,
    board: &'r str,
    logs: &'r [String],
    margin: f64,
    states: Vec<OneState<'r>>,
}

#[derive(Serialize)]
struct OneTree<'r> {
    source: &'r str,
    /// None if the tree declares no idle states.
    refused: Option<&'r str>,
}

#[derive(Serialize)]
struct OneState<'r> {
    name: &'r str,
    path: &'r str,
    power_state: u32,
    cpus: &'r [Mpidr],
    entry_us: Option<u32>,
    exit_us: Option<u32>,
    wakeup_us: Option<u32>,
    min_residency_us: Option<u32>,
    timer_stops: bool,
    measured: &'r [MeasuredGroup],
    judgements: &'r [Judgement],
    changes: &'r [PropertyChange],
}

impl<'r> AuditData<'r> {
    pub(super) fn of(report: &'r IdleReport) -> Self {
        let trees = report.unaudited_trees.iter().map(|tree| OneTree {
            source: &tree.source,
            refused: tree.refusal(),
        });
        Self {
            idle_audits: report.audits.iter().map(OneAudit::of).collect(),
            unaudited_trees: trees.collect(),
        }
    }
}

impl<'r> OneAudit<'r> {
    fn of(audit: &'r IdleAudit) -> Self {
        Self {
            source: &audit.source,
            by: audit.by,
            board: &audit.board,
            logs: &audit.logs,
            margin: audit.margin,
            states: audit.states.iter().map(OneState::of).collect(),
        }
    }
}

impl<'r> OneState<'r> {
    fn of(state: &'r AuditedState) -> Self {
        let declared = &state.declared;
        let us = |duration| declared.us(duration);
        let groups = state.measured.as_ref();
        Self {
            name: &declared.name,
            path: &declared.path,
            power_state: declared.power_state,
            cpus: &state.users,
            entry_us: us(Duration::Entry),
            exit_us: us(Duration::Exit),
            wakeup_us: us(Duration::Wakeup),
            min_residency_us: us(Duration::MinResidency),
            timer_stops: declared.timer_stops,
            measured: groups.map_or(&[], |measured| &measured.groups),
            judgements: &state.judgements,
            changes: &state.changes,
        }
    }
}
