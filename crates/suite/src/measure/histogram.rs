//! Latencies counted in bins, because a run of several hours has more samples than fit in memory.
//! Bins are exact below 32 ticks; above that, there are sixteen per power of two, up to
//! [`Histogram::LIMIT`].

use super::statistics::{P99_MIN, Summary, rank};

/// The base-2 logarithm of the number of bins that have the same width.
const BITS: u32 = 4;
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
        let count = &mut self.0[place(ticks).min(BINS)];
        *count = count.saturating_add(1);
    }

    /// Returns the number of samples in each bin, in the same order as [`Self::bins`].
    pub fn counts(&self) -> impl ExactSizeIterator<Item = u32> + DoubleEndedIterator + Clone {
        self.0.iter().copied()
    }

    /// Returns the bins in ascending order, including empty ones.
    pub fn bins(&self) -> impl Iterator<Item = Bin> {
        self.counts().enumerate().map(|(place, count)| {
            let (from, width) = bounds(place);
            let width = if place < BINS { width } else { 0 };
            Bin { from, width, count }
        })
    }

    /// Returns the statistics of all samples. The minimum and maximum are passed in; the other
    /// values are at most 1/16 too low, except above the limit.
    pub fn summary(&self, min: u64, max: u64) -> Summary {
        let total: u64 = self.counts().map(u64::from).sum();
        let n = u32::try_from(total).unwrap_or(u32::MAX);
        let filled = || self.bins().filter(|bin| bin.count > 0);
        let values = || filled().map(|bin| (bin.from.clamp(min, max), u64::from(bin.count)));
        let of_rank = |percent| {
            let mut seen = 0;
            let mut found = values().skip_while(|(_, count)| {
                seen += count;
                seen < rank(n.into(), percent)
            });
            found.next().map_or(0, |(value, _)| value)
        };
        let median = of_rank(50);
        let distances = || values().map(|(value, count)| (value.abs_diff(median), count));
        let has_half = |distance: &u64| {
            let near = distances().filter(|it| it.0 <= *distance);
            near.map(|it| it.1).sum::<u64>() >= rank(n.into(), 50)
        };
        Summary {
            n,
            min: if n > 0 { min } else { 0 },
            median,
            p99: (n >= P99_MIN).then(|| of_rank(99)),
            max: if n > 0 { max } else { 0 },
            mad: distances()
                .map(|it| it.0)
                .filter(has_half)
                .min()
                .unwrap_or(0),
        }
    }
}

fn place(ticks: u64) -> usize {
    let bits = u64::BITS - ticks.leading_zeros();
    // A bin's width doubles with each bit beyond those that select the bin.
    let shift = bits.saturating_sub(BITS + 1);
    shift as usize * HALF + (ticks >> shift) as usize
}

fn bounds(place: usize) -> (u64, u64) {
    let shift = (place / HALF).saturating_sub(1);
    let lead = place - shift * HALF;
    ((lead as u64) << shift, 1 << shift)
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn bins_follow_each_other_without_a_gap() {
        let mut next = 0;
        for (index, bin) in Histogram::default().bins().enumerate() {
            assert_eq!((bin.from, place(bin.from)), (next, index));
            if bin.width > 0 {
                next = bin.from + bin.width;
                assert_eq!(place(next - 1), index);
                assert!(bin.width == 1 || bin.width * 16 <= bin.from);
            }
        }
        assert_eq!(next, Histogram::LIMIT);
    }

    fn of(values: &[u64]) -> Histogram {
        let mut all = Histogram::default();
        values.iter().for_each(|value| all.add(*value));
        all
    }

    #[test]
    fn figures_are_exact_where_bins_are_one_tick_wide_and_near_elsewhere() {
        for n in [0, 1, 2, 99, 100, 101] {
            let mut values: Vec<u64> = (0..n).map(|i| i * i * 7 % 31).collect();
            let all = of(&values);
            let expected = Summary::of(&mut values);
            assert_eq!(all.summary(expected.min, expected.max), expected, "{n}");
        }
        let mut values: Vec<u64> = (0..500u64).map(|i| 1000 + i * i % 9973).collect();
        let all = of(&values);
        let exact = Summary::of(&mut values);
        let found = all.summary(exact.min, exact.max);
        let figures = |it: Summary| [it.median, it.p99.unwrap_or(0)];
        for (is, should) in figures(found).into_iter().zip(figures(exact)) {
            assert!(is <= should && (should - is) * 16 <= should, "{is}");
        }
        assert!(found.mad.abs_diff(exact.mad) * 8 <= exact.mad);
    }
}
