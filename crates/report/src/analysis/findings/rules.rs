//! The lists of rules, and the functions that apply them.

use hardware::text::plural::many;
use suite::findings::{Rule, Subject, Verbosity, findings_of};
use suite::model::{Evidence, Finding, FindingKind, Scenario};

use super::based_finding::BasedFinding;
use super::changes::changes;
use super::cluster_flush::cluster_flushes;
use super::conditions::{conditions, unweighed};
use super::contention::contention;
use super::dirty_flush::dirty_flush;
use super::net_of_loop::net_of_loop;
use super::pmf_cost::pmf_costs;
use super::warm_and_cold::warm_and_cold;
use crate::analysis::compare::Difference;
use crate::analysis::conditions::is_ambiguous;
use crate::analysis::explain::{
    SuiteTables, best_case, cluster_exit, cpu_off_exit, cpu_types, entry_queue, extra_flush,
    flush_by_size, last_flush, lead_cluster, platform_lock, uniform_exits, unlike_twin,
};
use crate::analysis::value_text::NOT_VERIFIED;
use crate::log::LoggedRun;

/// The rules about a scenario that need more than integers.
const OF_SCENARIO: &[Rule] = &[contention, dirty_flush, warm_and_cold];

/// The rules that also need the run's other scenarios, with the start of the sentence that says
/// that they cannot be applied.
const OF_SCENARIO_IN_RUN: &[(Rule, &str)] = &[(net_of_loop, "Net of the loop")];

/// A rule about all the suite's tables: returns a finding if the figures support every part of its
/// sentence.
type TablesRule = fn(&SuiteTables<'_>) -> Option<BasedFinding>;

/// The explanations: waits, then flushes, then differences between scenarios and between CPUs.
const OF_TABLES: &[TablesRule] = &[
    entry_queue,
    platform_lock,
    uniform_exits,
    last_flush,
    extra_flush,
    flush_by_size,
    lead_cluster,
    best_case,
    cluster_exit,
    cpu_off_exit,
    cpu_types,
    unlike_twin,
];

/// A rule about the difference between two runs.
type DifferenceRule = fn(&Difference<'_>) -> Vec<BasedFinding>;

/// The rules about a run and its baseline.
const OF_DIFFERENCE: &[DifferenceRule] = &[conditions, unweighed, cluster_flushes, changes];

/// The rules about two runs of which only one has PMF.
const OF_PMF: &[DifferenceRule] = &[conditions, unweighed, pmf_costs];

/// Returns the findings about a scenario: the payload's in more detail, and those that only a
/// report contains. If a record is missing, returns only a sentence that says so.
pub fn findings(logged: &LoggedRun, scenario: &Scenario) -> Vec<Finding> {
    if let Some(what) = lost_records(logged, scenario) {
        return vec![unknown_finding(format!("No findings: {what} lost."))];
    }
    let subject = Subject {
        run: &logged.run,
        scenario,
        verbosity: Verbosity::Full,
    };
    let mut findings = findings_of(&subject);
    for (rule, what) in OF_SCENARIO_IN_RUN {
        let rule_findings = rule(&subject);
        if has_other_scenarios(logged) || rule_findings.is_empty() {
            findings.extend(rule_findings);
        } else {
            let why = "because some of the run's records were lost";
            findings.push(unknown_finding(format!("{what}: unknown, {why}.")));
        }
    }
    findings.extend(OF_SCENARIO.iter().flat_map(|rule| rule(&subject)));
    for finding in &mut findings {
        let is_doubtful = |cpu| {
            let cell = scenario.cell(cpu);
            cell.is_some_and(|cell| logged.is_doubtful(cell))
        };
        if finding.cpus.iter().any(is_doubtful) {
            finding.sentence += NOT_VERIFIED;
        }
    }
    findings
}

/// Returns the explanations that a run's tables support; none if any of the run's records are
/// missing or if two CPUs have the same label.
pub fn explanations(logged: &LoggedRun) -> Vec<BasedFinding> {
    if !has_other_scenarios(logged) || is_ambiguous(&logged.run) {
        return Vec::new();
    }
    let tables = SuiteTables::of(logged);
    OF_TABLES.iter().filter_map(|rule| rule(&tables)).collect()
}

/// Returns the findings about the difference between two runs, or about the cost of PMF if only the
/// second run's firmware has it.
pub(crate) fn difference_findings(
    difference: &Difference<'_>,
    is_pmf_cost: bool,
) -> Vec<BasedFinding> {
    let rules = if is_pmf_cost { OF_PMF } else { OF_DIFFERENCE };
    rules.iter().flat_map(|rule| rule(difference)).collect()
}

/// Returns a finding that says that the figures do not show something.
fn unknown_finding(sentence: String) -> Finding {
    Finding {
        kind: FindingKind::NOT_TOLD,
        sentence,
        cpus: [].into_iter().collect(),
        metrics: Vec::new(),
        evidence: Evidence::Unknown,
    }
}

/// Lists the lost records that the findings depend on, as a subject and verb: `2 records of X are`.
/// Returns None if no such records were lost, or if the log does not contain any records.
fn lost_records(logged: &LoggedRun, scenario: &Scenario) -> Option<String> {
    logged.integrity.records.as_ref()?;
    if let Some(what) = logged.lost_of(scenario) {
        return Some(what);
    }
    let unnamed = logged
        .run
        .cpus
        .iter()
        .filter(|cpu| cpu.mpidr.is_none())
        .count();
    if logged.run.facts.is_none() {
        Some("the machine record is".to_owned())
    } else if unnamed > 0 {
        Some(format!("the records of {} are", many(unnamed, "CPU")))
    } else {
        None
    }
}

/// Returns true if all of the run's scenarios are present, so that findings can be based on them.
fn has_other_scenarios(logged: &LoggedRun) -> bool {
    logged.integrity.records.is_none() || logged.integrity.is_whole()
}
