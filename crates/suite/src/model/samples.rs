//! A cell's samples, encoded in about 25 bytes each because a log may contain a million.

use alloc::vec::Vec;
use core::slice;

use serde::{Deserialize, Serialize, Serializer};

use crate::measure::{INSTANTS, Instants};

/// One sample. In a parallel scenario, samples with the same index belong to the same round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// The index among the CPU's samples at this step.
    #[serde(alias = "place")]
    pub index: u32,
    /// When the call, its timestamps and its wake-up happened.
    pub instants: Instants,
}

/// A list of samples. Each sample is encoded as numbers with seven bits per byte: the index, the
/// base, one bit for each instant in the sample, and the difference between each instant and the
/// previous one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    bytes: Vec<u8>,
    len: usize,
}

impl Samples {
    /// The maximum size of an encoded sample, in bytes.
    pub const BYTES_MAX: usize = 5 + 10 + 2 + 10 * INSTANTS;

    /// Returns an empty list with room for `len` samples of any size.
    pub fn with_capacity(len: usize) -> Self {
        let bytes = Vec::with_capacity(Self::BYTES_MAX * len);
        Self { bytes, len: 0 }
    }

    /// Returns the number of samples.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are no samples.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends a sample.
    pub fn push(&mut self, Sample { index, instants }: Sample) {
        for number in [index.into(), instants.base, instants.known().into()] {
            self.push_number(number);
        }
        for interval in instants.intervals().flatten() {
            // The sign becomes the lowest bit, so that small numbers stay short.
            self.push_number((interval << 1 ^ interval >> 63).cast_unsigned());
        }
        self.len += 1;
    }

    /// Appends a number, lowest bits first; the top bit of a byte is set if more bytes follow.
    fn push_number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// Returns the samples in the order they were appended.
    pub fn iter(&self) -> impl Iterator<Item = Sample> {
        let mut rest = self.bytes.iter();
        (0..self.len).map(move |_| next_sample(&mut rest))
    }

    /// Frees the memory reserved for further samples.
    pub fn shrink_to_fit(&mut self) {
        self.bytes.shrink_to_fit();
    }

    /// Sorts the samples by index.
    pub fn sort(&mut self) {
        let mut samples: Vec<Sample> = self.iter().collect();
        samples.sort_by_key(|sample| sample.index);
        *self = samples.into_iter().collect();
    }
}

/// Decodes a sample.
fn next_sample(rest: &mut slice::Iter<'_, u8>) -> Sample {
    let index = next_number(rest) as u32;
    let base = next_number(rest);
    let known = next_number(rest);
    let intervals = (0..INSTANTS).map(|bit| {
        let number = (known >> bit & 1 != 0).then(|| next_number(rest))?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    });
    Sample {
        index,
        instants: Instants::from_intervals(base, intervals),
    }
}

/// Decodes a number; see [`Samples::push_number`].
fn next_number(rest: &mut slice::Iter<'_, u8>) -> u64 {
    let mut number = 0;
    for (byte, index) in rest.zip(0..) {
        number |= u64::from(byte & 0x7f) << (7 * index);
        if *byte < 0x80 {
            break;
        }
    }
    number
}

impl FromIterator<Sample> for Samples {
    fn from_iter<I: IntoIterator<Item = Sample>>(samples: I) -> Self {
        let mut list = Self::default();
        samples.into_iter().for_each(|sample| list.push(sample));
        list
    }
}

impl Serialize for Samples {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Instant;

    #[test]
    fn samples_of_any_size_are_read_back() {
        let ticks = [0, -1, 1, 63, 64, -64, -65, i64::MAX, i64::MIN, 1 << 31];
        let sample = |sample_number: u64| {
            let base = u64::MAX >> (sample_number % 65).min(63);
            let mut instants = Instants::new(base);
            for (bit, instant) in Instant::ALL.into_iter().enumerate() {
                if sample_number >> bit & 1 == 0 {
                    instants.set(
                        instant,
                        ticks[(sample_number as usize + 3 * bit) % ticks.len()],
                    );
                }
            }
            let index = (u64::from(u32::MAX) >> (sample_number % 32)) as u32;
            Sample { index, instants }
        };
        let mut expected: Vec<Sample> = (0..1000).map(sample).collect();
        let mut samples: Samples = expected.iter().copied().collect();
        assert!(samples.iter().eq(expected.iter().copied()) && samples.len() == expected.len());
        assert!(samples.bytes.len() < expected.len() * Samples::BYTES_MAX);
        samples.sort();
        expected.sort_by_key(|sample| sample.index);
        assert!(samples.iter().eq(expected));
    }
}
