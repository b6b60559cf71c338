//! Differences besides figures, and facts that one side lacks.

use itertools::Itertools as _;
use psci_bench::model::{Confidence, Kind, Scenario};

use super::change::Change;
use super::comparison::{ComparedScenario, baseline_scenario};
use super::sentences::{bases, title};
use super::sides::{Keyed, Sides};
use crate::report::analysis::basis::ComparisonFinding;
use crate::report::analysis::conditions::{Across, NOTED, Side, differences};
use crate::report::log::LoggedRun;

fn finding(kind: Kind, confidence: Confidence, sentence: impl Into<String>) -> ComparisonFinding {
    ComparisonFinding::new(kind, confidence, sentence.into(), Vec::new())
}

fn has_records(run: &LoggedRun) -> bool {
    run.integrity.records.is_some()
}

/// Names the differences besides figures, and the facts that one side lacks.
pub(super) fn conditions(
    sides: &Sides<'_>,
    scenarios: &[ComparedScenario],
    across: &[Across],
) -> Vec<ComparisonFinding> {
    let (new, old) = (sides.new, &sides.old);
    let mut all = Vec::new();
    if sides.keyed == Keyed::Ambiguous {
        all.push(finding(
            Kind::NotTold,
            Confidence::Unknown,
            "Which row is which CPU can not be told, as several have the same cluster and core: \
             all is compared sorted. --rows-are MPIDR,... names them in their order.",
        ));
    }
    // No record has the firmware: a digit may have been lost on the way.
    let versions = new.firmware_version().zip(old.firmware_version());
    if let Some((now, then)) = versions.filter(|(now, then)| now != then) {
        let sentence = format!(
            "By its own lines, which have no checksum, the firmware is {now}, and was {then}."
        );
        all.push(finding(Kind::Conditions, Confidence::Lines, sentence));
    }
    let each = differences(NOTED, Side::of_runs([new, old]), false);
    let each = each.map(|(it, [now, then])| format!("{} is {now}, and was {then}", it.name()));
    let each = { each }.join("; ");
    if !each.is_empty() {
        let confidence = match has_records(new) && has_records(old) {
            true => Confidence::Counts,
            false => Confidence::Lines,
        };
        all.push(finding(
            Kind::Conditions,
            confidence,
            format!("Besides figures: {each}."),
        ));
    }
    for scenario in scenarios {
        let was = baseline_scenario(&old.run, scenario.key).map(|it| it.method);
        if let Some(was) = was.filter(|was| *was != scenario.key.method) {
            let (title, is) = (title(sides, scenario), scenario.key.method.word());
            let sentence = format!(
                "{title}: method {is} is compared with {}, as was asked for: a change may be the \
                 method's.",
                was.word()
            );
            all.push(finding(Kind::Conditions, Confidence::Counts, sentence));
        }
    }
    if across.contains(&Across::Boards) && new.board() != old.board() {
        let sentence =
            "Two boards are compared, as was asked for: no change is the firmware's alone.";
        all.push(finding(Kind::Conditions, Confidence::Counts, sentence));
    }
    all.extend(figures_alone(new, old));
    all
}

/// Names the sides that have no records.
fn figures_alone(new: &LoggedRun, old: &LoggedRun) -> Option<ComparisonFinding> {
    let silent = match (has_records(new), has_records(old)) {
        (true, true) => return None,
        (false, true) => "the run",
        (true, false) => "the baseline",
        (false, false) => "the run and the baseline",
    };
    let sentence = format!(
        "Of {silent} there are figures alone: power_state, wake-up pattern, the count of samples \
         and how they spread can not be told, so that no change is weighed against noise."
    );
    Some(finding(Kind::NotTold, Confidence::Unknown, sentence))
}

/// Names the figures that were weighed against no noise, and those weighed against
/// that of their CPUs, if both sides have records.
pub(super) fn unweighed(
    sides: &Sides<'_>,
    scenarios: &[ComparedScenario],
) -> Vec<ComparisonFinding> {
    if !has_records(sides.new) || !has_records(&sides.old) {
        return Vec::new();
    }
    let mut all = Vec::new();
    let (mut basis, mut counts) = (Vec::new(), Vec::new());
    for scenario in scenarios {
        let rows = scenario.changes().iter().filter(|it| !it.key.is_point());
        let bare: Vec<&Change> = rows.clone().filter(|it| !it.has_intervals()).collect();
        if !bare.is_empty() {
            let (of, tag) = (rows.count(), scenario.key.id.tag());
            counts.push(format!("{} of {of} in {tag}", bare.len()));
            basis.extend(bases(scenario, &bare));
        }
    }
    if !counts.is_empty() {
        let sentence = format!(
            "Figures that were weighed against no noise, as one side does not tell how their \
             samples spread: {}.",
            counts.join(", ")
        );
        let (kind, confidence) = (Kind::NotTold, Confidence::Unknown);
        all.push(ComparisonFinding::new(kind, confidence, sentence, basis));
    }
    let by_round = scenarios.iter().filter(|it| is_by_round(sides, it));
    let tags = by_round.map(|it| it.key.id.tag()).dedup().join(", ");
    if !tags.is_empty() {
        let sentence = format!(
            "In {tags} one round of each side is compared, and a change is noise where the \
             medians of these CPUs may be the same, wherever they came in the queue: samples=all \
             on both sides tells how each place spreads."
        );
        all.push(finding(Kind::NotTold, Confidence::Unknown, sentence));
    }
    all
}

/// Returns true for a parallel scenario of which one side lacks the samples.
fn is_by_round(sides: &Sides<'_>, scenario: &ComparedScenario) -> bool {
    let key = scenario.key;
    let (new, old) = sides.runs();
    let is_whole = |it: Option<&Scenario>| {
        let rows = it.map_or(&[][..], |it| &it.rows);
        !rows.is_empty() && rows.iter().all(|row| !row.samples.is_empty())
    };
    let is_judged = scenario.changes().iter().any(Change::has_intervals);
    let are_whole = is_whole(new.scenario(key)) && is_whole(baseline_scenario(old, key));
    key.id.is_parallel() && is_judged && !are_whole
}
