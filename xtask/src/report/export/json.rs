//! `json`: everything that the model has; docs/report.md describes it.

use std::io::Write;

use anyhow::Result;
use psci_bench::model::Verdict;
use psci_bench::model::{Cpu, End, Finding, Head, Scenario};
use psci_bench::plan::Plan;
use serde::Serialize;

use super::report_data::Report;
use crate::report::analysis::compare::{
    ComparedScenario, Comparison, ComparisonFinding, Keyed, Refused,
};
use crate::report::analysis::findings::findings;
use crate::report::analysis::merge::Merged;
use crate::report::jobs::matrix::Matrix;
use crate::report::log::{Integrity, LoggedRun, Source, Stage};

/// The version of the schema: it changes when a key changes its meaning or goes;
/// keys may come at any time.
const VERSION: u32 = 2;

/// The whole report. Durations are in ticks of the run's `hz`.
#[derive(Serialize)]
struct Schema<'r> {
    schema: &'static str,
    version: u32,
    runs: Vec<OneRun<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    merged: Option<&'r Merged>,
    #[serde(skip_serializing_if = "Option::is_none")]
    matrix: Option<&'r Matrix>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    comparisons: Vec<OneComparison<'r>>,
}

#[derive(Serialize)]
struct OneRun<'r> {
    source: &'r Source,
    payload: Option<&'r str>,
    board: Option<&'r str>,
    complete: bool,
    verified: bool,
    closing: Option<&'r str>,
    verdict: Option<Verdict>,
    doubts: Vec<String>,
    hz: u64,
    head: Option<&'r Head>,
    facts: Option<&'r psci_bench::measure::Facts>,
    plan: Option<&'r Plan>,
    firmware: &'r [Stage],
    cpus: &'r [Cpu],
    integrity: &'r Integrity,
    scenarios: Vec<OneScenario<'r>>,
    end: Option<&'r End>,
}

#[derive(Serialize)]
struct OneScenario<'r> {
    #[serde(flatten)]
    scenario: &'r Scenario,
    name: &'static str,
    /// The findings with those that the payload does not have; `findings` are the
    /// payload's.
    explained: Vec<Finding>,
}

#[derive(Serialize)]
struct OneComparison<'r> {
    run: usize,
    baseline: &'r Source,
    /// The CPUs that the baseline's indices mean.
    baseline_cpus: &'r [Cpu],
    tolerance_ppm: u32,
    keyed: Keyed,
    regressions: usize,
    complete: bool,
    lacks: Vec<String>,
    scenarios: &'r [ComparedScenario],
    refused: &'r [Refused],
    findings: &'r [ComparisonFinding],
}

pub(super) fn write(report: &Report, out: &mut dyn Write) -> Result<()> {
    let schema = Schema {
        schema: "psci-bench-report",
        version: VERSION,
        runs: report.runs.iter().map(one_run).collect(),
        merged: report.merged.as_ref(),
        matrix: report.matrix.as_ref(),
        comparisons: report.comparisons.iter().map(one_comparison).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &schema)?;
    writeln!(out)?;
    Ok(())
}

fn one_run(run: &LoggedRun) -> OneRun<'_> {
    let scenarios = run.run.scenarios.iter().map(|scenario| OneScenario {
        scenario,
        name: scenario.id.name(),
        explained: findings(run, scenario),
    });
    OneRun {
        source: &run.source,
        payload: run.payload_version(),
        board: run.board(),
        complete: run.is_complete(),
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
        scenarios: scenarios.collect(),
        end: run.run.end.as_ref(),
    }
}

fn one_comparison(it: &Comparison) -> OneComparison<'_> {
    OneComparison {
        run: it.run,
        baseline: &it.baseline.source,
        baseline_cpus: &it.baseline.run.cpus,
        tolerance_ppm: it.tolerance_ppm,
        keyed: it.keyed,
        regressions: it.regressions().count(),
        complete: it.is_complete(),
        lacks: it.lacks(),
        scenarios: &it.scenarios,
        refused: &it.refused,
        findings: &it.findings,
    }
}
