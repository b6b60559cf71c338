//! What noise allows a figure to be.
//!
//! The interval of a median is the notch of McGill, Tukey and Larsen,
//! "Variations of Box Plots", The American Statistician 32 (1978): median
//! +- 1.57 IQR / sqrt(n). Two medians whose notches do not overlap differ at
//! about the 5 % level. The records have MAD and no quartiles: for samples
//! that lie alike on both sides of their median IQR is twice MAD, which makes
//! it 3.14 MAD / sqrt(n). Nothing is drawn at random, so that a comparison
//! says the same each time.
//!
//! MAD is often 0, as a tick is coarse: the interval is never less than a tick
//! to either side. Of fewer than six samples no interval of the median between
//! two of them holds with 95 % (1 - 2 / 2^n), and the interval is from the
//! least to the greatest.
//!
//! In parallel, one round is shown. With every sample there, the figures of
//! each round are sorted, and a place in the order has its median and notch.
//! Without, the shown figures are compared, and the notch is that of the median
//! of the CPU whose figure it is: as wide as that CPU's samples spread, its
//! changing place in the queue included.

use psci_bench::measure::{Metric, Summary};

use super::change::Value;
use crate::report::model::{Run, Term, Test};

/// The fewest samples of which the median has an interval of its own.
const SAMPLES_MIN: u32 = 6;

/// The notch in MAD: IQR is taken as twice that.
const NOTCH: f64 = 1.57 * 2.0;

/// A duration of `run` in what the comparison is in: nanoseconds, or ticks.
pub(super) fn time(run: &Run, ticks: u64) -> u64 {
    run.ns(ticks).unwrap_or(ticks)
}

/// A single measurement.
pub(super) fn single(run: &Run, ticks: u64) -> Value {
    Value {
        figure: time(run, ticks),
        interval: None,
        doubtful: false,
    }
}

/// A figure of one round of many, whose CPU's samples are told by `summary`.
pub(super) fn of_round(run: &Run, ticks: u64, summary: Option<&Summary>) -> Value {
    Value {
        interval: summary.and_then(|it| median(run, it).interval),
        ..single(run, ticks)
    }
}

/// The interval of a median in ticks; None of a single sample.
pub(in crate::report) fn notch(summary: &Summary) -> Option<(u64, u64)> {
    match summary.n {
        0 | 1 => None,
        2..SAMPLES_MIN => Some((summary.min, summary.max)),
        n => {
            let half = (NOTCH * summary.mad as f64 / f64::from(n).sqrt()).ceil();
            let half = (half as u64).max(1);
            Some((
                summary.median.saturating_sub(half),
                summary.median.saturating_add(half),
            ))
        }
    }
}

/// The median of several.
pub(super) fn median(run: &Run, summary: &Summary) -> Value {
    let interval = notch(summary).map(|(low, high)| (time(run, low), time(run, high)));
    Value {
        figure: time(run, summary.median),
        interval,
        doubtful: false,
    }
}

/// The figures of a parallel scenario sorted, for each round that all CPUs
/// have: one summary for each place in the order. None where a sample lacks.
pub(super) fn by_place(test: &Test, metric: &Term<Metric>) -> Option<Vec<Summary>> {
    let known = metric.known()?;
    let rounds = test.rows.first()?.samples.len();
    let whole = |len: usize, valid: Option<u32>| len == rounds && valid == u32::try_from(len).ok();
    if rounds < 2
        || !test
            .rows
            .iter()
            .all(|row| whole(row.samples.len(), row.valid))
    {
        return None;
    }
    let mut places = vec![Vec::with_capacity(rounds); test.rows.len()];
    let mut figures = Vec::with_capacity(test.rows.len());
    for round in 0..rounds {
        figures.clear();
        for row in &test.rows {
            figures.push(row.samples.get(round)?.instants.figure(known)?);
        }
        figures.sort_unstable();
        for (place, figure) in places.iter_mut().zip(&figures) {
            place.push(*figure);
        }
    }
    Some(places.iter_mut().map(|all| Summary::of(all)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals() {
        let run = Run::default();
        let of = |values: &[u64]| median(&run, &Summary::of(&mut values.to_vec())).interval;
        assert_eq!(of(&[7]), None);
        assert_eq!(of(&[7, 9, 30]), Some((7, 30)));
        // MAD 0: a tick.
        assert_eq!(of(&[7, 7, 7, 7, 7, 9]), Some((6, 8)));
        // 16 samples, MAD 4: 3.14.
        let wide: Vec<u64> = (0..16)
            .map(|k| if k < 8 { 100 } else { 104 + k % 2 * 4 })
            .collect();
        let summary = Summary::of(&mut wide.clone());
        let half = (NOTCH * summary.mad as f64 / 4.0).ceil() as u64;
        assert_eq!(
            of(&wide),
            Some((summary.median - half.max(1), summary.median + half.max(1)))
        );
    }
}
