//! Lists differences other than those in the figures, and information that is missing on one side.

use itertools::Itertools as _;
use suite::measure::Unit;
use suite::model::{Evidence, Kind, Scenario};

use super::based_finding::BasedFinding;
use crate::analysis::compare::{
    Change, ComparedScenario, Difference, RowPairing, Sides, baseline_scenario, scenario_title,
};
use crate::analysis::conditions::{COMPARED, NOTED, differences};
use crate::log::LoggedRun;

/// Differences other than those in the figures.
pub(crate) const CONDITIONS: Kind = Kind::new("conditions");

fn has_records(run: &LoggedRun) -> bool {
    run.integrity.records.is_some()
}

fn unknown(sentence: impl Into<String>) -> BasedFinding {
    BasedFinding::new(Kind::NOT_TOLD, Evidence::Unknown, sentence.into())
}

/// Lists differences other than those in the figures, and information that is missing on one side.
pub(super) fn conditions(&Difference { sides, scenarios }: &Difference<'_>) -> Vec<BasedFinding> {
    let (new, old) = (sides.new, &sides.old);
    let mut all = Vec::new();
    if sides.row_pairing == RowPairing::Ambiguous {
        all.push(unknown(
            "Several rows have the same cluster and core, so their CPUs are unknown, and all \
             figures are compared in sorted order. Specify each row's CPU with --row-cpus \
             MPIDR,...",
        ));
    }
    let mut add = |evidence, sentence| {
        all.push(BasedFinding::new(CONDITIONS, evidence, sentence));
    };
    // No record contains the firmware version, so a digit may have been lost in transmission.
    let versions = new.firmware_version().zip(old.firmware_version());
    if let Some((now, then)) = versions.filter(|(now, then)| now != then) {
        let sentence = format!(
            "According to lines without a checksum, the firmware changed from {then} to {now}."
        );
        add(Evidence::Lines, sentence);
    }
    let each = differences(NOTED, [(new, None), (old, None)], false);
    let mut each = each.map(|difference| {
        let (name, [now, then]) = (difference.name, difference.values);
        format!("{name} changed from {then} to {now}")
    });
    let each = each.join("; ");
    if !each.is_empty() {
        let evidence = match has_records(new) && has_records(old) {
            true => Evidence::Counts,
            false => Evidence::Lines,
        };
        add(evidence, format!("Other differences: {each}."));
    }
    for key in scenarios.iter().map(|scenario| scenario.key) {
        let pair = [
            (new, new.run.scenario(key)),
            (old, baseline_scenario(&old.run, key)),
        ];
        for difference in differences(COMPARED, pair, false) {
            let (name, [now, then]) = (difference.name, difference.values);
            let title = scenario_title(sides.runs(), key);
            let sentence = format!(
                "{title}: {name} changed from {then} to {now}. This difference is ignored as \
                 requested, but it may explain changes."
            );
            add(Evidence::Counts, sentence);
        }
    }
    let silent = match (has_records(new), has_records(old)) {
        (true, true) => return all,
        (false, true) => "the run",
        (true, false) => "the baseline",
        (false, false) => "the run and the baseline",
    };
    all.push(unknown(format!(
        "Only figures are available for {silent}: power_state, wake-up pattern, and the number and \
         spread of the samples are unknown, so changes are not compared with the noise."
    )));
    all
}

/// If both sides have records, lists the figures that were not compared with the noise, and the
/// scenarios in which only one round was compared.
pub(super) fn unweighed(&Difference { sides, scenarios }: &Difference<'_>) -> Vec<BasedFinding> {
    if !has_records(sides.new) || !has_records(&sides.old) {
        return Vec::new();
    }
    let mut bare = scenarios.iter().filter_map(|scenario| {
        // A firmware event count is a single number on each side, without noise.
        let is_time = |change: &&Change| matches!(change.key.unit(), Unit::Ticks | Unit::Cycles);
        let times = scenario.changes().iter().filter(is_time);
        let bare = times
            .clone()
            .filter(|change| !change.has_intervals())
            .count();
        (bare > 0).then(|| format!("{bare} of {} in {}", times.count(), scenario.key.id.tag()))
    });
    let bare = bare.join(", ");
    let bare = (!bare.is_empty()).then(|| {
        unknown(format!(
            "Figures not compared with the noise, because one side does not show the spread of \
             their samples: {bare}."
        ))
    });
    let by_round = scenarios
        .iter()
        .filter(|scenario| is_by_round(sides, scenario));
    let tags = by_round
        .map(|scenario| scenario.key.id.tag())
        .dedup()
        .join(", ");
    let by_round = (!tags.is_empty()).then(|| {
        unknown(format!(
            "In {tags}, only one round is compared on each side, and a change counts as noise if \
             the CPUs' medians may be the same, regardless of their places in the queue. To see \
             the spread at each position, use samples=all on both sides."
        ))
    });
    bare.into_iter().chain(by_round).collect()
}

/// Returns true for a parallel scenario if one side lacks its samples.
fn is_by_round(sides: &Sides<'_>, scenario: &ComparedScenario) -> bool {
    let key = scenario.key;
    let (new, old) = sides.runs();
    let is_whole = |scenario: Option<&Scenario>| {
        let cells = scenario.map_or(&[][..], Scenario::suite_cells);
        !cells.is_empty() && cells.iter().all(|cell| !cell.samples.is_empty())
    };
    let is_judged = scenario.changes().iter().any(Change::has_intervals);
    let are_whole = is_whole(new.scenario(key)) && is_whole(baseline_scenario(old, key));
    key.id.is_parallel() && is_judged && !are_whole
}
