//! Differences other than those between figures, and facts that one side lacks.

use itertools::Itertools as _;
use run::measure::Unit;
use run::model::{Evidence, Kind, Scenario};

use super::change::Change;
use super::comparison::{ComparedScenario, baseline_scenario, scenario_title};
use super::finding::ComparisonFinding;
use super::sides::{Keyed, Sides};
use crate::analysis::conditions::{COMPARED, NOTED, differences};
use crate::log::LoggedRun;

/// Differences other than those between figures.
pub(super) const CONDITIONS: Kind = Kind::new("conditions");

fn has_records(run: &LoggedRun) -> bool {
    run.integrity.records.is_some()
}

fn unknown(sentence: impl Into<String>) -> ComparisonFinding {
    ComparisonFinding::new(Kind::NOT_TOLD, Evidence::Unknown, sentence.into())
}

/// Lists the differences other than those between figures, and the facts that one side lacks.
pub(super) fn conditions(
    sides: &Sides<'_>,
    scenarios: &[ComparedScenario],
) -> Vec<ComparisonFinding> {
    let (new, old) = (sides.new, &sides.old);
    let mut all = Vec::new();
    if sides.keyed == Keyed::Ambiguous {
        all.push(unknown(
            "Which row is which CPU cannot be told, as several have the same cluster and core: \
             all is compared sorted. --row-cpus MPIDR,... names them in their order.",
        ));
    }
    let mut add = |evidence, sentence| {
        all.push(ComparisonFinding::new(CONDITIONS, evidence, sentence));
    };
    // Records do not contain the firmware's version, so it may have lost a digit in transmission.
    let versions = new.firmware_version().zip(old.firmware_version());
    if let Some((now, then)) = versions.filter(|(now, then)| now != then) {
        let sentence = format!(
            "By its own lines, which have no checksum, the firmware is {now}, and was {then}."
        );
        add(Evidence::Lines, sentence);
    }
    let each = differences(NOTED, [(new, None), (old, None)], false);
    let mut each = each.map(|(it, [now, then])| format!("{} is {now}, and was {then}", it.name));
    let each = each.join("; ");
    if !each.is_empty() {
        let evidence = match has_records(new) && has_records(old) {
            true => Evidence::Counts,
            false => Evidence::Lines,
        };
        add(evidence, format!("Besides figures: {each}."));
    }
    for key in scenarios.iter().map(|it| it.key) {
        let pair = [
            (new, new.run.scenario(key)),
            (old, baseline_scenario(&old.run, key)),
        ];
        for (it, [now, then]) in differences(COMPARED, pair, false) {
            let (title, name) = (scenario_title(sides.runs(), key), it.name);
            let sentence = format!(
                "{title}: {name} is {now}, and was {then}, which is passed over as was asked for: \
                 it may have made a change."
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
        "Of {silent} there are figures alone: power_state, wake-up pattern, the count of samples \
         and how they spread cannot be told, so that no change is weighed against noise."
    )));
    all
}

/// If both sides have records: lists the figures that were compared without noise, and those
/// compared using the noise of their CPUs.
pub(super) fn unweighed(
    sides: &Sides<'_>,
    scenarios: &[ComparedScenario],
) -> Vec<ComparisonFinding> {
    if !has_records(sides.new) || !has_records(&sides.old) {
        return Vec::new();
    }
    let mut bare = scenarios.iter().filter_map(|it| {
        // An event count of the firmware is one number on each side and has no noise.
        let is_time = |it: &&Change| matches!(it.key.unit(), Unit::Ticks | Unit::Cycles);
        let times = it.changes().iter().filter(is_time);
        let bare = times.clone().filter(|it| !it.has_intervals()).count();
        (bare > 0).then(|| format!("{bare} of {} in {}", times.count(), it.key.id.tag()))
    });
    let bare = bare.join(", ");
    let bare = (!bare.is_empty()).then(|| {
        unknown(format!(
            "Figures that were weighed against no noise, as one side does not tell how their \
             samples spread: {bare}."
        ))
    });
    let by_round = scenarios.iter().filter(|it| is_by_round(sides, it));
    let tags = by_round.map(|it| it.key.id.tag()).dedup().join(", ");
    let by_round = (!tags.is_empty()).then(|| {
        unknown(format!(
            "In {tags} one round of each side is compared, and a change is noise where the \
             medians of these CPUs may be the same, wherever they came in the queue: samples=all \
             on both sides tells how each place spreads."
        ))
    });
    bare.into_iter().chain(by_round).collect()
}

/// Returns true for a parallel scenario if one side lacks its samples.
fn is_by_round(sides: &Sides<'_>, scenario: &ComparedScenario) -> bool {
    let key = scenario.key;
    let (new, old) = sides.runs();
    let is_whole = |it: Option<&Scenario>| {
        let cells = it.map_or(&[][..], Scenario::suite_cells);
        !cells.is_empty() && cells.iter().all(|cell| !cell.samples.is_empty())
    };
    let is_judged = scenario.changes().iter().any(Change::has_intervals);
    let are_whole = is_whole(new.scenario(key)) && is_whole(baseline_scenario(old, key));
    key.id.is_parallel() && is_judged && !are_whole
}
