//! Changes of points -> findings.

use psci_bench::model::Unit;

use super::change::{Outcome, PointChange};
use super::comparison::ComparedTest;
use super::sentences::name;
use super::sides::Judge;
use crate::report::analysis::explain::{Confidence, Finding, Kind};
use crate::setup::plural::many;

/// What moved in a scenario, by variant and figure; or that nothing did.
pub(super) fn findings(judge: &Judge<'_>, test: &ComparedTest) -> Vec<Finding> {
    let mut all = Vec::new();
    let count = |outcome| {
        test.points
            .iter()
            .filter(|it| it.outcome == outcome)
            .count()
    };
    let say = |kind, sentence| Finding {
        kind,
        sentence,
        basis: Vec::new(),
        confidence: Confidence::Intervals,
    };
    let is_bare = |it: &&PointChange| it.new.interval.is_none() || it.old.interval.is_none();
    for (outcome, word) in [(Outcome::Worse, "more"), (Outcome::Better, "less")] {
        let own = |it: &&PointChange| it.outcome == outcome;
        let moved: Vec<&PointChange> = test.points.iter().filter(own).collect();
        if moved.is_empty() {
            continue;
        }
        let mut kinds: Vec<String> = Vec::new();
        for it in &moved {
            let kind = it.point.key();
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let more = kinds.len().saturating_sub(SHOWN);
        kinds.truncate(SHOWN);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        let far = moved.iter().filter_map(|it| it.percent());
        let far = far.max_by(|a, b| a.abs().total_cmp(&b.abs()));
        let far = far.map_or(String::new(), |it| format!(", by up to {it:+.2} %"));
        let bare = moved.iter().any(is_bare);
        let mut finding = say(
            Kind::Changed,
            format!(
                "{}: {} of {} take {word}{far}: {}{more}.",
                name(judge, test),
                moved.len(),
                many(test.points.len(), "point"),
                kinds.join(", ")
            ),
        );
        if bare {
            finding.confidence = Confidence::Figures;
        }
        all.push(finding);
    }
    if all.is_empty() && !test.points.is_empty() {
        let noise = match count(Outcome::Noise) {
            0 => String::new(),
            noise => format!(", {} by no more than noise or a tick", many(noise, "point")),
        };
        all.push(say(
            Kind::Unchanged,
            format!(
                "{}: {} unchanged{noise}.",
                name(judge, test),
                many(test.points.len(), "point")
            ),
        ));
    }
    // What the firmware counts is one number on each side, and has no noise.
    let is_time = |it: &&PointChange| matches!(it.point.unit(), Unit::Ticks | Unit::Cycles);
    let bare = test.points.iter().filter(is_time).filter(is_bare).count();
    if bare > 0 {
        let mut finding = say(
            Kind::NotTold,
            format!(
                "{}: {bare} of {} were weighed against no noise, as one side has a single sample \
                 of each.",
                name(judge, test),
                many(test.points.len(), "point")
            ),
        );
        finding.confidence = Confidence::Unknown;
        all.push(finding);
    }
    let (new, old) = test.lone_points;
    if new + old > 0 && !test.points.is_empty() {
        all.push(say(
            Kind::NotTold,
            format!(
                "{}: {} of the run and {} of the baseline are of what the other side did not \
                 measure.",
                name(judge, test),
                many(new, "point"),
                many(old, "point")
            ),
        ));
    }
    all
}

/// The most circumstances that are named.
const SHOWN: usize = 6;
