//! Changes -> findings.

use itertools::Itertools as _;
use psci_bench::measure::Metric;
use psci_bench::model::{Confidence, Kind, Unit, heading};

use super::change::{Change, Outcome};
use super::cluster_flush;
use super::comparison::{ComparedScenario, Judged, baseline_scenario};
use super::differences::{conditions, unweighed};
use super::sentences::{bases, durations, greatest, noise_clause, percent, places, shares, title};
use super::sides::Sides;
use crate::report::analysis::basis::{ComparisonFinding, doubt_text};
use crate::report::analysis::conditions::Across;
use crate::report::log::grouped::grouped;
use crate::setup::plural::many;

/// The most CPUs or places that a sentence names; tables have all.
const NAMED_MAX: usize = 16;
/// The most circumstances that a sentence names.
const CIRCUMSTANCES_MAX: usize = 6;

/// Returns the findings of a comparison.
pub(super) fn findings(
    sides: &Sides<'_>,
    scenarios: &[ComparedScenario],
    across: &[Across],
) -> Vec<ComparisonFinding> {
    let mut all = conditions(sides, scenarios, across);
    all.extend(unweighed(sides, scenarios));
    all.extend(cluster_flush::of_cluster(sides, scenarios));
    for compared in scenarios {
        let of = Scenario { sides, compared };
        all.extend(of.reordered());
        all.extend(of.changed());
        all.extend(of.moved());
        all.extend(of.rest_of_moved());
        all.extend(of.unchanged());
        all.extend(of.points());
    }
    for finding in &mut all {
        add_doubts(sides, finding);
    }
    all
}

/// Adds a sentence on the rows that are not verified, of sides that have records.
fn add_doubts(sides: &Sides<'_>, finding: &mut ComparisonFinding) {
    let mut labels = Vec::new();
    for basis in &finding.basis {
        let old = baseline_scenario(&sides.old.run, basis.scenario);
        let new = (sides.new, sides.new.run.scenario(basis.scenario), "");
        let of = [new, (&sides.old, old, "the baseline's ")];
        for ((run, scenario, prefix), cpus) in of.into_iter().zip(&basis.cpus) {
            let scenario = scenario.filter(|_| run.integrity.records.is_some());
            let rows = cpus.iter().filter_map(|cpu| scenario?.row(*cpu));
            let doubtful = rows.filter(|row| run.is_doubtful(row));
            labels.extend(doubtful.map(|row| format!("{prefix}CPU {}", run.run.label(row.cpu))));
        }
    }
    finding.finding.sentence += &doubt_text(labels.into_iter());
}

/// The directions of changes that count, with their words.
const DIRECTIONS: [(Outcome, &str); 2] = [(Outcome::Worse, "more"), (Outcome::Better, "less")];

/// Returns the changes with an outcome.
fn with<'c>(changes: &[&'c Change], outcome: Outcome) -> Vec<&'c Change> {
    let own = changes.iter().filter(|it| it.outcome == outcome);
    own.copied().collect()
}

/// A scenario whose changes are described.
struct Scenario<'s> {
    sides: &'s Sides<'s>,
    compared: &'s ComparedScenario,
}

impl<'s> Scenario<'s> {
    fn finding(
        &self,
        kind: Kind,
        confidence: Confidence,
        sentence: String,
        changes: &[&Change],
    ) -> ComparisonFinding {
        let sentence = format!("{}: {sentence}", title(self.sides, self.compared));
        let basis = bases(self.compared, changes);
        ComparisonFinding::new(kind, confidence, sentence, basis)
    }

    /// Returns the changes of rows that count, by metric.
    fn by_metric(&self) -> Vec<(Metric, Vec<&'s Change>)> {
        let changes = self.compared.changes().iter();
        grouped(changes.filter_map(|it| Some((it.key.metric()?, it))))
    }

