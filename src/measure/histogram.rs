//! Latencies counted in bins: room for any number of samples.
//!
//! A run may last for hours, and to keep each sample would take gigabytes. The
//! bins are as wide as 1/16 of what is in them at most: exact below 32 ticks,
//! and then sixteen to each power of two, up to [`Histogram::LIMIT`]. What is
//! not below that is counted together.

use super::statistics::{P99_MIN, Summary};

/// Bins of a width, as a power of two.
const BITS: u32 = 4;
/// `BITS` as a number.
const HALF: usize = 1 << BITS;
/// Ticks below the limit have so many bits.
const LIMIT_BITS: u32 = 24;
/// Number of bins below the limit.
const BINS: usize = (LIMIT_BITS - BITS + 1) as usize * HALF;

/// The number of samples in each bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Histogram {
    counts: [u32; BINS],
    beyond: u32,
}

/// Samples from one latency up to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bin {
    /// The least latency in it, in ticks.
    pub from: u64,
    /// The width in ticks; 0: everything from there on.
    pub width: u64,
    /// Samples in it.
    pub count: u32,
}

impl Histogram {
    /// Ticks from which on samples are counted together.
    pub const LIMIT: u64 = 1 << LIMIT_BITS;

    /// Without a sample.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            counts: [0; BINS],
            beyond: 0,
        }
    }

    /// Counts a sample.
    pub fn add(&mut self, ticks: u64) {
        match self.counts.get_mut(place(ticks)) {
            Some(count) => *count = count.saturating_add(1),
            None => self.beyond = self.beyond.saturating_add(1),
        }
    }

    /// All samples that were counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.bins().map(|bin| u64::from(bin.count)).sum()
    }

    /// Returns the samples in each bin, in the order of [`Self::bins`].
    pub fn counts(&self) -> impl DoubleEndedIterator<Item = u32> + Clone {
        self.counts.iter().copied().chain([self.beyond])
    }

    /// The bins by what is in them, the empty ones too; the last is what is
    /// beyond the limit.
    pub fn bins(&self) -> impl DoubleEndedIterator<Item = Bin> + Clone {
        let bin = |(place, count): (usize, &u32)| {
            let (from, width) = bounds(place);
            let count = *count;
            Bin { from, width, count }
        };
        let beyond = Bin {
            from: Self::LIMIT,
            width: 0,
            count: self.beyond,
        };
        self.counts
            .iter()
            .enumerate()
            .map(bin)
            .chain(core::iter::once(beyond))
    }

    /// The statistics of all samples, of which the least and the greatest are
    /// known. Median, percentile and MAD are of the least latency of each bin,
    /// so at most 1/16 too small, but for what is beyond the limit.
    #[must_use]
    pub fn summary(&self, min: u64, max: u64) -> Summary {
        let n = u32::try_from(self.total()).unwrap_or(u32::MAX);
        if n == 0 {
            return Summary::default();
        }
        let values = || self.bins().map(|bin| (bin.from.clamp(min, max), bin.count));
        let median = of_rank(values(), rank(n, 50));
        let p99 = (n >= P99_MIN).then(|| of_rank(values(), rank(n, 99)));
        Summary {
            n,
            min,
            median,
            p99,
            max,
            mad: self.mad(min, max, median, n),
        }
    }

    /// The median of the distances from `median`: bins at both sides of it are
    /// taken by turns, whichever is nearer.
    fn mad(&self, min: u64, max: u64, median: u64, n: u32) -> u64 {
        let values = || self.bins().map(|bin| (bin.from.clamp(min, max), bin.count));
        let mut up = values().filter(|(value, _)| *value >= median).peekable();
        let mut down = values()
            .rev()
            .filter(|(value, _)| *value < median)
            .peekable();
        let by_distance = core::iter::from_fn(|| {
            let distance =
                |next: Option<&(u64, u32)>| next.map(|(value, _)| value.abs_diff(median));
            let next = match (distance(up.peek()), distance(down.peek())) {
                (Some(above), Some(below)) if below < above => down.next(),
                (None, _) => down.next(),
                _ => up.next(),
            };
            next.map(|(value, count)| (value.abs_diff(median), count))
        });
        of_rank(by_distance, rank(n, 50))
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// The rank of a quantile, as [`super::statistics`] defines it.
fn rank(n: u32, percent: u64) -> u64 {
    (u64::from(n) * percent).div_ceil(100)
}

/// The value of this rank among sorted ones, each there so many times.
fn of_rank(values: impl Iterator<Item = (u64, u32)>, rank: u64) -> u64 {
    let mut seen = 0;
    let mut last = 0;
    for (value, count) in values.filter(|(_, count)| *count > 0) {
        seen += u64::from(count);
        last = value;
        if seen >= rank {
            break;
        }
    }
    last
}

/// The bin of a latency; beyond the last where it is not below the limit.
fn place(ticks: u64) -> usize {
    let bits = u64::BITS - ticks.leading_zeros();
    // Widths double with each bit beyond those that tell the bins apart.
    let shift = bits.saturating_sub(BITS + 1);
    shift as usize * HALF + (ticks >> shift) as usize
}

/// First latency and width of a bin.
fn bounds(place: usize) -> (u64, u64) {
    let shift = (place / HALF).saturating_sub(1);
    let lead = place - shift * HALF;
    ((lead as u64) << shift, 1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn bins_follow_each_other_without_a_gap() {
        let empty = Histogram::new();
        let mut next = 0;
        for (index, bin) in empty.bins().enumerate() {
            assert_eq!(bin.from, next);
            assert_eq!(place(bin.from), index);
            if bin.width > 0 {
                next = bin.from + bin.width;
                assert_eq!(place(next - 1), index);
                assert!(bin.width == 1 || bin.width * 16 <= bin.from);
            }
        }
        assert_eq!(next, Histogram::LIMIT);
        assert_eq!(empty.bins().count(), BINS + 1);
    }

    #[test]
    fn every_sample_is_counted_once() {
        let mut all = Histogram::new();
        let values = [0, 1, 31, 32, 33, 1 << 20, (1 << 24) - 1, 1 << 24, u64::MAX];
        for value in values {
            all.add(value);
        }
        assert_eq!(all.total(), values.len() as u64);
        let filled: Vec<_> = all.bins().filter(|bin| bin.count > 0).collect();
        let places = filled.iter().map(|bin| (bin.from, bin.width, bin.count));
        assert_eq!(
            places.collect::<Vec<_>>(),
            [
                (0, 1, 1),
                (1, 1, 1),
                (31, 1, 1),
                (32, 2, 2),
                (1 << 20, 1 << 16, 1),
                ((1 << 24) - (1 << 19), 1 << 19, 1),
                (1 << 24, 0, 2),
            ]
        );
    }

    /// Where bins are one tick wide, the figures are those of the samples.
    #[test]
    fn exact_where_bins_are() {
        for n in [1, 2, 7, 99, 100, 101, 1000] {
            let mut values: Vec<u64> = (0..n).map(|i| i * i * 7 % 31).collect();
            let mut all = Histogram::new();
            values.iter().for_each(|value| all.add(*value));
            let expected = Summary::of(&mut values);
            assert_eq!(all.summary(expected.min, expected.max), expected, "{n}");
        }
        assert_eq!(Histogram::new().summary(0, 0), Summary::default());
    }

    #[test]
    fn near_where_they_are_wide() {
        let mut values: Vec<u64> = (0..500u64).map(|i| 1000 + i * i % 9973).collect();
        let mut all = Histogram::new();
        values.iter().for_each(|value| all.add(*value));
        let exact = Summary::of(&mut values);
        let found = all.summary(exact.min, exact.max);
        assert_eq!((found.n, found.min, found.max), (500, exact.min, exact.max));
        for (is, should) in [
            (Some(found.median), Some(exact.median)),
            (found.p99, exact.p99),
        ] {
            let (is, should) = (is.unwrap_or(0), should.unwrap_or(0));
            assert!(
                is <= should && (should - is) * 16 <= should,
                "{is} {should}"
            );
        }
        assert!(found.mad.abs_diff(exact.mad) * 8 <= exact.mad);
    }
}
