//! The findings of a scenario: the payload's, and those that need more than a
//! board's integers.

use psci_bench::findings::{Detail, findings_of};
use psci_bench::model::{Finding, Kind, Scenario};

use super::points::{contention, dirty_flush, net_of_loop};
use super::words::{NOT_VERIFIED, RECORDS_LOST};
use crate::report::log::LoggedRun;

/// Returns the findings of a scenario.
///
/// The payload's kinds are computed again with more detail, and a kind that the log does
/// not have is computed. Not so if records are lost on which they may rest.
pub fn findings(run: &LoggedRun, scenario: &Scenario) -> Vec<Finding> {
    let recorded = &scenario.findings;
    let is_whole = run.integrity.records.is_none() || run.integrity.is_whole();
    let computed = match is_whole {
        true => findings_of(&run.run, scenario, Detail::Full),
        false => Vec::new(),
    };
    let detailed = |it: &Finding| {
        let is_same =
            |own: &&Finding| own.kind == it.kind && own.sentence.starts_with(it.sentence.as_str());
        computed.iter().find(is_same).unwrap_or(it).clone()
    };
    let mut all: Vec<Finding> = recorded.iter().map(detailed).collect();
    let has = |kind| recorded.iter().any(|it| it.kind == kind);
    // The payload saw what the log does not contain.
    let is_needless = |kind| has(kind) || kind == Kind::NotTold && has(Kind::LastMan);
    let own = [net_of_loop, contention, dirty_flush];
    let own = own.iter().flat_map(|find| find(&run.run, scenario));
    let computed = computed.iter().filter(|it| !is_needless(it.kind)).cloned();
    all.extend(computed.chain(own).map(|it| with_doubts(run, scenario, it)));
    all
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
