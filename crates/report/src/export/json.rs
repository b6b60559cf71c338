//! `json`: all data in the model. The format is described in docs/report.md.

use std::io::Write;

use anyhow::Result;
use device_tree::declared::Duration;
use serde::Serialize;
use suite::model::Scenario;

use super::object::object;
use super::report_data::Report;
use crate::analysis::audit::Audit;
use crate::analysis::compare::{Change, ChangeList, ComparedScenario, Comparison};
use crate::analysis::findings::{explanations, findings};
use crate::analysis::history::History;
use crate::analysis::idle_audit::{AuditedState, IdleAudit, UnauditedTree};
use crate::log::LoggedRun;

/// The schema version, which changes when a key is removed or the meaning of a key changes; keys
/// may be added at any time.
const VERSION: u32 = 6;

/// The complete report. Durations are in ticks of the run's `hz`.
#[derive(Serialize)]
struct Schema<'r, R, C, A, U> {
    schema: &'static str,
    version: u32,
    runs: Vec<R>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    comparisons: Vec<C>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    audits: &'r [Audit],
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<&'r History>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    idle_audits: Vec<A>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unaudited_trees: Vec<U>,
}

pub(super) fn write(report: &Report, out: &mut dyn Write) -> Result<()> {
    let schema = Schema {
        schema: "psci-bench-report",
        version: VERSION,
        runs: report.runs.iter().map(one_run).collect(),
        comparisons: report.comparisons.iter().map(one_comparison).collect(),
        audits: &report.audits,
        history: report.history.as_ref(),
        idle_audits: report.idle_audits.iter().map(one_idle_audit).collect(),
        unaudited_trees: report.unaudited_trees.iter().map(unaudited_tree).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &schema)?;
    writeln!(out)?;
    Ok(())
}

fn one_run(run: &LoggedRun) -> impl Serialize {
    let scenarios = run.run.scenarios.iter().map(|it| one_scenario(run, it));
    object! {
        source: &run.source,
        id: run.run.id.map(|id| id.to_string()),
        payload: run.payload_version(),
        board: run.board(),
        complete: run.is_complete(),
        lacks: run.lacks(),
        verified: run.integrity.is_verified(),
        closing: run.closing.as_ref().map(|it| it.line.as_str()),
        verdict: run.verdict(),
        doubts: run.doubts(),
        hz: run.clock().hz,
        head: run.run.head.as_ref(),
        facts: run.run.facts.as_ref(),
        plan: run.run.plan.as_ref(),
        firmware: &run.firmware,
        cpus: &run.run.cpus,
        integrity: &run.integrity,
        explanations: explanations(run),
        scenarios: scenarios.collect::<Vec<_>>(),
        end: run.run.end.as_ref(),
    }
}

fn one_scenario(run: &LoggedRun, scenario: &Scenario) -> impl Serialize {
    object! {
        #[serde(flatten)]
        scenario: scenario,
        name: scenario.id.name(),
        findings: findings(run, scenario),
    }
}

fn one_comparison(it: &Comparison) -> impl Serialize {
    object! {
        run: it.run,
        baseline: &it.baseline.source,
        // The CPUs to which the baseline indices refer.
        baseline_cpus: &it.baseline.run.cpus,
        tolerance_ppm: it.tolerance_ppm,
        keyed: it.row_pairing,
        regressions: it.regressions().count(),
        pmf_cost: it.is_pmf_cost,
        complete: it.is_complete(),
        lacks: it.lacks(),
        scenarios: it.scenarios.iter().map(|scenario| one_compared(it, scenario)).collect::<Vec<_>>(),
        refused: &it.refused,
        findings: &it.findings,
    }
}

/// Returns a scenario that both runs contain. Only changes that determine the result have an
/// outcome.
fn one_compared(comparison: &Comparison, it: &ComparedScenario) -> impl Serialize {
    let changes = |all: &[Change], list: ChangeList| {
        let all = all.iter().map(|change| {
            object! {
                #[serde(flatten)]
                change: change.clone(),
                outcome: comparison.outcome(it, list, change),
            }
        });
        all.collect::<Vec<_>>()
    };
    object! {
        #[serde(flatten)]
        key: it.key,
        judged: it.judged_by,
        by_cpu: changes(&it.by_cpu, ChangeList::Cpu),
        by_order: changes(&it.by_order, ChangeList::Order),
        unpaired: it.unpaired.clone(),
        lacks: it.lacks.clone(),
    }
}

fn one_idle_audit(it: &IdleAudit) -> impl Serialize {
    object! {
        source: it.source.clone(),
        by: it.by,
        board: it.board.clone(),
        logs: it.logs.clone(),
        margin: it.margin,
        states: it.states.iter().map(one_audited_state).collect::<Vec<_>>(),
    }
}

fn unaudited_tree(tree: &UnauditedTree) -> impl Serialize {
    object! {
        source: tree.source.clone(),
        // Absent if the tree declares no idle states.
        refused: tree.refusal().map(str::to_owned),
    }
}

fn one_audited_state(it: &AuditedState) -> impl Serialize {
    let us = |duration| it.declared.us(duration);
    let groups = it
        .measured
        .iter()
        .flat_map(|measured| measured.groups.clone());
    object! {
        name: it.declared.name.clone(),
        path: it.declared.path.clone(),
        power_state: it.declared.power_state,
        cpus: it.users.clone(),
        entry_us: us(Duration::Entry),
        exit_us: us(Duration::Exit),
        wakeup_us: us(Duration::Wakeup),
        min_residency_us: us(Duration::MinResidency),
        timer_stops: it.declared.timer_stops,
        measured: groups.collect::<Vec<_>>(),
        judgements: it.judgements.clone(),
        changes: it.changes.clone(),
    }
}
