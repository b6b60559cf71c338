//! Points of both sides -> changes.
//!
//! A point is one with the other side's of the same CPU, circumstance and
//! figure. Where CPUs go down together (`contend_sweep`), each waits for the
//! lock, and who comes first changes: there the medians of all CPUs at one
//! `x` are sorted, and the least is compared with the least.

use psci_bench::model::Unit;

use super::change::{Amount, Outcome, PointChange};
use super::noise::notch;
use super::sides::Judge;
use crate::report::model::{Measured, Run, Test};

/// The changes of all points that both sides have; and how many of the run's
/// and of the baseline's have none to be compared with.
pub(super) fn changes(
    judge: &Judge<'_>,
    new: &Test,
    old: &Test,
) -> (Vec<PointChange>, (usize, usize)) {
    let pairs = match new.is_queue_of_points() {
        true => sorted(new, old),
        false => by_cpu(judge, new, old),
    };
    let all: Vec<PointChange> = pairs
        .into_iter()
        .map(|(point, was, place)| change(judge, point, was, place))
        .collect();
    let lone = (
        new.points.len() - all.len(),
        old.points.len().saturating_sub(all.len()),
    );
    (all, lone)
}

type Pair<'r> = (&'r Measured, &'r Measured, Option<usize>);

fn by_cpu<'r>(judge: &Judge<'_>, new: &'r Test, old: &'r Test) -> Vec<Pair<'r>> {
    let each = new.points.iter().filter_map(|point| {
        let cpu = judge.pairs.old(point.cpu)?;
        let same = |it: &&Measured| it.cpu == cpu && it.is_of_kind(point);
        Some((point, old.points.iter().find(same)?, None))
    });
    each.collect()
}

fn sorted<'r>(new: &'r Test, old: &'r Test) -> Vec<Pair<'r>> {
    let mut all = Vec::new();
    for (nth, kind) in new.points.iter().enumerate() {
        if new.points.iter().take(nth).any(|it| it.is_of_kind(kind)) {
            continue;
        }
        let of = |test: &'r Test| {
            let own = test.points.iter().filter(|it| it.is_of_kind(kind));
            let mut own: Vec<&Measured> = own.collect();
            own.sort_by_key(|it| (it.summary.median, it.cpu));
            own
        };
        let (now, then) = (of(new), of(old));
        // With another number of CPUs in the queue it is another question.
        if now.len() == then.len() {
            let each = now.into_iter().zip(then).enumerate();
            all.extend(each.map(|(place, (now, then))| (now, then, Some(place))));
        }
    }
    all
}

fn change(
    judge: &Judge<'_>,
    point: &Measured,
    was: &Measured,
    place: Option<usize>,
) -> PointChange {
    let (new, old) = (amount(judge.new, point), amount(judge.old, was));
    // A tick of a sample is part of one for an operation.
    let step = |run: &Run, point: &Measured| point.each(run, 1);
    let step = step(judge.new, point).max(step(judge.old, was));
    PointChange {
        point: point.clone(),
        old_cpu: was.cpu,
        place,
        unit: point.unit_name(judge.new),
        outcome: match point.unit() {
            Unit::Ticks | Unit::Cycles => outcome(&new, &old, judge.tolerance, step),
            // A state that is not reached any more.
            Unit::Count if new.figure < old.figure => Outcome::Worse,
            // How long a CPU slept is no cost.
            Unit::Count | Unit::Microseconds => Outcome::Same,
        },
        new,
        old,
    }
}

fn amount(run: &Run, point: &Measured) -> Amount {
    let each = |figure| point.each(run, figure);
    Amount {
        figure: each(point.summary.median),
        interval: notch(&point.summary).map(|(low, high)| (each(low), each(high))),
    }
}

fn outcome(new: &Amount, old: &Amount, tolerance_ppm: u32, step: f64) -> Outcome {
    let difference = (new.figure - old.figure).abs();
    let larger = new.figure.max(old.figure);
    if difference * 1e6 <= larger * f64::from(tolerance_ppm) {
        return Outcome::Same;
    }
    let overlap = |a: (f64, f64), b: (f64, f64)| a.0 <= b.1 && b.0 <= a.1;
    let within = new.interval.zip(old.interval);
    if within.is_some_and(|it| overlap(it.0, it.1)) || difference <= step {
        Outcome::Noise
    } else if new.figure < old.figure {
        Outcome::Better
    } else {
        Outcome::Worse
    }
}