    /// Describes Powerdown that only other CPUs have, as the lock was taken in
    /// another order.
    fn reordered(&self) -> Option<ComparisonFinding> {
        let is_own = |it: &&Change| it.key.metric() == Some(Metric::Powerdown);
        let order: Vec<&Change> = self.compared.by_order.iter().filter(is_own).collect();
        let cpus: Vec<&Change> = self.compared.by_cpu.iter().filter(is_own).collect();
        let is_judged = |it: &&Change| matches!(it.outcome, Outcome::Better | Outcome::Worse);
        let is_quiet = cpus.iter().all(|it| it.outcome.is_still());
        if order.is_empty() || order.iter().any(is_judged) || is_quiet {
            return None;
        }
        let (new, old) = self.sides.runs();
        let then = order.iter().map(|it| old.label(it.old_cpu)).join(", ");
        let now = order.iter().map(|it| new.label(it.cpu)).join(", ");
        // In the same order it is the flushes that are at other places.
        if then == now {
            return None;
        }
        let shares = cpus.iter().filter_map(|it| Some((it.percent()?, it.cpu)));
        let (least, most) = shares.minmax_by(|a, b| a.0.total_cmp(&b.0)).into_option()?;
        let text = |it: (f64, u16)| format!("{} (CPU {})", percent(it.0), new.label(it.1));
        let is_still = |it: &&Change| it.outcome.is_still();
        let still: Vec<&Change> = order.iter().copied().filter(is_still).collect();
        let orders = match order.len() > NAMED_MAX {
            true => String::new(),
            false => format!(", then {then}, now {now}"),
        };
        let sentence = format!(
            "Powerdown is unchanged by order of arrival (sorted, {} of {} within {:.2} %). By CPU \
             it seems to change by {} to {}: these are other CPUs' places, as the lock was taken \
             in another order{orders}.",
            still.len(),
            many(order.len(), "place"),
            greatest(&still),
            text(least),
            text(most)
        );
        Some(self.finding(Kind::Reordered, confidence(&order), sentence, &order))
    }

    /// Describes the changes of rows: one finding for each metric and direction.
    fn changed(&self) -> Vec<ComparisonFinding> {
        let each = self.by_metric().into_iter().cartesian_product(DIRECTIONS);
        let each = each.map(|((metric, own), (outcome, word))| {
            let moved = with(&own, outcome);
            let sentence = format!(
                "{} takes {word} in {} of {}, by {} ({}){}.",
                heading(metric),
                moved.len(),
                many(own.len(), "row"),
                durations(self.sides, moved.iter().map(|it| it.delta().abs())),
                shares(&moved),
                self.names(&moved, moved.len() == own.len())
            );
            (moved, sentence)
        });
        each.filter(|(moved, _)| !moved.is_empty())
            .map(|(moved, text)| self.finding(Kind::Changed, confidence(&moved), text, &moved))
            .collect()
    }

    /// Names the CPUs or places of changes, unless they are all or too many.
    fn names(&self, changes: &[&Change], is_all: bool) -> String {
        let is_named = !is_all && changes.len() <= NAMED_MAX;
        let run = &self.sides.new.run;
        match (self.compared.judged, is_named) {
            (Judged::Cpu, true) => {
                format!(
                    " (CPU {})",
                    changes.iter().map(|it| run.label(it.cpu)).format(", ")
                )
            }
            (Judged::Cpu, false) => String::new(),
            (Judged::Order, true) => {
                format!(" by order of size (place {})", places(changes))
            }
            (Judged::Order, false) => " by order of size".to_owned(),
        }
    }

    /// Describes places whose figures moved with a flush.
    fn moved(&self) -> Option<ComparisonFinding> {
        let all: Vec<&Change> = self.compared.by_order.iter().collect();
        let all = with(&all, Outcome::Moved);
        let sentence = format!(
            "place {} differs ({}) as the cache flushes up to it in the queue do, and by no more \
             than tolerance or noise besides: all flushes together take as long as before, but \
             are at other places.",
            places(&all),
            shares(&all)
        );
        let (kind, confidence) = (Kind::Reordered, Confidence::Figures);
        (!all.is_empty()).then(|| self.finding(kind, confidence, sentence, &all))
    }

