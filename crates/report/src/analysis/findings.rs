//! The findings of a scenario: the payload's, and those that need more than a
//! board's integers.

use run::findings::{Detail, findings_of};
use run::model::{Finding, Scenario};

use super::points::{contention, dirty_flush, net_of_loop};
use super::words::{NOT_VERIFIED, RECORDS_LOST};
use crate::log::LoggedRun;

/// Returns the findings of a scenario: the payload's with more detail, or as far as they can
/// be made anew where records are lost.
pub fn findings(run: &LoggedRun, scenario: &Scenario) -> Vec<Finding> {
    let mut all = match run.integrity.records.is_none() || run.integrity.is_whole() {
        true => findings_of(&run.run, scenario, Detail::Full),
        false => scenario.findings.clone(),
    };
    let own = [net_of_loop, contention, dirty_flush];
    all.extend(own.iter().flat_map(|find| find(&run.run, scenario)));
    let all = all.into_iter();
    all.map(|it| with_doubts(run, scenario, it)).collect()
}

/// Adds a sentence if a finding rests on rows that are not verified, or on what is left of
/// the records.
fn with_doubts(run: &LoggedRun, scenario: &Scenario, mut finding: Finding) -> Finding {
    let is_doubtful = |cpu| scenario.row(cpu).is_some_and(|row| run.is_doubtful(row));
    if finding.cpus.iter().any(is_doubtful) {
        finding.sentence += NOT_VERIFIED;
    } else if run.integrity.records.is_some() && !run.integrity.is_whole() {
        finding.sentence += RECORDS_LOST;
    }
    finding
}
