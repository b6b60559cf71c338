//! Turns changes into findings.

use hardware::text::plural::many;
use itertools::Itertools as _;
use suite::measure::Metric;
use suite::model::Kind;

use super::based_finding::BasedFinding;
use crate::analysis::compare::{
    CHANGED, Change, ChangeOutcome, ComparedScenario, Difference, Sides, scenario_title,
};
use crate::analysis::words::{durations_text, range_text};
use crate::log::grouped::grouped;

/// Figures that merely moved to different CPUs.
pub(crate) const REORDERED: Kind = Kind::new("reordered");
/// Figures that did not change.
pub(crate) const UNCHANGED: Kind = Kind::new("unchanged");

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
    fn finding(&self, kind: Kind, text: &str, changes: &[&Change]) -> Option<BasedFinding> {
        let key = self.compared.key;
        let sentence = format!("{}: {text}", scenario_title(self.sides.runs(), key));
        let of_changes = BasedFinding::of_changes;
        (!changes.is_empty()).then(|| of_changes(kind, sentence, key, changes))
    }

    /// Returns the changes that count, grouped by figure name.
    fn by_heading(&self) -> Vec<(&'static str, Vec<&'s Change>)> {
        let changes = self.compared.changes().iter();
        grouped(changes.map(|it| (it.key.heading(), it)))
    }

    /// Describes Powerdown figures that merely moved to different CPUs, because the lock was taken
    /// in a different order.
    fn reordered(&self) -> Option<BasedFinding> {
        let is_own = |it: &&Change| it.key.suite_metric() == Some(Metric::Powerdown);
        let order: Vec<&Change> = self.compared.by_order.iter().filter(is_own).collect();
        let cpus: Vec<&Change> = self.compared.by_cpu.iter().filter(is_own).collect();
        let is_judged =
            |it: &&Change| matches!(it.outcome, ChangeOutcome::Better | ChangeOutcome::Worse);
        let is_quiet = cpus.iter().all(|it| it.outcome.is_still());
        let (new, old) = self.sides.runs();
        let is_same = |it: &&Change| new.label(it.cpu) == old.label(it.old_cpu);
        if order.iter().any(is_judged) || is_quiet || order.iter().all(is_same) {
            return None;
        }
        let still: Vec<&Change> = with(&order, ChangeOutcome::is_still);
        let sentence = format!(
            "Compared by order of arrival, Powerdown is unchanged ({} of {} within {:.2} %). \
             Compared by CPU, it seems to change by {}, because the CPUs took the lock in a \
             different order.",
            still.len(),
            many(order.len(), "position"),
            greatest(&still),
            shares(&cpus)
        );
        self.finding(REORDERED, &sentence, &order)
    }

    /// Describes the changes, with one finding for each figure and direction.
    fn changed(&self) -> Vec<BasedFinding> {
        let directions = [
            (ChangeOutcome::Worse, "longer"),
            (ChangeOutcome::Better, "less time"),
        ];
        let each = self.by_heading().into_iter().cartesian_product(directions);
        let each = each.filter_map(|((heading, own), (outcome, word))| {
            let moved = with(&own, |it| it == outcome);
            let (what, by) = match moved.first()?.key.is_of_step() {
                true => ("cell", String::new()),
                false => {
                    let all = moved.iter().map(|it| it.delta().abs());
                    (
                        "row",
                        format!(", by {}", durations_text(&self.sides.new.run, all)),
                    )
                }
            };
            let (count, of) = (moved.len(), many(own.len(), what));
            let (shares, names) = (shares(&moved), self.names(&moved, &own));
            let text = format!("{heading} takes {word} in {count} of {of}{by} ({shares}){names}.");
            self.finding(CHANGED, &text, &moved)
        });
        each.collect()
    }

    /// Lists the CPUs, positions or points that changed, unless all of them changed or the list
    /// would be too long.
    fn names(&self, changes: &[&Change], of: &[&Change]) -> String {
        let names = changes.iter().map(|it| match it.place {
            _ if it.key.is_of_step() => it.key.name(),
            Some(place) => format!("position {}", place + 1),
            None => format!("CPU {}", self.sides.new.run.label(it.cpu)),
        });
        let names: Vec<String> = names.unique().collect();
        let are_all = changes.len() == of.len() && names.len() > 1;
        match are_all || names.len() > NAMED_MAX {
            true => String::new(),
            false => format!(": {}", names.join(", ")),
        }
    }

    /// Lists the figures that did not change.
    fn unchanged(&self) -> Option<BasedFinding> {
        let still = self.by_heading().into_iter();
        let still = still.filter(|it| it.1.iter().all(|it| it.outcome.is_still()));
        let (headings, changes): (Vec<&str>, Vec<Vec<&Change>>) = still.unzip();
        let changes: Vec<&Change> = changes.concat();
        let noise = match with(&changes, |it| it == ChangeOutcome::Noise).len() {
            0 => String::new(),
            count => {
                let figures = many(count, "figure");
                format!(", {figures} within noise or one tick")
            }
        };
        let (headings, greatest) = (headings.join(", "), greatest(&changes));
        let text = format!("{headings} unchanged (within {greatest:.2} %{noise}).");
        self.finding(UNCHANGED, &text, &changes)
    }
}

/// Returns the changes whose outcome satisfies `is_wanted`.
fn with<'c>(changes: &[&'c Change], is_wanted: impl Fn(ChangeOutcome) -> bool) -> Vec<&'c Change> {
    let own = changes.iter().filter(|it| is_wanted(it.outcome));
    own.copied().collect()
}

/// Returns the range of the changes in percent; empty if the old figures are zero.
fn shares(changes: &[&Change]) -> String {
    let all = changes.iter().filter_map(|it| it.percent());
    match range_text(all, |it| format!("{it:+.2} %")) {
        text if text.is_empty() => "from zero".to_owned(),
        text => text,
    }
}

/// Returns the largest change in either direction, in percent.
fn greatest(changes: &[&Change]) -> f64 {
    let all = changes.iter().filter_map(|it| it.percent());
    all.map(f64::abs).fold(0.0, f64::max)
}
