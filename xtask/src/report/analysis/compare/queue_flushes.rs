//! Cache flushes that came to other places in the lock queue.
//!
//! A last man flushes with the lock held, and the CPUs behind it wait. If all
//! flushes together take as long as before, but those ahead of a place do not, that
//! place's Powerdown moves with them. The CPU's own flush is a part of its figure
//! or, as in published tables, is not: the variant that explains more counts.

use psci_bench::measure::Metric;
use psci_bench::model::Scenario;
use psci_bench::plan::ScenarioId;

use super::change::{Change, Outcome, Value, is_close};
use super::sides::Sides;
use crate::report::analysis::figure::FigureKey;
use crate::report::log::LoggedRun;

/// Removes the moved flushes from the changes of Powerdown and judges the rest.
pub(super) fn judge_moved_flushes(
    sides: &Sides<'_>,
    (new, old): (&Scenario, &Scenario),
    changes: &mut [Change],
) {
    if new.id != ScenarioId::SuspendDeepParallel {
        return;
    }
    let Some((now, then)) = flushes(sides.new, new).zip(flushes(&sides.old, old)) else {
        return;
    };
    let sum = |all: &[f64]| all.iter().sum::<f64>();
    if !is_close(sum(&now), sum(&then), sides.tolerance) {
        return;
    }
    for change in changes {
        let is_judged = change.key.metric() == Some(Metric::Powerdown);
        if !is_judged || !matches!(change.outcome, Outcome::Better | Outcome::Worse) {
            continue;
        }
        let place = change.place.unwrap_or(0);
        let sum = |all: &[f64], count| sum(all.get(..count).unwrap_or_default());
        let ahead = [place, place + 1].map(|count| (sum(&now, count), sum(&then, count)));
        let rest = |it: &(f64, f64)| (change.delta() - (it.0 - it.1)).abs();
        let least = ahead.into_iter().min_by(|a, b| rest(a).total_cmp(&rest(b)));
        // Flushes that explain nothing of the change do not count.
        let Some(ahead) = least.filter(|it| rest(it) < change.delta().abs()) else {
            continue;
        };
        match outcome_without(sides, change, ahead) {
            Outcome::Same | Outcome::Noise => change.outcome = Outcome::Moved,
            rest => {
                change.outcome = rest;
                change.by_flushes = Some(ahead.0 - ahead.1);
            }
        }
    }
}

/// Judges `change` without the flushes `ahead`, now and then. The tolerance applies
/// to these, too, as the rest is a difference of both.
fn outcome_without(sides: &Sides<'_>, change: &Change, ahead: (f64, f64)) -> Outcome {
    let moved = ahead.0 - ahead.1;
    let whole = change.new.figure.max(change.old.figure) + ahead.0.max(ahead.1);
    if (change.delta() - moved).abs() * 1e6 <= whole * f64::from(sides.tolerance) {
        return Outcome::Same;
    }
    let without = |figure: f64| (figure - moved).max(0.0);
    let now = Value {
        figure: without(change.new.figure),
        interval: change.new.interval.map(|it| (without(it.0), without(it.1))),
        ..change.new
    };
    Outcome::of(&now, &change.old, 0, sides.tick)
}

/// Returns the cache flushes of a round in the order of Powerdown; None if a row
/// lacks either.
fn flushes(run: &LoggedRun, scenario: &Scenario) -> Option<Vec<f64>> {
    let figure = |row, metric| {
        let ticks = scenario.figure(row, metric)?;
        Some(FigureKey::Row { metric }.per_operation(run.run.clock(), ticks))
    };
    let rows = scenario.rows.iter();
    let rows = rows.map(|row| figure(row, Metric::Powerdown).zip(figure(row, Metric::CacheFlush)));
    let mut rows = rows.collect::<Option<Vec<(f64, f64)>>>()?;
    rows.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    Some(rows.into_iter().map(|it| it.1).collect())
}
