//! A scenario's findings: those that the payload also reports, and those that need more than
//! integer arithmetic.

use hardware::text::plural::many;
use suite::findings::{Verbosity, findings_of};
use suite::model::{Evidence, Finding, Kind, Scenario};

use super::cold_calls::cold_calls;
use super::step_findings::{contention, dirty_flush, net_of_loop};
use super::words::NOT_VERIFIED;
use crate::log::LoggedRun;

/// Computes a scenario's findings from its figures: the payload's findings in more detail, and
/// those that only a report contains. If a record is missing, returns only a sentence that says so.
pub fn findings(run: &LoggedRun, scenario: &Scenario) -> Vec<Finding> {
    if let Some(what) = lost_records(run, scenario) {
        return vec![not_told(format!("No findings: {what} lost."))];
    }
    let mut all = findings_of(&run.run, scenario, Verbosity::Full);
    let net = net_of_loop(&run.run, scenario);
    if has_other_scenarios(run) {
        all.extend(net);
    } else if !net.is_empty() {
        let what = "Net of the loop: unknown, because some of the run's records were lost.";
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

/// Lists the lost records that the findings depend on, as a subject and verb: `2 records of X are`.
/// Returns None if no such records were lost, or if the log does not contain any records.
fn lost_records(run: &LoggedRun, scenario: &Scenario) -> Option<String> {
    run.integrity.records.as_ref()?;
    if let Some(what) = run.lost_of(scenario) {
        return Some(what);
    }
    let is_named = |cpu: &suite::model::Cpu| cpu.mpidr.is_some();
    if run.run.facts.is_none() {
        Some("the machine record is".to_owned())
    } else if !run.run.cpus.iter().all(is_named) {
        let lost = run.run.cpus.iter().filter(|cpu| !is_named(cpu));
        Some(format!("the records of {} are", many(lost.count(), "CPU")))
    } else {
        None
    }
}

/// Returns true if all of the run's other scenarios are present, so that findings can be based on
/// them.
fn has_other_scenarios(run: &LoggedRun) -> bool {
    run.integrity.records.is_none() || run.integrity.is_whole()
}
