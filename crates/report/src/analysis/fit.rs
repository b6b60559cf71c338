//! Figures as a function of the quantity that a scenario varies: curves, and straight lines fitted
//! to them.

use hardware::spec::ticks::Clock;
use itertools::Itertools as _;
use suite::measure::Metric;
use suite::model::{CellSeries, Scenario};
use suite::plan::Variant;
use suite::plan::{ActiveCpus, ScenarioId};

use super::figure::{FigureKey, is_sorted_by_size};
use crate::log::grouped::grouped;

/// The minimum coefficient of determination at which growth is reported.
const R2_SOME: f64 = 0.5;

/// A figure as a function of `x`, all else being equal.
#[derive(Clone, Debug)]
pub struct Curve<'r> {
    pub metric: Metric,
    pub how: ActiveCpus,
    pub variant: Variant,
    /// Sorted by `x`.
    pub at: Vec<At<'r>>,
}

/// The figures for one `x`.
#[derive(Clone, Debug)]
pub struct At<'r> {
    pub x: u64,
    /// All CPUs' figures, sorted by median.
    pub all: Vec<CellSeries<'r>>,
}

impl<'r> At<'r> {
    /// Returns the representative figure, which is the figure for the last CPU to get through a
    /// queue or, without a queue, the median figure (the lower of the two middle ones).
    pub fn typical(&self, is_queue: bool) -> Option<CellSeries<'r>> {
        match is_queue {
            true => self.all.last().copied(),
            false => self.all.get(self.all.len().saturating_sub(1) / 2).copied(),
        }
    }
}

impl Curve<'_> {
    /// Returns each `x` with its representative figure per operation.
    pub fn points(&self, clock: Clock, is_queue: bool) -> Vec<(f64, f64)> {
        let each = self.at.iter().filter_map(|at| {
            let it = at.typical(is_queue)?;
            let median = it.series.summary.median;
            let figure = FigureKey::of(it).per_operation(clock, median);
            Some((at.x as f64, figure))
        });
        each.collect()
    }

    /// Returns the line of best fit; None if the figures do not grow linearly. A sweep's finding
    /// uses the same criteria.
    pub fn growth(&self, clock: Clock, id: ScenarioId) -> Option<Bent> {
        let is_queue = is_sorted_by_size(id);
        let points = self.points(clock, is_queue);
        let fit = match is_queue {
            // The delay in a queue can grow without limit, but the amount of dirty data in a cache
            // cannot.
            true => Straight::through(&points).map(|line| Bent { line, level: None }),
            false if is_level(extent(&points)?) => None,
            false => Bent::through(&points),
        };
        fit.filter(|bent| bent.line.is_growth())
    }
}

/// Returns the smallest and largest figures in `points`.
pub(super) fn extent(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let figures = points.iter().map(|point| point.1);
    figures.minmax_by(|a, b| a.total_cmp(b)).into_option()
}

/// Returns true if figures between `least` and `most` differ by at most 2 %.
pub(super) fn is_level((least, most): (f64, f64)) -> bool {
    most - least <= most / 50.0
}

/// Returns all of a scenario's curves that have at least two values of `x`.
pub fn curves(scenario: &Scenario) -> Vec<Curve<'_>> {
    let all = scenario.step_series();
    let all = all.filter(|series| series.series.summary.n > 0);
    let keys = all.filter_map(|series| {
        let step = series.cell.step;
        let key = (series.series.metric, step.cpus, step.variant);
        Some((key, (step.value?, series)))
    });
    let each = grouped(keys).into_iter().map(|(key, points)| {
        let at = grouped(points.into_iter()).into_iter().map(|(x, mut all)| {
            all.sort_by_key(|series| (series.series.summary.median, series.cell.cpu));
            At { x, all }
        });
        Curve {
            metric: key.0,
            how: key.1,
            variant: key.2,
            at: at.sorted_by_key(|at| at.x).collect(),
        }
    });
    each.filter(|curve| curve.at.len() > 1).collect()
}

/// A straight line fitted by ordinary least squares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Straight {
    pub n: usize,
    pub slope: f64,
    pub at_zero: f64,
    /// The coefficient of determination, from 0 to 1.
    pub r2: f64,
    /// The maximum deviation of a point from the line.
    pub residual: f64,
    /// The sum of the squared residuals.
    rest: f64,
}

impl Straight {
    /// Returns the line; None if there are fewer than three points or all have the same `x`.
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        if points.len() < 3 {
            return None;
        }
        let n = points.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
        let (mx, my) = (mean(|point| point.0), mean(|point| point.1));
        let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
        for (x, y) in points {
            xx += (x - mx) * (x - mx);
            xy += (x - mx) * (y - my);
            yy += (y - my) * (y - my);
        }
        if xx <= 0.0 {
            return None;
        }
        let slope = xy / xx;
        let at_zero = my - slope * mx;
        let off = |point: &(f64, f64)| point.1 - (at_zero + slope * point.0);
        Some(Self {
            n: points.len(),
            slope,
            at_zero,
            r2: match yy > 0.0 {
                true => (xy * xy / (xx * yy)).min(1.0),
                false => 1.0,
            },
            residual: points
                .iter()
                .map(|point| off(point).abs())
                .fold(0.0, f64::max),
            rest: points.iter().map(|point| off(point) * off(point)).sum(),
        })
    }

    /// Returns true if the figures grow linearly.
    pub fn is_growth(&self) -> bool {
        self.r2 >= R2_SOME && self.slope > 0.0
    }

    pub fn at(&self, x: f64) -> f64 {
        self.at_zero + self.slope * x
    }

    /// Returns `r2` in percent, rounded down so that only a perfect fit yields 100.
    pub fn r2_percent(&self) -> u8 {
        // Because of rounding errors, `r2` may be slightly less than 1.
        (self.r2 * 100.0 + 1e-9).floor().clamp(0.0, 100.0) as u8
    }
}

/// A straight line that levels off at some `x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bent {
    pub line: Straight,
    /// The `x` at which the line levels off and the value there, or None if it does not level off.
    pub level: Option<(f64, f64)>,
}

impl Bent {
    /// Fits a line to all of `points`, or a line to the first points (at least three) and a
    /// constant to the others (at least two) if that reduces the sum of squares to less than a
    /// quarter.
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        let line = Straight::through(points)?;
        let mut best = (line.rest / 4.0, Self { line, level: None });
        for split in 3..points.len().saturating_sub(1) {
            let (first, others) = points.split_at(split);
            let level = others.iter().map(|point| point.1).sum::<f64>() / others.len() as f64;
            let Some(line) = Straight::through(first) else {
                continue;
            };
            let off = others
                .iter()
                .map(|point| (point.1 - level) * (point.1 - level));
            let rest = line.rest + off.sum::<f64>();
            if rest < best.0 && line.slope > 0.0 {
                let end = (level - line.at_zero) / line.slope;
                let level = Some((end, level));
                best = (rest, Self { line, level });
            }
        }
        Some(best.1)
    }

    pub fn at(&self, x: f64) -> f64 {
        match self.level {
            Some((end, level)) if x >= end => level,
            _ => self.line.at(x),
        }
    }
}
