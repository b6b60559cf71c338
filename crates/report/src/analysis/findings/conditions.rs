//! Lists differences other than those in the figures, and information that is missing on one side.

use itertools::Itertools as _;
use suite::model::{Evidence, FindingKind, Scenario, ScenarioKey};

use super::based_finding::BasedFinding;
use crate::analysis::compare::{
    Change, ComparedScenario, Difference, RowPairing, Sides, baseline_scenario, scenario_title,
};
use crate::analysis::conditions::{COMPARED, NOTED, differences};
use crate::log::LoggedRun;

/// Differences other than those in the figures.
pub(crate) const CONDITIONS: FindingKind = FindingKind::new("conditions");

fn has_records(logged: &LoggedRun) -> bool {
    logged.integrity.records.is_some()
}

/// Returns a finding that says that something is unknown.
fn unknown(sentence: impl Into<String>) -> BasedFinding {
    BasedFinding::new(FindingKind::NOT_TOLD, Evidence::Unknown, sentence.into())
}

/// Lists differences other than those in the figures, and information that is missing on one side.
pub(super) fn conditions(&Difference { sides, scenarios }: &Difference<'_>) -> Vec<BasedFinding> {
    let new = sides.new;
    let old = &sides.old;
    let mut findings = Vec::new();
    if sides.row_pairing == RowPairing::Ambiguous {
        findings.push(unknown(
            "Several rows have the same cluster and core, so their CPUs are unknown, and all \
             figures are compared in sorted order. Specify each row's CPU with --row-cpus \
             MPIDR,...",
        ));
    }
    let mut add = |evidence, sentence| {
        findings.push(BasedFinding::new(CONDITIONS, evidence, sentence));
    };
    // No record contains the firmware version, so a digit may have been lost in transmission.
    let versions = new.firmware_version().zip(old.firmware_version());
    if let Some((now, then)) =
        versions.filter(|(new_version, old_version)| new_version != old_version)
    {
        let sentence = format!(
            "According to lines without a checksum, the firmware changed from {then} to {now}."
        );
        add(Evidence::Lines, sentence);
    }
    let others = differences(NOTED, [(new, None), (old, None)], false)
        .map(|difference| {
            let [now, then] = difference.values;
            format!("{} changed from {then} to {now}", difference.name)
        })
        .join("; ");
    if !others.is_empty() {
        let evidence = if has_records(new) && has_records(old) {
            Evidence::Counts
        } else {
            Evidence::Lines
        };
        add(evidence, format!("Other differences: {others}."));
    }
    for scenario in scenarios {
        for sentence in ignored_differences(sides, scenario.key) {
            add(Evidence::Counts, sentence);
        }
    }
    let silent = match (has_records(new), has_records(old)) {
        (true, true) => return findings,
        (false, true) => "the run",
        (true, false) => "the baseline",
        (false, false) => "the run and the baseline",
    };
    findings.push(unknown(format!(
        "Only figures are available for {silent}: power_state, wake-up pattern, and the number and \
         spread of the samples are unknown, so changes are not compared with the noise."
    )));
    findings
}

/// Returns a sentence for each condition of a scenario that differs and that is ignored.
fn ignored_differences(sides: &Sides<'_>, key: ScenarioKey) -> Vec<String> {
    let title = scenario_title(sides.runs(), key);
    let both = [
        (sides.new, sides.new.run.scenario(key)),
        (&sides.old, baseline_scenario(&sides.old.run, key)),
    ];
    differences(COMPARED, both, false)
        .map(|difference| {
            let name = difference.name;
            let [now, then] = difference.values;
            format!(
                "{title}: {name} changed from {then} to {now}. This difference is ignored as \
                 requested, but it may explain changes."
            )
        })
        .collect()
}

/// If both sides have records, lists the figures that were not compared with the noise, and the
/// scenarios in which only one round was compared.
pub(super) fn unweighed(&Difference { sides, scenarios }: &Difference<'_>) -> Vec<BasedFinding> {
    if !has_records(sides.new) || !has_records(&sides.old) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let bare = scenarios.iter().filter_map(without_intervals).join(", ");
    if !bare.is_empty() {
        findings.push(unknown(format!(
            "Figures not compared with the noise, because one side does not show the spread of \
             their samples: {bare}."
        )));
    }
    let tags = scenarios
        .iter()
        .filter(|scenario| is_by_round(sides, scenario))
        .map(|scenario| scenario.key.id.tag())
        .dedup()
        .join(", ");
    if !tags.is_empty() {
        findings.push(unknown(format!(
            "In {tags}, only one round is compared on each side, and a change counts as noise if \
             the CPUs' medians may be the same, regardless of their places in the queue. To see \
             the spread at each position, use samples=all on both sides."
        )));
    }
    findings
}

/// Returns a phrase with the number of a scenario's times that lack an interval on one side; None
/// if there are none.
fn without_intervals(scenario: &ComparedScenario) -> Option<String> {
    // A firmware event count is a single number on each side, without noise.
    let is_time = |change: &&Change| change.key.is_time();
    let times = scenario.changes().iter().filter(is_time);
    let total = times.clone().count();
    let bare = times.filter(|change| !change.has_intervals()).count();
    (bare > 0).then(|| format!("{bare} of {total} in {}", scenario.key.id.tag()))
}

/// Returns true for a parallel scenario if one side lacks its samples.
fn is_by_round(sides: &Sides<'_>, scenario: &ComparedScenario) -> bool {
    let key = scenario.key;
    let (new, old) = sides.runs();
    let has_all_samples = |scenario: Option<&Scenario>| {
        let cells = scenario.map_or(&[][..], Scenario::suite_cells);
        !cells.is_empty() && cells.iter().all(|cell| !cell.samples.is_empty())
    };
    let is_judged = scenario.changes().iter().any(Change::has_intervals);
    let both_have_samples =
        has_all_samples(new.scenario(key)) && has_all_samples(baseline_scenario(old, key));
    key.id.is_parallel() && is_judged && !both_have_samples
}
