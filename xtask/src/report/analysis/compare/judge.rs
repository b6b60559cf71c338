//! Rows of both sides -> changes.

use std::collections::BTreeSet;

use psci_bench::measure::Metric;
use psci_bench::plan::ScenarioId;

use super::change::{Change, Outcome, Value};
use super::comparison::{ComparedTest, Judged};
use super::noise::{by_place, median, of_round, single, time};
use super::pair::{Keyed, Pairs};
use super::sides::Judge;
use super::{judge, points};
use crate::report::analysis::explain::figures::tick_ns;
use crate::report::model::{Row, Run, Term, Test};

impl<'r> Judge<'r> {
    pub(super) fn new(new: &'r Run, old: &'r Run, pairs: &'r Pairs, tolerance: u32) -> Self {
        let tick = |run| tick_ns(run).unwrap_or(0);
        Self {
            new,
            old,
            pairs,
            tolerance,
            tick: tick(new).max(tick(old)),
        }
    }

    /// Compares a scenario.
    ///
    /// # Errors
    /// Why it can not be compared.
    pub(super) fn compare(&self, new: &Test, old: &Test) -> Result<ComparedTest, String> {
        let ambiguous = self.pairs.keyed == Keyed::Ambiguous;
        let sorted = new.is_parallel() || ambiguous;
        let count = |test: &Test| {
            test.rows
                .iter()
                .filter(|row| !row.figures.is_empty())
                .count()
        };
        let (rows, before) = (count(new), count(old));
        let (points, lone_points) = points::changes(self, new, old);
        if rows == 0 && before == 0 && !points.is_empty() {
            return Ok(ComparedTest {
                scenario: new.scenario.clone(),
                method: new.method.clone(),
                helper: new.helper,
                judged: Judged::Cpu,
                by_cpu: Vec::new(),
                by_order: Vec::new(),
                unpaired: (Vec::new(), Vec::new()),
                lacks: Vec::new(),
                points,
                lone_points,
            });
        }
        if rows == 0 || before == 0 {
            let none = rows == 0 && new.points.is_empty();
            let who = if none { "the run" } else { "the baseline" };
            return Err(match new.points.is_empty() || old.points.is_empty() {
                true => format!("{who} has no figure of it"),
                false => "the two have no point in common".to_owned(),
            });
        }
        if sorted && rows != before {
            return Err(format!(
                "{rows} rows against {before}: {}",
                if ambiguous {
                    "labels are ambiguous, and rows can only be sorted"
                } else {
                    "CPUs that go down together wait for each other, and so their number counts"
                }
            ));
        }
        let columns = old.columns();
        let metrics: Vec<Term<Metric>> = new
            .columns()
            .into_iter()
            .filter(|it| columns.contains(it))
            .collect();
        if metrics.is_empty() {
            return Err("the two have no figure in common".to_owned());
        }
        let by_cpu = metrics
            .iter()
            .flat_map(|metric| self.by_cpu(new, old, metric));
        let mut by_order = Vec::new();
        if sorted {
            by_order = metrics
                .iter()
                .flat_map(|metric| self.by_order(new, old, metric))
                .collect();
            self.moved(new, old, &mut by_order);
        }
        let paired_new = |row: &&Row| {
            self.pairs
                .old(row.cpu)
                .and_then(|cpu| old.row(cpu))
                .is_none()
        };
        let paired_old = |row: &&Row| {
            let own = self.pairs.pairs.iter().find(|it| it.1 == row.cpu);
            own.and_then(|own| new.row(own.0)).is_none()
        };
        let alone = |lone: bool, all: Vec<usize>| if lone { all } else { Vec::new() };
        let judged = if sorted { Judged::Order } else { Judged::Cpu };
        let by_cpu: Vec<Change> = by_cpu.collect();
        let changes = if sorted { &by_order } else { &by_cpu };
        Ok(ComparedTest {
            lacks: judge::figures(old, changes),
            scenario: new.scenario.clone(),
            method: new.method.clone(),
            helper: new.helper,
            judged,
            by_cpu,
            by_order,
            unpaired: (
                alone(
                    !ambiguous,
                    new.rows
                        .iter()
                        .filter(paired_new)
                        .map(|it| it.cpu)
                        .collect(),
                ),
                alone(
                    !ambiguous,
                    old.rows
                        .iter()
                        .filter(paired_old)
                        .map(|it| it.cpu)
                        .collect(),
                ),
            ),
            points,
            lone_points,
        })
    }

