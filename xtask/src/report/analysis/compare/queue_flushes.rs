//! Cache flushes that came to other places in the lock queue.
//!
//! A last man flushes with the lock held, and the CPUs after it wait. If all
//! flushes together take as long as before, but those ahead of a place do not, that
//! place's Powerdown moves with them.

use psci_bench::measure::Metric;
use psci_bench::model::Scenario;
use psci_bench::plan::ScenarioId;

use super::change::{Change, Outcome, Value, is_close};
use super::sides::Sides;
use crate::report::analysis::figure::FigureKey;
use crate::report::log::LoggedRun;

/// Removes the moved flushes from the changes of Powerdown, which are in the order of
/// their places, and judges the rest.
pub(super) fn judge_moved_flushes(
    sides: &Sides<'_>,
    (new, old): (&Scenario, &Scenario),
    changes: &mut [Change],
) {
    if new.id != ScenarioId::SuspendDeepParallel {
        return;
    }
    // The sums of the flushes ahead of each place, now and then.
    let mut ahead = vec![(0.0, 0.0)];
    let (mut now, mut then) = (0.0, 0.0);
    for change in changes.iter().filter(|it| is_powerdown(it)) {
        let flushes = (
            flush(sides.new, new, change.cpu),
            flush(&sides.old, old, change.old_cpu),
        );
        let (Some(own), Some(former)) = flushes else {
            return;
        };
        (now, then) = (now + own, then + former);
        ahead.push((now, then));
    }
    if is_close(now, then, sides.tolerance) {
        for change in changes.iter_mut().filter(|it| is_powerdown(it)) {
            let place = change.place.unwrap_or(0);
            judge(sides, change, &ahead[place..=place + 1]);
        }
    }
}

fn is_powerdown(change: &Change) -> bool {
    change.key.metric() == Some(Metric::Powerdown)
}

fn flush(run: &LoggedRun, scenario: &Scenario, cpu: u16) -> Option<f64> {
    let metric = Metric::CacheFlush;
    let ticks = scenario.figure(scenario.row(cpu)?, metric)?;
    Some(FigureKey::Row { metric }.per_operation(run.run.clock(), ticks))
}

/// Judges a change without the flushes `ahead`. The CPU's own flush is a part of its
/// figure or, as in published tables, is not: the variant that explains more counts.
fn judge(sides: &Sides<'_>, change: &mut Change, ahead: &[(f64, f64)]) {
    let delta = change.delta();
    let rest = |it: &&(f64, f64)| (delta - (it.0 - it.1)).abs();
    let least = ahead.iter().min_by(|a, b| rest(a).total_cmp(&rest(b)));
    // Flushes that explain nothing of the change do not count.
    let Some(least) = least.filter(|it| !change.outcome.is_still() && rest(it) < delta.abs())
    else {
        return;
    };
    let moved = least.0 - least.1;
    // The tolerance applies to the flushes, too, as the rest is a difference of both.
    let whole = change.new.figure.max(change.old.figure) + least.0.max(least.1);
    let is_same = rest(&least) * 1e6 <= whole * f64::from(sides.tolerance);
    let without = |figure: f64| (figure - moved).max(0.0);
    let now = Value {
        figure: without(change.new.figure),
        interval: change.new.interval.map(|it| (without(it.0), without(it.1))),
        ..change.new
    };
    let outcome = Outcome::of(&now, &change.old, 0, sides.tick);
    if is_same || outcome.is_still() {
        change.outcome = Outcome::Moved;
    } else {
        (change.outcome, change.by_flushes) = (outcome, Some(moved));
    }
}
