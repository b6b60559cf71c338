//! The range of values that noise alone can explain.
//!
//! A median's interval is its notch as defined by McGill, Tukey and Larsen, "Variations of Box
//! Plots", The American Statistician 32 (1978): median +- 1.57 IQR / sqrt(n). Two medians whose
//! notches do not overlap differ significantly, at about the 5 % level. The records contain the MAD
//! but no quartiles. If samples are symmetric about their median, the IQR is twice the MAD, and the
//! notch is 3.14 MAD / sqrt(n). No random numbers are used, so the same input always gives the same
//! output.
//!
//! The MAD is often 0 because ticks are coarse, so the interval extends at least one tick to either
//! side. With fewer than six samples, the interval is the full range of samples, although even the
//! full range does not contain the median with 95 % confidence (1 - 2 / 2^n).

use suite::measure::{Histogram, Metric, Summary};
use suite::model::Scenario;

/// The minimum number of samples for which the notch is used.
const SAMPLES_MIN: u32 = 6;

/// The notch in units of the MAD, if the IQR is twice the MAD.
const NOTCH: f64 = 1.57 * 2.0;

/// Returns a median's interval in ticks; None for a single sample.
pub(super) fn notch(summary: &Summary) -> Option<(u64, u64)> {
    match summary.n {
        0 | 1 => None,
        2..SAMPLES_MIN => Some((summary.min, summary.max)),
        n => {
            let exact = NOTCH * summary.mad as f64 / f64::from(n).sqrt();
            let half = (exact.ceil() as u64).max(1);
            let median = summary.median;
            Some((median.saturating_sub(half), median.saturating_add(half)))
        }
    }
}

/// Returns the interval for a median that is the lower bound of a histogram bin. The true median
/// can be anywhere in the bin.
pub(super) fn notch_of_bin(summary: &Summary) -> Option<(u64, u64)> {
    let (low, high) = notch(summary)?;
    let bins = Histogram::default();
    let bin = bins
        .bins()
        .take_while(|bin| bin.from <= summary.median)
        .last();
    // The last bin has no upper bound.
    let room = bin.map_or(0, |bin| bin.width.checked_sub(1).unwrap_or(u64::MAX));
    let most = summary.max.max(high);
    Some((low, high.saturating_add(room).min(most)))
}

/// Returns the statistics for each position over all rounds of a parallel scenario. A position is a
/// CPU's rank by `metric` within its round. Returns None if a sample is missing.
pub(super) fn by_position(scenario: &Scenario, metric: Metric) -> Option<Vec<Summary>> {
    let cells = scenario.suite_cells();
    let rounds = cells.first()?.samples.len();
    let valid = u32::try_from(rounds).ok()?;
    let has_all = cells
        .iter()
        .all(|cell| cell.samples.len() == rounds && cell.valid() == valid);
    if rounds < 2 || !has_all {
        return None;
    }
    let mut positions = vec![Vec::with_capacity(rounds); cells.len()];
    let mut samples: Vec<_> = cells.iter().map(|cell| cell.samples.iter()).collect();
    for _ in 0..rounds {
        let mut round = samples
            .iter_mut()
            .map(|samples| samples.next()?.instants.metric(metric))
            .collect::<Option<Vec<u64>>>()?;
        round.sort_unstable();
        for (position, figure) in positions.iter_mut().zip(round) {
            position.push(figure);
        }
    }
    let summaries = positions
        .iter_mut()
        .map(|figures| Summary::compute(figures));
    Some(summaries.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notches_are_of_few_and_of_many_samples() {
        let wide = [vec![96; 5], vec![100; 6], vec![104; 5]].concat();
        for (mut values, expected) in [
            (vec![7], None),
            (vec![7, 9, 30], Some((7, 30))),
            // MAD 0: one tick.
            (vec![7, 7, 7, 7, 7, 9], Some((6, 8))),
            // With 16 samples and a MAD of 4, the notch is 3.14.
            (wide, Some((96, 104))),
        ] {
            assert_eq!(
                notch(&Summary::compute(&mut values)),
                expected,
                "{values:?}"
            );
        }
        let median = 1024;
        let max = 5000;
        let summary = |median| Summary {
            n: 9,
            median,
            max,
            ..Summary::default()
        };
        assert_eq!(notch_of_bin(&summary(median)), Some((1023, 1025 + 63)));
        assert_eq!(notch_of_bin(&summary(31)), Some((30, 32)));
    }
}