    fn by_cpu(&self, new: &Test, old: &Test, metric: &Term<Metric>) -> Vec<Change> {
        let value = |run: &Run, test: &Test, row: &Row| {
            let figure = row.figure(metric)?;
            let summary = row.summary(metric);
            let value = match summary.filter(|it| it.median == figure) {
                Some(summary) if !test.is_parallel() => median(run, summary),
                // A parallel row is one round's, whatever the others were.
                _ => of_round(run, figure, summary.filter(|_| test.is_parallel())),
            };
            let doubtful = run.is_doubtful(row);
            Some(Value { doubtful, ..value })
        };
        let rows = new.rows.iter();
        let change = |row: &Row| {
            let before = old.row(self.pairs.old(row.cpu)?)?;
            let (now, then) = (value(self.new, new, row)?, value(self.old, old, before)?);
            Some(self.change(metric, None, (row.cpu, before.cpu), now, then))
        };
        rows.filter_map(change).collect()
    }

    fn by_order(&self, new: &Test, old: &Test, metric: &Term<Metric>) -> Vec<Change> {
        let sorted = |test: &Test| {
            let rows = test.rows.iter();
            let mut all: Vec<(u64, usize)> = rows
                .filter_map(|row| Some((row.figure(metric)?, row.cpu)))
                .collect();
            all.sort_unstable();
            all
        };
        let (now, then) = (sorted(new), sorted(old));
        if now.len() != then.len() {
            return Vec::new();
        }
        // Together all rounds, or on both sides the one that is shown.
        let places = by_place(new, metric).zip(by_place(old, metric));
        let value = |place: usize, run: &Run, test: &Test, (shown, cpu): (u64, usize)| {
            let is_new = std::ptr::eq(test, new);
            let places = places.as_ref().map(|it| if is_new { &it.0 } else { &it.1 });
            let row = test.row(cpu);
            let value = match places.and_then(|all| all.get(place)) {
                Some(summary) => median(run, summary),
                None if test.is_parallel() => {
                    of_round(run, shown, row.and_then(|row| row.summary(metric)))
                }
                None => single(run, shown),
            };
            let doubtful = row.is_some_and(|row| run.is_doubtful(row));
            Value { doubtful, ..value }
        };
        let each = now.iter().zip(&then).enumerate();
        each.map(|(place, (now, then))| {
            let values = (
                value(place, self.new, new, *now),
                value(place, self.old, old, *then),
            );
            self.change(metric, Some(place), (now.1, then.1), values.0, values.1)
        })
        .collect()
    }

    fn change(
        &self,
        metric: &Term<Metric>,
        place: Option<usize>,
        cpus: (usize, usize),
        new: Value,
        old: Value,
    ) -> Change {
        Change {
            metric: metric.clone(),
            place,
            cpu: cpus.0,
            old_cpu: cpus.1,
            outcome: outcome(&new, &old, self.tolerance, self.tick),
            new,
            old,
            by_flushes: None,
        }
    }

    /// Takes out of the changes of Powerdown what comes of the same cache
    /// flushes at another place in the queue, and judges what is left.
    ///
    /// A last man flushes with the lock held, and whoever comes behind him
    /// waits for it. Where all flushes together take as long as before, but
    /// those ahead of a place do not, that place's figure moves with them. His
    /// own flush is a part of his figure, or, as in published tables, is not:
    /// whichever explains more.
    fn moved(&self, new: &Test, old: &Test, changes: &mut [Change]) {
        if !new.scenario.is(ScenarioId::SuspendDeepParallel) {
            return;
        }
        let Some((now, then)) = flushes(self.new, new).zip(flushes(self.old, old)) else {
            return;
        };
        let sum = |all: &[u64]| all.iter().fold(0u64, |sum, it| sum.saturating_add(*it));
        if !is_close(sum(&now), sum(&then), self.tolerance) {
            return;
        }
        let powerdown = |it: &&mut Change| it.metric.is(Metric::Powerdown);
        for change in changes.iter_mut().filter(powerdown) {
            let place = change.place.unwrap_or(0);
            if !matches!(change.outcome, Outcome::Better | Outcome::Worse) {
                continue;
            }
            let ahead = |own: usize| {
                let ahead = |all: &[u64]| sum(all.get(..place + own).unwrap_or_default());
                (ahead(&now), ahead(&then))
            };
            let left = |it: &(u64, u64)| (change.delta() - by_flushes(*it)).abs();
            let least = [ahead(0), ahead(1)].into_iter().min_by_key(left);
            // They explain something of it, or they are out of the question.
            let is_less = |it: &(u64, u64)| left(it) < change.delta().abs();
            let Some(ahead) = least.filter(is_less) else {
                continue;
            };
            match self.without(change, ahead) {
                Outcome::Same | Outcome::Noise => change.outcome = Outcome::Moved,
                left => {
                    change.outcome = left;
                    change.by_flushes = i64::try_from(by_flushes(ahead)).ok();
                }
            }
        }
    }

