//! Points over what was varied: series, and straight lines through them.

use psci_bench::model::{How, Measure};

use crate::report::model::{Measured, Run, Term, Test};

/// A figure over `x`, in one circumstance.
#[derive(Clone, Debug)]
pub(crate) struct Series<'r> {
    pub(crate) metric: &'r Term<Measure>,
    pub(crate) how: &'r Term<How>,
    pub(crate) variant: &'r str,
    /// In the order of `x`.
    pub(crate) at: Vec<At<'r>>,
}

/// The points at one `x`.
#[derive(Clone, Debug)]
pub(crate) struct At<'r> {
    pub(crate) x: u64,
    /// Those of all CPUs, the least median first.
    pub(crate) all: Vec<&'r Measured>,
}

impl<'r> At<'r> {
    /// The point whose median stands for all: where CPUs wait for each other
    /// that of the last to get through, else the median, the lower of two.
    pub(crate) fn typical(&self, queue: bool) -> Option<&'r Measured> {
        match queue {
            true => self.all.last().copied(),
            false => self.all.get(self.all.len().saturating_sub(1) / 2).copied(),
        }
    }
}

impl Series<'_> {
    /// `x` and the figure that stands for it, of one operation.
    pub(crate) fn points(&self, run: &Run, queue: bool) -> Vec<(f64, f64)> {
        let each = self.at.iter().filter_map(|at| {
            let point = at.typical(queue)?;
            Some((at.x as f64, point.each(run, point.summary.median)))
        });
        each.collect()
    }
}

/// All series of a scenario with an `x`; those of fewer than two are none.
pub(crate) fn series(test: &Test) -> Vec<Series<'_>> {
    let mut all: Vec<Series<'_>> = Vec::new();
    for point in &test.points {
        let Some(x) = point.x else { continue };
        let own = |it: &Series<'_>| {
            (it.metric, it.how, it.variant) == (&point.metric, &point.how, point.variant.as_str())
        };
        let at = all.iter().position(own).unwrap_or_else(|| {
            all.push(Series {
                metric: &point.metric,
                how: &point.how,
                variant: &point.variant,
                at: Vec::new(),
            });
            all.len() - 1
        });
        let points = &mut all[at].at;
        match points.iter_mut().find(|it| it.x == x) {
            Some(it) => it.all.push(point),
            None => points.push(At {
                x,
                all: vec![point],
            }),
        }
    }
    for series in &mut all {
        series.at.sort_by_key(|it| it.x);
        for at in &mut series.at {
            at.all.sort_by_key(|it| (it.summary.median, it.cpu));
        }
    }
    all.retain(|it| it.at.len() > 1);
    all
}

/// A straight line by ordinary least squares, and what it leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Straight {
    pub(super) n: usize,
    pub(crate) slope: f64,
    pub(super) at_zero: f64,
    /// Coefficient of determination, 0 to 1.
    pub(crate) r2: f64,
    /// The greatest distance of a point from the line.
    pub(super) residual: f64,
    /// The sum of the squares of these distances.
    rest: f64,
}

impl Straight {
    /// None for fewer than three points, and for points of one `x`.
    pub(super) fn through(points: &[(f64, f64)]) -> Option<Self> {
        if points.len() < 3 {
            return None;
        }
        let n = points.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
        let (mx, my) = (mean(|it| it.0), mean(|it| it.1));
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
        let off = |it: &(f64, f64)| it.1 - (at_zero + slope * it.0);
        Some(Self {
            n: points.len(),
            slope,
            at_zero,
            r2: if yy > 0.0 {
                (xy * xy / (xx * yy)).min(1.0)
            } else {
                1.0
            },
            residual: points.iter().map(|it| off(it).abs()).fold(0.0, f64::max),
            rest: points.iter().map(|it| off(it) * off(it)).sum(),
        })
    }

    pub(super) fn at(&self, x: f64) -> f64 {
        self.at_zero + self.slope * x
    }
}

/// What grows in a straight line, and stays where it is from some `x` on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bent {
    pub(crate) line: Straight,
    /// Where it has come to its end, and what it stays at.
    pub(super) level: Option<(f64, f64)>,
}

impl Bent {
    /// The line through all of `points`; or through the first of them, three at
    /// least, and a level through the others, two at least, where that leaves
    /// less than a quarter of what the one line does.
    pub(crate) fn through(points: &[(f64, f64)]) -> Option<Self> {
        let line = Straight::through(points)?;
        let mut best = (line.rest / 4.0, Self { line, level: None });
        for split in 3..points.len().saturating_sub(1) {
            let (first, others) = points.split_at(split);
            let level = others.iter().map(|it| it.1).sum::<f64>() / others.len() as f64;
            let Some(line) = Straight::through(first) else {
                continue;
            };
            let off = others.iter().map(|it| (it.1 - level) * (it.1 - level));
            let rest = line.rest + off.sum::<f64>();
            if rest < best.0 && line.slope > 0.0 {
                let end = (level - line.at_zero) / line.slope;
                let level = Some((end, level));
                best = (rest, Self { line, level });
            }
        }
        Some(best.1)
    }

    pub(crate) fn at(&self, x: f64) -> f64 {
        match self.level {
            Some((end, level)) if x >= end => level,
            _ => self.line.at(x),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let points: Vec<(f64, f64)> = (0..5)
            .map(|x| (f64::from(x), 7.0 + 2.0 * f64::from(x)))
            .collect();
        let line = Straight::through(&points).expect("a line");
        assert_eq!(
            (line.slope, line.at_zero, line.r2, line.n),
            (2.0, 7.0, 1.0, 5)
        );
        assert!(line.residual < 1e-9);
        let bent = Bent::through(&points).expect("a line");
        assert_eq!((bent.level, bent.at(10.0)), (None, 27.0));
        assert_eq!(Straight::through(&points[..2]), None);
        assert_eq!(Straight::through(&[(1.0, 2.0); 4]), None);
        let flat = Straight::through(&[(0.0, 3.0), (1.0, 3.0), (2.0, 3.0)]).expect("a line");
        assert_eq!((flat.slope, flat.r2), (0.0, 1.0));
    }

    #[test]
    fn what_fills_up() {
        // 3 a step up to 8, and then no more: in doubling steps.
        let xs = [0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        let points: Vec<(f64, f64)> = xs
            .iter()
            .map(|x: &f64| (*x, 5.0 + 3.0 * x.min(8.0)))
            .collect();
        let bent = Bent::through(&points).expect("a line");
        let (end, level) = bent.level.expect("it fills up");
        assert!(
            (end - 8.0).abs() < 1e-6 && (level - 29.0).abs() < 1e-6,
            "{bent:?}"
        );
        assert!((bent.line.slope - 3.0).abs() < 1e-9);
        assert_eq!(bent.at(1000.0), level);
        assert_eq!(bent.line.n, 4);
    }
}
