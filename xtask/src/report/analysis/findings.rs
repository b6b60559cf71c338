//! The findings of a scenario: the payload's, and those that need more than a
//! board's integers.

use psci_bench::findings::{Detail, findings_of};
use psci_bench::model::{Finding, Kind, Scenario};

use super::points::{contention, dirty_flush, net_of_loop};
use super::{basis, outliers};
use crate::report::log::LoggedRun;

/// Returns the findings of a scenario.
///
/// The payload's kinds are computed again with more detail. A finding of the log
/// stays as it is if the log lacks a record that it rests on, so that the computed
/// one differs; a kind that the log does not have is computed.
pub fn findings(run: &LoggedRun, scenario: &Scenario) -> Vec<Finding> {
    let recorded = &scenario.findings;
    let computed = findings_of(&run.run, scenario, Detail::Full);
    let detailed = |it: &Finding| {
        let is_same =
            |own: &&Finding| own.kind == it.kind && own.sentence.starts_with(it.sentence.as_str());
        computed.iter().find(is_same).unwrap_or(it).clone()
    };
    let mut all: Vec<Finding> = recorded.iter().map(detailed).collect();
    let has = |kind| recorded.iter().any(|it| it.kind == kind);
    // The payload saw what the log does not contain.
    let is_needless = |kind| has(kind) || kind == Kind::NotTold && has(Kind::LastMan);
    let own = [outliers::outliers, net_of_loop, contention, dirty_flush];
    let own = own.iter().flat_map(|find| find(&run.run, scenario));
    let computed = computed.iter().filter(|it| !is_needless(it.kind)).cloned();
    all.extend(computed.chain(own).map(|it| with_doubts(run, scenario, it)));
    all
}

/// Adds a sentence on the rows that a finding rests on and that are not verified. In
/// a run without records none is.
fn with_doubts(run: &LoggedRun, scenario: &Scenario, mut finding: Finding) -> Finding {
    if run.integrity.records.is_some() {
        let rows = finding.cpus.iter().filter_map(|cpu| scenario.row(cpu));
        let doubtful = rows.filter(|row| run.is_doubtful(row));
        let labels = doubtful.map(|row| format!("CPU {}", run.run.label(row.cpu)));
        let text = basis::doubt_text(labels);
        finding.sentence.push_str(&text);
    }
    finding
}
