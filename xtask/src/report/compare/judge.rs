//! Rows of both sides -> changes.

use psci_bench::plan::ScenarioId;
use psci_bench::sample::Metric;

use super::super::explain::figures::tick_ns;
use super::super::model::{Row, Run, Term, Test};
use super::noise::{by_place, median, single, time};
use super::pair::Pairs;
use super::{Change, ComparedTest, Judged, Keyed, Outcome, Value, points};

/// The two runs, and what a change has to exceed.
pub(super) struct Judge<'r> {
    pub(super) new: &'r Run,
    pub(super) old: &'r Run,
    pub(super) pairs: &'r Pairs,
    /// Parts of a million.
    pub(super) tolerance: u32,
    /// One tick of the coarser side.
    pub(super) tick: u64,
}

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
                judged: Judged::Cpu,
                by_cpu: Vec::new(),
                by_order: Vec::new(),
                unpaired: (Vec::new(), Vec::new()),
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
        Ok(ComparedTest {
            scenario: new.scenario.clone(),
            method: new.method.clone(),
            judged: if sorted { Judged::Order } else { Judged::Cpu },
            by_cpu: by_cpu.collect(),
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
            // A parallel row is one round's, whatever the others were.
            let summary = row
                .summary(metric)
                .filter(|it| !test.is_parallel() && it.median == figure);
            Some(summary.map_or_else(|| single(run, figure), |it| median(run, it)))
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
        let value = |place: usize, (run, shown): (&Run, u64), is_new: bool| {
            let places = places.as_ref().map(|it| if is_new { &it.0 } else { &it.1 });
            let summary = places.and_then(|all| all.get(place));
            summary.map_or_else(|| single(run, shown), |it| median(run, it))
        };
        let each = now.iter().zip(&then).enumerate();
        each.map(|(place, (now, then))| {
            let values = (
                value(place, (self.new, now.0), true),
                value(place, (self.old, then.0), false),
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
        }
    }

    /// Marks the changes of Powerdown that come of the same cache flushes at
    /// another place in the queue.
    ///
    /// A last man flushes with the lock held, and whoever comes behind him
    /// waits for it. Where all flushes together take as long as before, but
    /// those ahead of a place do not, that place's figure moves with them.
    fn moved(&self, new: &Test, old: &Test, changes: &mut [Change]) {
        if !new.scenario.is(ScenarioId::SuspendDeepParallel) {
            return;
        }
        let ahead = |run: &Run, test: &Test| -> Option<(Vec<u64>, u64)> {
            let mut rows = Vec::new();
            for row in &test.rows {
                let powerdown = row.figure(&Term::Known(Metric::Powerdown))?;
                let flush = row.figure(&Term::Known(Metric::CacheFlush))?;
                rows.push((powerdown, time(run, flush)));
            }
            rows.sort_unstable();
            let mut sum = 0u64;
            let mut ahead = Vec::new();
            for (_, flush) in rows {
                ahead.push(sum);
                sum = sum.saturating_add(flush);
            }
            Some((ahead, sum))
        };
        let Some((now, then)) = ahead(self.new, new).zip(ahead(self.old, old)) else {
            return;
        };
        if !is_close(now.1, then.1, self.tolerance) {
            return;
        }
        let powerdown = |it: &&mut Change| it.metric.is(Metric::Powerdown);
        for change in changes.iter_mut().filter(powerdown) {
            let place = change.place.unwrap_or(0);
            let (Some(now), Some(then)) = (now.0.get(place), then.0.get(place)) else {
                continue;
            };
            let signed = |new: u64, old: u64| i128::from(new) - i128::from(old);
            let by_flush = signed(*now, *then);
            let left = signed(change.new.figure, change.old.figure) - by_flush;
            let is_moved = matches!(change.outcome, Outcome::Better | Outcome::Worse)
                && left.abs() * 4 <= by_flush.abs();
            if is_moved {
                change.outcome = Outcome::Moved;
            }
        }
    }
}

/// Whether two figures are within the tolerance of the larger one.
pub(in super::super) fn is_close(a: u64, b: u64, ppm: u32) -> bool {
    let (a, b) = (u128::from(a), u128::from(b));
    a.abs_diff(b) * 1_000_000 <= a.max(b) * u128::from(ppm)
}

fn outcome(new: &Value, old: &Value, tolerance: u32, tick: u64) -> Outcome {
    if is_close(new.figure, old.figure, tolerance) {
        return Outcome::Same;
    }
    let overlap = |a: (u64, u64), b: (u64, u64)| a.0 <= b.1 && b.0 <= a.1;
    let within = new
        .interval
        .zip(old.interval)
        .is_some_and(|it| overlap(it.0, it.1));
    match new.figure.cmp(&old.figure) {
        _ if within || new.figure.abs_diff(old.figure) <= tick => Outcome::Noise,
        std::cmp::Ordering::Less => Outcome::Better,
        _ => Outcome::Worse,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes() {
        let value = |figure, interval| Value { figure, interval };
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
