//! Latencies counted in bins, because a run of several hours has more samples than fit in memory.
//! Bins are exact below 32 ticks; above that, there are sixteen per power of two, up to
//! [`Histogram::LIMIT`].

use super::statistics::{P99_MIN, Summary, rank};

/// The base-2 logarithm of the number of bins that have the same width.
const BITS: u32 = 4;
/// The number of bins that have the same width.
const HALF: usize = 1 << BITS;
/// The number of bits in a tick count below the limit.
const LIMIT_BITS: u32 = 24;
/// The number of bins below the limit.
const BINS: usize = (LIMIT_BITS - BITS + 1) as usize * HALF;

/// The number of samples in each bin. The last bin counts all samples at or above the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Histogram([u32; BINS + 1]);

/// The samples in a range of latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bin {
    /// The lowest latency in the bin, in ticks.
    pub from: u64,
    /// The width in ticks; 0 if the bin has no upper limit.
    pub width: u64,
    /// The number of samples in the bin.
    pub count: u32,
}

impl Default for Histogram {
    fn default() -> Self {
        Self([0; BINS + 1])
    }
}

impl Histogram {
    /// Samples of this many ticks or more are counted together.
    pub const LIMIT: u64 = 1 << LIMIT_BITS;

    /// Counts a sample.
    pub fn add(&mut self, ticks: u64) {
        let count = &mut self.0[bin_index(ticks).min(BINS)];
        *count = count.saturating_add(1);
    }

    /// Returns the number of samples in each bin, in the same order as [`Self::bins`].
    pub fn counts(&self) -> impl ExactSizeIterator<Item = u32> + DoubleEndedIterator + Clone {
        self.0.iter().copied()
    }

    /// Returns the bins in ascending order, including empty ones.
    pub fn bins(&self) -> impl Iterator<Item = Bin> {
        self.counts().enumerate().map(|(index, count)| Bin {
            from: bin_start(index),
            width: if index < BINS { bin_width(index) } else { 0 },
            count,
        })
    }

    /// Returns the statistics of all samples. The minimum and maximum are passed in; the other
    /// values are at most 1/16 too low, except above the limit.
    pub fn summary(&self, min: u64, max: u64) -> Summary {
        let total: u64 = self.counts().map(u64::from).sum();
        let n = u32::try_from(total).unwrap_or(u32::MAX);
        let filled_bins = || self.bins().filter(|bin| bin.count > 0);
        let values = || filled_bins().map(|bin| (bin.from.clamp(min, max), u64::from(bin.count)));
        let value_of_rank = |percent| {
            let mut seen = 0;
            let reaches_rank = |(_, count): &(u64, u64)| {
                seen += count;
                seen >= rank(n.into(), percent)
            };
            values().find(reaches_rank).map_or(0, |(value, _)| value)
        };
        let median = value_of_rank(50);
        let distances = || values().map(|(value, count)| (value.abs_diff(median), count));
        // The smallest distance within which half of the samples lie.
        let mut mad = None;
        for (distance, _) in distances() {
            let mut within = 0;
            for (other, count) in distances() {
                if other <= distance {
                    within += count;
                }
            }
            if within >= rank(n.into(), 50) && mad.is_none_or(|least| distance < least) {
                mad = Some(distance);
            }
        }
        Summary {
            n,
            min: if n > 0 { min } else { 0 },
            median,
            p99: (n >= P99_MIN).then(|| value_of_rank(99)),
            max: if n > 0 { max } else { 0 },
            mad: mad.unwrap_or(0),
        }
    }
}

/// Returns the index of the bin that contains `ticks`, as if there were no limit.
fn bin_index(ticks: u64) -> usize {
    let bits = u64::BITS - ticks.leading_zeros();
    // A bin's width doubles with each bit beyond those that select the bin.
    let shift = bits.saturating_sub(BITS + 1);
    shift as usize * HALF + (ticks >> shift) as usize
}

/// Returns the lowest latency in a bin, in ticks.
fn bin_start(index: usize) -> u64 {
    let shift = bin_shift(index);
    ((index - shift * HALF) as u64) << shift
}

/// Returns the width of a bin, in ticks.
fn bin_width(index: usize) -> u64 {
    1 << bin_shift(index)
}

/// Returns the base-2 logarithm of a bin's width.
fn bin_shift(index: usize) -> usize {
    (index / HALF).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn bins_follow_each_other_without_a_gap() {
        let mut next = 0;
        for (index, bin) in Histogram::default().bins().enumerate() {
            assert_eq!((bin.from, bin_index(bin.from)), (next, index));
            if bin.width > 0 {
                next = bin.from + bin.width;
                assert_eq!(bin_index(next - 1), index);
                assert!(bin.width == 1 || bin.width * 16 <= bin.from);
            }
        }
        assert_eq!(next, Histogram::LIMIT);
    }

    fn histogram_of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        values.iter().for_each(|value| histogram.add(*value));
        histogram
    }

    #[test]
    fn figures_are_exact_where_bins_are_one_tick_wide_and_near_elsewhere() {
        for n in [0, 1, 2, 99, 100, 101] {
            let mut values: Vec<u64> = (0..n).map(|index| index * index * 7 % 31).collect();
            let histogram = histogram_of(&values);
            let expected = Summary::compute(&mut values);
            let summary = histogram.summary(expected.min, expected.max);
            assert_eq!(summary, expected, "{n}");
        }
        let mut values: Vec<u64> = (0..500u64)
            .map(|index| 1000 + index * index % 9973)
            .collect();
        let histogram = histogram_of(&values);
        let exact = Summary::compute(&mut values);
        let summary = histogram.summary(exact.min, exact.max);
        let quantiles = |summary: Summary| [summary.median, summary.p99.unwrap_or(0)];
        for (found, expected) in quantiles(summary).into_iter().zip(quantiles(exact)) {
            let is_near = found <= expected && (expected - found) * 16 <= expected;
            assert!(is_near, "{found} {expected}");
        }
        assert!(summary.mad.abs_diff(exact.mad) * 8 <= exact.mad);
    }
}
