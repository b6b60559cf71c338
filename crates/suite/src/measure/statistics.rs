//! Order statistics of samples, using only integers.
//!
//! * The median and every percentile are measured samples: the p-quantile of n values is the value
//!   of rank ceil(n * p), definition 1 in Hyndman and Fan, "Sample Quantiles in Statistical
//!   Packages", The American Statistician 50 (1996).
//! * MAD is the median absolute deviation from the median, without a scale factor: Rousseeuw and
//!   Croux, "Alternatives to the Median Absolute Deviation", Journal of the American Statistical
//!   Association 88 (1993).
//! * A p-quantile is reported only if n >= 1 / (1 - p).

use core::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// The minimum number of samples for a 99th percentile.
pub const P99_MIN: u32 = 100;

/// Order statistics of one metric's samples, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The number of samples. If there are none, all other fields are 0.
    pub n: u32,
    /// The smallest sample.
    pub min: u64,
    /// The median; for an even number of samples, the lower of the middle two.
    pub median: u64,
    /// The 99th percentile, if there are at least [`P99_MIN`] samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<u64>,
    /// The largest sample.
    pub max: u64,
    /// The median absolute deviation from the median.
    pub mad: u64,
}

impl Summary {
    /// Computes the statistics of `values`. Overwrites the slice, because there is not enough
    /// memory for a copy.
    pub fn compute(values: &mut [u64]) -> Self {
        let median = lower_median(values);
        // `values` is now sorted.
        let (&[min, ..], &[.., max]) = (&*values, &*values) else {
            return Self::default();
        };
        let n = u32::try_from(values.len()).unwrap_or(u32::MAX);
        let p99 = (n >= P99_MIN).then(|| of_rank(values, 99));
        for value in values.iter_mut() {
            *value = value.abs_diff(median);
        }
        Self {
            n,
            min,
            median,
            p99,
            max,
            mad: lower_median(values),
        }
    }
}

/// Sorts `values` and returns the median (the lower of the middle two), or 0 if there are no
/// values.
pub fn lower_median(values: &mut [u64]) -> u64 {
    lower_median_by(values, u64::cmp)
}

/// Does the same as [`lower_median`] for values that are sorted with `compare`.
pub fn lower_median_by<T: Copy + Default>(
    values: &mut [T],
    compare: impl FnMut(&T, &T) -> Ordering,
) -> T {
    values.sort_unstable_by(compare);
    of_rank(values, 50)
}

/// Returns the value of rank ceil(n * percent / 100) among sorted values; 0 if there are none.
fn of_rank<T: Copy + Default>(sorted: &[T], percent: u64) -> T {
    let index = rank(sorted.len() as u64, percent).wrapping_sub(1);
    sorted.get(index as usize).copied().unwrap_or_default()
}

/// Returns the rank of a quantile among `n` values, counting from 1.
pub(super) fn rank(n: u64, percent: u64) -> u64 {
    (n * percent).div_ceil(100)
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn a_summary_has_a_percentile_where_there_are_enough_samples() {
        assert_eq!(Summary::compute(&mut []), Summary::default());
        for (values, median, mad) in [
            (&mut [7][..], 7, 0),
            (&mut [9, 1], 1, 0),
            (&mut [4, 3, 2, 1], 2, 1),
            (&mut [10, 14, 11, 100, 12], 12, 2),
            (&mut [0, u64::MAX, u64::MAX], u64::MAX, 0),
        ] {
            let found = Summary::compute(values);
            assert_eq!((found.median, found.mad), (median, mad));
        }
        for (n, p99) in [(99, None), (100, Some(99)), (101, Some(100))] {
            let mut values: Vec<u64> = (1..=n).rev().collect();
            let summary = Summary::compute(&mut values);
            assert_eq!((u64::from(summary.n), summary.min), (n, 1));
            assert_eq!((summary.median, summary.max), (n.div_ceil(2), n));
            assert_eq!(summary.p99, p99);
        }
    }
}
