//! The findings of a scenario: the payload's, and those that need more than integer arithmetic.

use hardware::text::plural::many;
use run::findings::{Verbosity, findings_of};
use run::model::{Evidence, Finding, Kind, Scenario};

use super::cold_calls::cold_calls;
use super::step_findings::{contention, dirty_flush, net_of_loop};
use super::words::NOT_VERIFIED;
use crate::log::LoggedRun;

/// Returns the findings of a scenario, computed from its figures: the payload's in more detail,
/// and the report's. If a record is missing, returns only the sentence that says so.
pub fn findings(run: &LoggedRun, scenario: &Scenario) -> Vec<Finding> {
    if let Some(what) = lost_records(run, scenario) {
        return vec![not_told(format!("No findings: {what} lost."))];
    }
    let mut all = findings_of(&run.run, scenario, Verbosity::Full);
    let net = net_of_loop(&run.run, scenario);
    if has_other_scenarios(run) {
        all.extend(net);
    } else if !net.is_empty() {
        let what = "Net of the loop: unknown, because records of the run are lost.";
        all.push(not_told(what.to_owned()));
    }
    all.extend(contention(&run.run, scenario));
    all.extend(dirty_flush(&run.run, scenario));
    all.extend(cold_calls(&run.run, scenario));
    for finding in &mut all {
        let is_doubtful = |cpu| scenario.cell(cpu).is_some_and(|it| run.is_doubtful(it));
        if finding.cpus.iter().any(is_doubtful) {
            finding.sentence += NOT_VERIFIED;
        }
    }
    all
}

fn not_told(sentence: String) -> Finding {
    Finding {
        kind: Kind::NOT_TOLD,
        sentence,
        cpus: [].into_iter().collect(),
        metrics: Vec::new(),
        evidence: Evidence::Unknown,
    }
}

/// Returns the missing records without which findings would be wrong, with the verb. None if the
/// log has all of them, or has no records at all.
fn lost_records(run: &LoggedRun, scenario: &Scenario) -> Option<String> {
    run.integrity.records.as_ref()?;
    if let Some(what) = run.lost_of(scenario) {
        return Some(what);
    }
    let is_named = |cpu: &run::model::Cpu| cpu.mpidr.is_some();
    if run.run.facts.is_none() {
        Some("the record of the machine is".to_owned())
    } else if !run.run.cpus.iter().all(is_named) {
        let lost = run.run.cpus.iter().filter(|cpu| !is_named(cpu));
        Some(format!("the records of {} are", many(lost.count(), "CPU")))
    } else {
        None
    }
}

/// Returns true if no other scenario of the run is missing, so that a finding based on one can be
/// computed.
fn has_other_scenarios(run: &LoggedRun) -> bool {
    run.integrity.records.is_none() || run.integrity.is_whole()
}
