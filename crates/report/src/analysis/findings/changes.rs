//! Turns changes into findings.

use hardware::text::plural::many;
use itertools::Itertools as _;
use suite::measure::Metric;
use suite::model::FindingKind;

use super::based_finding::BasedFinding;
use crate::analysis::compare::{
    CHANGED, Change, ChangeOutcome, ComparedScenario, Difference, Sides, scenario_title,
};
use crate::analysis::value_text::{durations_text, range_text};
use crate::log::grouped::grouped;

/// Figures that merely moved to different CPUs.
pub(crate) const REORDERED: FindingKind = FindingKind::new("reordered");
/// Figures that did not change.
pub const UNCHANGED: FindingKind = FindingKind::new("unchanged");

/// The maximum number of CPUs, positions or points that a sentence lists. The tables list all of
/// them.
const NAMED_MAX: usize = 16;

/// Returns the findings on the figures of each scenario.
pub(super) fn changes(&Difference { sides, scenarios }: &Difference<'_>) -> Vec<BasedFinding> {
    let mut findings = Vec::new();
    for compared in scenarios {
        let scenario = OneScenario { sides, compared };
        findings.extend(scenario.reordered());
        findings.extend(scenario.changed());
        findings.extend(scenario.unchanged());
    }
    findings
}

/// A scenario, as described by the findings.
struct OneScenario<'s> {
    sides: &'s Sides<'s>,
    compared: &'s ComparedScenario,
}

impl<'s> OneScenario<'s> {
    /// Returns a finding based on `changes`; None if that list is empty.
    fn finding(&self, kind: FindingKind, text: &str, changes: &[&Change]) -> Option<BasedFinding> {
        let key = self.compared.key;
        let sentence = format!("{}: {text}", scenario_title(self.sides.runs(), key));
        (!changes.is_empty()).then(|| BasedFinding::of_changes(kind, sentence, key, changes))
    }

    /// Returns the changes that count, grouped by figure name.
    fn by_heading(&self) -> Vec<(&'static str, Vec<&'s Change>)> {
        let changes = self.compared.changes().iter();
        grouped(changes.map(|change| (change.key.heading(), change)))
    }

    /// Describes Powerdown figures that merely moved to different CPUs, because the lock was taken
    /// in a different order.
    fn reordered(&self) -> Option<BasedFinding> {
        let is_powerdown = |change: &&Change| change.key.suite_metric() == Some(Metric::Powerdown);
        let by_order: Vec<&Change> = self.compared.by_order.iter().filter(is_powerdown).collect();
        let by_cpu: Vec<&Change> = self.compared.by_cpu.iter().filter(is_powerdown).collect();
        let (new, old) = self.sides.runs();
        let has_moved = by_order
            .iter()
            .any(|change| matches!(change.outcome, ChangeOutcome::Better | ChangeOutcome::Worse));
        let is_still = by_cpu.iter().all(|change| change.outcome.is_still());
        let is_same_order = by_order
            .iter()
            .all(|change| new.label(change.cpu) == old.label(change.old_cpu));
        if has_moved || is_still || is_same_order {
            return None;
        }
        let still = with(&by_order, ChangeOutcome::is_still);
        let sentence = format!(
            "Compared by order of arrival, Powerdown is unchanged ({} of {} within {:.2} %). \
             Compared by CPU, it seems to change by {}, because the CPUs took the lock in a \
             different order.",
            still.len(),
            many(by_order.len(), "position"),
            greatest(&still),
            shares(&by_cpu)
        );
        self.finding(REORDERED, &sentence, &by_order)
    }

    /// Describes the changes, with one finding for each figure and direction.
    fn changed(&self) -> Vec<BasedFinding> {
        self.by_heading()
            .into_iter()
            .cartesian_product([ChangeOutcome::Worse, ChangeOutcome::Better])
            .filter_map(|((heading, changes), direction)| self.moved(heading, &changes, direction))
            .collect()
    }

    /// Describes the changes in one figure that have the given direction.
    fn moved(
        &self,
        heading: &str,
        changes: &[&'s Change],
        direction: ChangeOutcome,
    ) -> Option<BasedFinding> {
        let moved = with(changes, |outcome| outcome == direction);
        let (what, by) = if moved.first()?.key.is_of_step() {
            ("cell", String::new())
        } else {
            let deltas = moved.iter().map(|change| change.delta().abs());
            let durations = durations_text(&self.sides.new.run, deltas);
            ("row", format!(", by {durations}"))
        };
        let word = if direction == ChangeOutcome::Worse {
            "longer"
        } else {
            "less time"
        };
        let count = moved.len();
        let total = many(changes.len(), what);
        let shares = shares(&moved);
        let names = self.names(&moved, changes);
        let text = format!("{heading} takes {word} in {count} of {total}{by} ({shares}){names}.");
        self.finding(CHANGED, &text, &moved)
    }

    /// Lists the CPUs, positions or points that changed, unless all of them changed or the list
    /// would be too long.
    fn names(&self, changes: &[&Change], all: &[&Change]) -> String {
        let names: Vec<String> = changes
            .iter()
            .map(|change| match change.rank {
                _ if change.key.is_of_step() => change.key.name(),
                Some(rank) => format!("position {}", rank + 1),
                None => format!("CPU {}", self.sides.new.run.label(change.cpu)),
            })
            .unique()
            .collect();
        let have_all_changed = changes.len() == all.len() && names.len() > 1;
        if have_all_changed || names.len() > NAMED_MAX {
            String::new()
        } else {
            format!(": {}", names.join(", "))
        }
    }

    /// Lists the figures that did not change.
    fn unchanged(&self) -> Option<BasedFinding> {
        let (headings, changes): (Vec<&str>, Vec<Vec<&Change>>) = self
            .by_heading()
            .into_iter()
            .filter(|(_, changes)| changes.iter().all(|change| change.outcome.is_still()))
            .unzip();
        let still = changes.concat();
        let noise = match with(&still, |outcome| outcome == ChangeOutcome::Noise).len() {
            0 => String::new(),
            count => format!(", {} within noise or one tick", many(count, "figure")),
        };
        let headings = headings.join(", ");
        let greatest = greatest(&still);
        let text = format!("{headings} unchanged (within {greatest:.2} %{noise}).");
        self.finding(UNCHANGED, &text, &still)
    }
}

/// Returns the changes whose outcome satisfies `is_wanted`.
fn with<'c>(changes: &[&'c Change], is_wanted: impl Fn(ChangeOutcome) -> bool) -> Vec<&'c Change> {
    let wanted = changes.iter().filter(|change| is_wanted(change.outcome));
    wanted.copied().collect()
}

/// Returns the range of the changes in percent, or words that say that the old figures are zero.
fn shares(changes: &[&Change]) -> String {
    let percents = changes.iter().filter_map(|change| change.percent());
    match range_text(percents, |percent| format!("{percent:+.2} %")) {
        text if text.is_empty() => "from zero".to_owned(),
        text => text,
    }
}

/// Returns the largest change in either direction, in percent.
fn greatest(changes: &[&Change]) -> f64 {
    changes
        .iter()
        .filter_map(|change| change.percent())
        .map(f64::abs)
        .fold(0.0, f64::max)
}
