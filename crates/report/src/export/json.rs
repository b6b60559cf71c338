//! `json`: all data in the model. The format is described in docs/report.md.

use std::io::Write;

use anyhow::Result;
use serde::Serialize;
use serde_json::{Value, json};
use suite::measure::Facts;
use suite::model::Scenario;
use suite::output::{scenario_summaries, version_text};

use super::object::object;
use super::report_data::Report;
use crate::analysis::boot_time::{boot_rows, boot_times};
use crate::analysis::compare::{Change, ChangeList, ComparedScenario, Comparison};
use crate::analysis::findings::{explanations, findings};
use crate::analysis::history::History;
use crate::log::LoggedRun;

/// The schema version, which changes when a key is removed or the meaning of a key changes; keys
/// may be added at any time.
const VERSION: u32 = 7;

/// The data, in which durations are in ticks of the run's `hz`.
#[derive(Serialize)]
struct Schema<R, D> {
    schema: &'static str,
    version: u32,
    runs: Vec<R>,
    #[serde(flatten)]
    data: D,
}

/// The parts of a report, except for its runs.
#[derive(Serialize)]
struct ReportParts<'r, C> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    comparisons: Vec<C>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<&'r History>,
}

/// Writes `runs`, followed by `data`, which is serialized as a map.
pub(super) fn write_data(
    runs: &[LoggedRun],
    data: impl Serialize,
    out: &mut dyn Write,
) -> Result<()> {
    let schema = Schema {
        schema: "psci-bench-report",
        version: VERSION,
        runs: runs.iter().map(one_run).collect(),
        data,
    };
    serde_json::to_writer_pretty(&mut *out, &schema)?;
    writeln!(out)?;
    Ok(())
}

pub(super) fn write(report: &Report, out: &mut dyn Write) -> Result<()> {
    let comparisons = report.comparisons.iter();
    let comparisons = comparisons.map(|comparison| one_comparison(report, comparison));
    let parts = ReportParts {
        comparisons: comparisons.collect(),
        history: report.history.as_ref(),
    };
    write_data(&report.runs, parts, out)
}

fn one_run(logged: &LoggedRun) -> impl Serialize {
    let scenarios = logged.run.scenarios.iter();
    object! {
        source: &logged.source,
        id: logged.run.id.map(|id| id.to_string()),
        payload: logged.payload_version(),
        board: logged.board(),
        complete: logged.is_complete(),
        lacks: logged.lacks(),
        verified: logged.integrity.is_verified(),
        closing: logged.closing.as_ref().map(|closing_line| closing_line.line.as_str()),
        verdict: logged.verdict(),
        doubts: logged.doubts(),
        hz: logged.clock().hz,
        head: logged.run.head.as_ref(),
        facts: logged.run.facts.as_ref().map(facts),
        plan: logged.run.plan.as_ref(),
        firmware: &logged.firmware,
        boot: boot_times(logged),
        cpus: &logged.run.cpus,
        integrity: &logged.integrity,
        summary: scenario_summaries(&logged.run),
        explanations: explanations(logged),
        scenarios: scenarios.map(|scenario| one_scenario(logged, scenario)).collect::<Vec<_>>(),
        end: logged.run.end.as_ref(),
    }
}

/// Returns the `facts` record with versions and UIDs as text, and what the machine lacks as
/// `{"none": WHY}`.
fn facts(facts: &Facts) -> Value {
    let mut value = serde_json::to_value(facts).expect("a record is a map of plain values");
    let Some(members) = value.as_object_mut() else {
        return value;
    };
    for member in members.values_mut() {
        if let Some(found) = member.get_mut("Ok") {
            *member = found.take();
        } else if let Some(why) = member.get_mut("Err") {
            *member = json!({ "none": why.take() });
        }
    }
    members["psci_version"] = json!(version_text(facts.psci_version));
    members["smccc"] = json!(facts.smccc.map(version_text));
    if let Some(service) = &facts.service {
        members["service"]["uid"] = json!(service.to_string());
    }
    value
}

fn one_scenario(logged: &LoggedRun, scenario: &Scenario) -> impl Serialize {
    object! {
        #[serde(flatten)]
        scenario: scenario,
        name: scenario.id.name(),
        findings: findings(logged, scenario),
    }
}

fn one_comparison(report: &Report, comparison: &Comparison) -> impl Serialize {
    let scenarios = comparison.scenarios.iter();
    object! {
        run: comparison.run,
        not_judged: comparison.why_not_judged(&report.runs[comparison.run].run),
        baseline: &comparison.baseline.source,
        // The CPUs to which the baseline indices refer.
        baseline_cpus: &comparison.baseline.run.cpus,
        tolerance_ppm: comparison.tolerance_ppm,
        keyed: comparison.row_pairing,
        // The cost of PMF is neither better nor worse.
        outcomes: (!comparison.is_pmf_cost).then(|| comparison.counts()),
        regressions: comparison.regressions().count(),
        pmf_cost: comparison.is_pmf_cost,
        complete: comparison.is_complete(),
        lacks: comparison.lacks(),
        baseline_lacks: comparison.baseline.lacks(),
        scenarios: scenarios.map(|scenario| one_compared(comparison, scenario)).collect::<Vec<_>>(),
        refused: &comparison.refused,
        boot: boot_rows(&[&comparison.baseline, &report.runs[comparison.run]]),
        findings: &comparison.findings,
    }
}

/// Returns a scenario that both runs contain. Only changes that determine the result have an
/// outcome.
fn one_compared(comparison: &Comparison, scenario: &ComparedScenario) -> impl Serialize {
    let with_outcomes = |changes: &[Change], list: ChangeList| {
        let objects = changes.iter().map(|change| {
            object! {
                #[serde(flatten)]
                change: change.clone(),
                outcome: comparison.outcome(scenario, list, change),
            }
        });
        objects.collect::<Vec<_>>()
    };
    object! {
        #[serde(flatten)]
        key: scenario.key,
        judged: scenario.judged_by,
        by_cpu: with_outcomes(&scenario.by_cpu, ChangeList::Cpu),
        by_order: with_outcomes(&scenario.by_order, ChangeList::Order),
        unpaired: scenario.unpaired.clone(),
        lacks: scenario.lacks.clone(),
    }
}