    /// What to make of `change` without the flushes `ahead`, now and then. They
    /// have the tolerance, too: what is left is a difference of both.
    fn without(&self, change: &Change, ahead: (u64, u64)) -> Outcome {
        let left = change.delta() - by_flushes(ahead);
        let larger = |a: u64, b: u64| u128::from(a.max(b));
        let of = larger(change.new.figure, change.old.figure) + larger(ahead.0, ahead.1);
        if left.unsigned_abs() * 1_000_000 <= of * u128::from(self.tolerance) {
            return Outcome::Same;
        }
        let moved = |at: u64| u64::try_from(i128::from(at) - by_flushes(ahead)).unwrap_or(0);
        let now = Value {
            figure: moved(change.new.figure),
            interval: change.new.interval.map(|it| (moved(it.0), moved(it.1))),
            ..change.new
        };
        outcome(&now, &change.old, 0, self.tick)
    }
}

/// The cache flushes of a round in the order of Powerdown; None where a row
/// lacks either.
fn flushes(run: &Run, test: &Test) -> Option<Vec<u64>> {
    let mut rows = Vec::new();
    for row in &test.rows {
        let powerdown = row.figure(&Term::Known(Metric::Powerdown))?;
        let flush = row.figure(&Term::Known(Metric::CacheFlush))?;
        rows.push((powerdown, time(run, flush)));
    }
    rows.sort_unstable();
    Some(rows.into_iter().map(|it| it.1).collect())
}

/// By how much flushes take more now than then.
fn by_flushes((now, then): (u64, u64)) -> i128 {
    i128::from(now) - i128::from(then)
}

/// Whether two figures are within the tolerance of the larger one.
pub(in crate::report) fn is_close(a: u64, b: u64, ppm: u32) -> bool {
    let (a, b) = (u128::from(a), u128::from(b));
    a.abs_diff(b) * 1_000_000 <= a.max(b) * u128::from(ppm)
}

fn outcome(new: &Value, old: &Value, tolerance: u32, tick: u64) -> Outcome {
    if is_close(new.figure, old.figure, tolerance) {
        return Outcome::Same;
    }
    let is_less = new.figure < old.figure;
    // Apart, and to the side to which the figures are.
    let (new, old) = if is_less { (old, new) } else { (new, old) };
    let within = new.interval.zip(old.interval);
    let within = within.is_some_and(|(more, less)| more.0 <= less.1);
    if within || new.figure - old.figure <= tick {
        Outcome::Noise
    } else if is_less {
        Outcome::Better
    } else {
        Outcome::Worse
    }
}

/// The figures of `old` that are in none of `changes`, with their CPUs.
pub(super) fn figures(old: &Test, changes: &[Change]) -> Vec<(usize, Term<Metric>)> {
    let there = changes.iter().map(|it| (it.old_cpu, it.metric.word()));
    let there: BTreeSet<(usize, &str)> = there.collect();
    let rows = old.rows.iter();
    let all = rows.flat_map(|row| row.figures.iter().map(|figure| (row.cpu, &figure.0)));
    all.filter(|it| !there.contains(&(it.0, it.1.word())))
        .map(|(cpu, metric)| (cpu, metric.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes() {
        let value = |figure, interval| Value {
            figure,
            interval,
            doubtful: false,
        };
        let plain = |new, old| outcome(&value(new, None), &value(old, None), 20_000, 0);
        assert_eq!(plain(102, 100), Outcome::Same);
        assert_eq!(plain(103, 100), Outcome::Worse);
        assert_eq!(plain(97, 100), Outcome::Better);
        assert_eq!(plain(0, 0), Outcome::Same);
        assert_eq!(plain(7, 0), Outcome::Worse);
        assert_eq!(plain(0, 7), Outcome::Better);
        assert_eq!(plain(u64::MAX, 1), Outcome::Worse);
        let ticks = outcome(&value(100, None), &value(80, None), 20_000, 20);
        assert_eq!(ticks, Outcome::Noise);
        let wide = |low| {
            outcome(
                &value(150, Some((low, 160))),
                &value(100, Some((90, 110))),
                20_000,
                0,
            )
        };
        assert_eq!((wide(110), wide(111)), (Outcome::Noise, Outcome::Worse));
        // One side alone says nothing of the other's noise.
        let one = outcome(&value(150, Some((90, 200))), &value(100, None), 20_000, 0);
        assert_eq!(one, Outcome::Worse);
    }
}
