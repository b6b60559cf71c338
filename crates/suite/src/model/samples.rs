//! A cell's samples, encoded in about 25 bytes each because a log may contain a million.

use alloc::vec::Vec;
use core::slice;

use serde::{Deserialize, Serialize, Serializer};

use crate::measure::{INSTANTS, Instants};

/// One sample. In a parallel scenario, samples at the same position belong to the same round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// The position, counting from 0.
    pub place: u32,
    /// The instants.
    pub instants: Instants,
}

/// A list of samples. Each sample is encoded as numbers with seven bits per byte: the position, the
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
    pub fn push(&mut self, Sample { place, instants }: Sample) {
        for number in [place.into(), instants.base, instants.known().into()] {
            self.push_number(number);
        }
        for step in instants.steps().flatten() {
            // The sign becomes the lowest bit, so that small numbers stay short.
            self.push_number((step << 1 ^ step >> 63).cast_unsigned());
        }
        self.len += 1;
    }

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

    /// Sorts the samples by position.
    pub fn sort(&mut self) {
        let mut all: Vec<Sample> = self.iter().collect();
        all.sort_by_key(|sample| sample.place);
        *self = all.into_iter().collect();
    }
}

fn next_sample(rest: &mut slice::Iter<'_, u8>) -> Sample {
    let place = next_number(rest) as u32;
    let (base, known) = (next_number(rest), next_number(rest));
    let steps = (0..INSTANTS).map(|bit| {
        let number = (known >> bit & 1 != 0).then(|| next_number(rest))?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    });
    let instants = Instants::from_steps(base, steps);
    Sample { place, instants }
}

fn next_number(rest: &mut slice::Iter<'_, u8>) -> u64 {
    let mut number = 0;
    for (byte, place) in rest.zip(0..) {
        number |= u64::from(byte & 0x7f) << (7 * place);
        if *byte < 0x80 {
            break;
        }
    }
    number
}

impl FromIterator<Sample> for Samples {
    fn from_iter<I: IntoIterator<Item = Sample>>(samples: I) -> Self {
        let mut all = Self::default();
        samples.into_iter().for_each(|sample| all.push(sample));
        all
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
        let each = (0..1000u64).map(|nth| {
            let base = u64::MAX >> (nth % 65).min(63);
            let mut instants = Instants::new(base);
            for (bit, instant) in Instant::ALL.into_iter().enumerate() {
                if nth >> bit & 1 == 0 {
                    instants.set(instant, ticks[(nth as usize + 3 * bit) % ticks.len()]);
                }
            }
            let place = (u64::from(u32::MAX) >> (nth % 32)) as u32;
            Sample { place, instants }
        });
        let mut all: Vec<Sample> = each.collect();
        let mut samples: Samples = all.iter().copied().collect();
        assert!(samples.iter().eq(all.iter().copied()) && samples.len() == all.len());
        assert!(samples.bytes.len() < all.len() * Samples::BYTES_MAX);
        samples.sort();
        all.sort_by_key(|sample| sample.place);
        assert!(samples.iter().eq(all));
    }
}