    /// Describes places whose figures moved with a flush, and by more than that.
    fn rest_of_moved(&self) -> Vec<ComparisonFinding> {
        let signed = |value: f64| {
            let sign = if value < 0.0 { "-" } else { "+" };
            format!("{sign}{}", durations(self.sides, [value.abs()].into_iter()))
        };
        let all = self.compared.by_order.iter();
        let each = all.filter_map(|it| Some((it, it.by_flushes?)));
        each.map(|(it, by_flushes)| {
            let sentence = format!(
                "place {} of Powerdown: cache flushes that came to other places in the queue make \
                 {} of it, {} is seen, and {} is left: that is judged.",
                it.place.unwrap_or(0) + 1,
                signed(by_flushes),
                signed(it.new.figure - it.old.figure),
                signed(it.delta()),
            );
            self.finding(Kind::Reordered, Confidence::Figures, sentence, &[it])
        })
        .collect()
    }

    /// Names the metrics of which no figure changed.
    fn unchanged(&self) -> Option<ComparisonFinding> {
        let still = self.by_metric().into_iter();
        let still = still.filter(|it| it.1.iter().all(|it| it.outcome.is_still()));
        let (metrics, changes): (Vec<Metric>, Vec<Vec<&Change>>) = still.unzip();
        let changes: Vec<&Change> = changes.concat();
        let sentence = format!(
            "{} unchanged (within {:.2} %{}).",
            metrics.into_iter().map(heading).format(", "),
            greatest(&changes),
            noise_clause(with(&changes, Outcome::Noise).len(), "figure")
        );
        let (kind, confidence) = (Kind::Unchanged, confidence(&changes));
        (!changes.is_empty()).then(|| self.finding(kind, confidence, sentence, &changes))
    }

    /// Describes the changes of points, or that there are none.
    fn points(&self) -> Vec<ComparisonFinding> {
        let changes = self.compared.changes().iter();
        let points: Vec<&Change> = changes.filter(|it| it.key.is_point()).collect();
        if points.is_empty() {
            return Vec::new();
        }
        let count = many(points.len(), "point");
        let mut all = Vec::new();
        let mut add = |kind, confidence, text| all.push(self.finding(kind, confidence, text, &[]));
        for (outcome, word) in DIRECTIONS {
            let moved = with(&points, outcome);
            if !moved.is_empty() {
                let (number, of) = (moved.len(), circumstances(&moved));
                let text = format!("{number} of {count} take {word}{of}.");
                add(Kind::Changed, confidence(&moved), text);
            }
        }
        let is_changed = |it: &&Change| matches!(it.outcome, Outcome::Worse | Outcome::Better);
        if !points.iter().any(is_changed) {
            let noise = noise_clause(with(&points, Outcome::Noise).len(), "point");
            let text = format!("{count} unchanged{noise}.");
            add(Kind::Unchanged, Confidence::Intervals, text);
        }
        // What the firmware counts is one number on each side, and has no noise.
        let is_time = |it: &&&Change| matches!(it.key.unit(), Unit::Ticks | Unit::Cycles);
        let times = points.iter().filter(is_time);
        let bare = times.filter(|it| !it.has_intervals()).count();
        if bare > 0 {
            let text = format!(
                "{bare} of {count} were weighed against no noise, as one side has a single sample \
                 of each."
            );
            add(Kind::NotTold, Confidence::Unknown, text);
        }
        let (new, old) = (self.compared.added_points, self.compared.lacks.len());
        if new + old > 0 {
            let (new, old) = (many(new, "point"), many(old, "point"));
            let text = format!(
                "{new} of the run and {old} of the baseline are of what the other side did not \
                 measure."
            );
            add(Kind::NotTold, Confidence::Intervals, text);
        }
        all
    }
}

/// Returns the greatest change of some points, and their circumstances.
fn circumstances(changes: &[&Change]) -> String {
    let names: Vec<String> = changes.iter().map(|it| it.key.name()).unique().collect();
    let more = match names.len().saturating_sub(CIRCUMSTANCES_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let names = names.iter().take(CIRCUMSTANCES_MAX).join(", ");
    let far = changes.iter().filter_map(|it| it.percent());
    let far = far.max_by(|a, b| a.abs().total_cmp(&b.abs()));
    let far = far.map_or_else(String::new, |it| format!(", by up to {}", percent(it)));
    format!("{far}: {names}{more}")
}

fn confidence(changes: &[&Change]) -> Confidence {
    match changes.iter().all(|it| it.has_intervals()) {
        true => Confidence::Intervals,
        false => Confidence::Figures,
    }
}
