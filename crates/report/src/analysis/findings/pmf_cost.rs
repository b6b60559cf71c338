//! What PMF adds to the times that the caller measures.

use suite::model::FindingKind;

use super::based_finding::BasedFinding;
use crate::analysis::compare::{Change, ComparedScenario, Difference, Sides, scenario_title};
use crate::analysis::value_text::{durations_text, range_text};
use crate::log::grouped::grouped;

/// What PMF adds to a figure.
pub(crate) const PMF_COST: FindingKind = FindingKind::new("pmf-cost");
/// The number of timestamps that PSCI_VERSION records: ENTER_PSCI and EXIT_PSCI.
const STAMPS: f64 = 2.0;

/// Returns a finding for each figure of each scenario.
pub(super) fn pmf_costs(&Difference { sides, scenarios }: &Difference<'_>) -> Vec<BasedFinding> {
    let mut findings = Vec::new();
    for scenario in scenarios {
        let title = scenario_title(sides.runs(), scenario.key);
        let changes = scenario.changes().iter();
        let by_name = grouped(changes.map(|change| (change.key.in_sentence(), change)));
        for (name, changes) in by_name {
            let (times, per_stamp) = cost(sides, scenario, &changes);
            let is_noise = changes.iter().all(|change| change.outcome.is_still());
            let noise = if is_noise {
                "; within the tolerance or the noise"
            } else {
                ""
            };
            let sentence = format!("{title}: PMF adds {times} to {name}{per_stamp}{noise}.");
            let finding = BasedFinding::of_changes(PMF_COST, sentence, scenario.key, &changes);
            findings.push(finding);
        }
    }
    findings
}

/// Returns the range of differences between the CPUs' times, with and without PMF, and the share of
/// each timestamp if only timestamps differ.
fn cost(sides: &Sides<'_>, scenario: &ComparedScenario, changes: &[&Change]) -> (String, String) {
    let run = &sides.new.run;
    let differences = || changes.iter().map(|change| change.delta());
    let times = durations_text(run, differences());
    let percents = changes.iter().filter_map(|change| change.percent());
    let share = match range_text(percents, |percent| format!("{percent:+.1} %")) {
        text if text.is_empty() => text,
        text => format!(" ({text})"),
    };
    let is_simple_call = scenario.key.id.is_suite() && !scenario.key.id.is_suspend();
    let per_stamp = if is_simple_call {
        let halves = durations_text(run, differences().map(|time| time / STAMPS));
        format!(": {halves} for each of its two timestamps")
    } else {
        String::new()
    };
    (times + &share, per_stamp)
}
