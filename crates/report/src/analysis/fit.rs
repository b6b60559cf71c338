//! Figures as a function of the quantity that a scenario varies: curves, and straight lines fitted
//! to them.

use hardware::spec::ticks::Clock;
use itertools::Itertools as _;
use suite::measure::Metric;
use suite::model::{CellSeries, Scenario};
use suite::plan::{ActiveCpus, ScenarioId, Variant};

use super::figure::{FigureKey, is_sorted_by_size};
use crate::log::grouped::grouped;

/// The minimum coefficient of determination at which growth is reported.
const R2_SOME: f64 = 0.5;

/// A figure as a function of the varied value, all else being equal.
#[derive(Clone, Debug)]
pub struct Curve<'r> {
    pub metric: Metric,
    pub cpus: ActiveCpus,
    pub variant: Variant,
    /// Sorted by value.
    pub points: Vec<CurvePoint<'r>>,
}

/// The figures for one value.
#[derive(Clone, Debug)]
pub struct CurvePoint<'r> {
    pub value: u64,
    /// All CPUs' figures, sorted by median.
    pub series: Vec<CellSeries<'r>>,
}

impl<'r> CurvePoint<'r> {
    /// Returns the representative figure: in a queue, that of the last CPU to get through it;
    /// otherwise the lower median.
    pub fn typical(&self, is_queue: bool) -> Option<CellSeries<'r>> {
        let last = self.series.len().checked_sub(1)?;
        Some(self.series[if is_queue { last } else { last / 2 }])
    }
}

impl Curve<'_> {
    /// Returns each value with its representative figure per operation.
    pub fn points(&self, clock: Clock, is_queue: bool) -> Vec<(f64, f64)> {
        let points = self.points.iter().filter_map(|point| {
            let typical = point.typical(is_queue)?;
            let median = typical.series.summary.median;
            let figure = FigureKey::of(typical).per_operation(clock, median);
            Some((point.value as f64, figure))
        });
        points.collect()
    }

    /// Returns the line of best fit; None if the figures do not grow linearly. A sweep's finding
    /// uses the same criteria.
    pub fn growth(&self, clock: Clock, id: ScenarioId) -> Option<LevelingFit> {
        let is_queue = is_sorted_by_size(id);
        let points = self.points(clock, is_queue);
        // The delay in a queue can grow without limit, but the amount of dirty data in a cache
        // cannot.
        let fit = if is_queue {
            let line = LinearFit::through(&points)?;
            LevelingFit { line, level: None }
        } else if is_level(extent(&points)?) {
            return None;
        } else {
            LevelingFit::through(&points)?
        };
        fit.line.is_growth().then_some(fit)
    }
}

/// Returns the smallest and largest figures in `points`.
pub(super) fn extent(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    points
        .iter()
        .map(|(_, figure)| *figure)
        .minmax_by(|a, b| a.total_cmp(b))
        .into_option()
}

/// Returns true if figures between `least` and `most` differ by at most 2 %.
pub(super) fn is_level((least, most): (f64, f64)) -> bool {
    most - least <= most / 50.0
}

/// Returns all of a scenario's curves that have at least two values.
pub fn curves(scenario: &Scenario) -> Vec<Curve<'_>> {
    let points = scenario
        .step_series()
        .filter(|cell_series| cell_series.series.summary.n > 0)
        .filter_map(|cell_series| {
            let step = cell_series.cell.step;
            let key = (cell_series.series.metric, step.cpus, step.variant);
            Some((key, (step.value?, cell_series)))
        });
    let curves = grouped(points).into_iter().map(|(key, points)| {
        let (metric, cpus, variant) = key;
        let by_value = grouped(points.into_iter()).into_iter();
        let points = by_value.map(|(value, mut series)| {
            series.sort_by_key(|cell_series| {
                (cell_series.series.summary.median, cell_series.cell.cpu)
            });
            CurvePoint { value, series }
        });
        Curve {
            metric,
            cpus,
            variant,
            points: points.sorted_by_key(|point| point.value).collect(),
        }
    });
    curves.filter(|curve| curve.points.len() > 1).collect()
}

/// A straight line fitted by ordinary least squares.
///
/// Holding one proves that there are at least three points with more than one value. It does not
/// prove that the line fits: see [`Self::is_growth`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearFit {
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

impl LinearFit {
    /// Returns the line; None if there are fewer than three points or all have the same `x`.
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        if points.len() < 3 {
            return None;
        }
        let n = points.len() as f64;
        let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / n;
        let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / n;
        let mut xx = 0.0;
        let mut xy = 0.0;
        let mut yy = 0.0;
        for (x, y) in points {
            xx += (x - mean_x) * (x - mean_x);
            xy += (x - mean_x) * (y - mean_y);
            yy += (y - mean_y) * (y - mean_y);
        }
        if xx <= 0.0 {
            return None;
        }
        let slope = xy / xx;
        let at_zero = mean_y - slope * mean_x;
        let deviations = points.iter().map(|(x, y)| y - (at_zero + slope * x));
        Some(Self {
            n: points.len(),
            slope,
            at_zero,
            r2: if yy > 0.0 {
                (xy * xy / (xx * yy)).min(1.0)
            } else {
                1.0
            },
            residual: deviations.clone().map(f64::abs).fold(0.0, f64::max),
            rest: deviations.map(|deviation| deviation * deviation).sum(),
        })
    }

    /// Returns true if the figures grow linearly.
    pub fn is_growth(&self) -> bool {
        self.r2 >= R2_SOME && self.slope > 0.0
    }

    /// Returns the line's value at `x`.
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
pub struct LevelingFit {
    pub line: LinearFit,
    /// The `x` at which the line levels off and the value there, or None if it does not level off.
    pub level: Option<(f64, f64)>,
}

impl LevelingFit {
    /// Fits a line to all of `points`, or a line to the first points (at least three) and a
    /// constant to the others (at least two) if that reduces the sum of squares to less than a
    /// quarter.
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        let whole = LinearFit::through(points)?;
        let mut best = Self {
            line: whole,
            level: None,
        };
        let mut least = whole.rest / 4.0;
        for split in 3..points.len().saturating_sub(1) {
            let (first, others) = points.split_at(split);
            let Some(line) = LinearFit::through(first) else {
                continue;
            };
            let level = others.iter().map(|(_, y)| y).sum::<f64>() / others.len() as f64;
            let deviations = others.iter().map(|(_, y)| y - level);
            let squares = deviations.map(|deviation| deviation * deviation);
            let rest = line.rest + squares.sum::<f64>();
            if rest < least && line.slope > 0.0 {
                let end = (level - line.at_zero) / line.slope;
                least = rest;
                best = Self {
                    line,
                    level: Some((end, level)),
                };
            }
        }
        Some(best)
    }

    /// Returns the value at `x`, which is constant beyond the end of the line.
    pub fn at(&self, x: f64) -> f64 {
        match self.level {
            Some((end, level)) if x >= end => level,
            _ => self.line.at(x),
        }
    }
}
