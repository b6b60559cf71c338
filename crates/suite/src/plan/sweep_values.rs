//! The values of a sweep, written as a comma-separated list of numbers and ranges, such as `0,4-8`.

use hardware::text::untrusted;

/// The maximum number of values.
const VALUES_MAX: usize = 24;

/// The values of a sweep. Holding one proves that there are at most 24 values and that each occurs
/// only once. It does not prove that there are any, that they are in order, or that the board has
/// that many CPUs or that much cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepValues {
    list: [u32; VALUES_MAX],
    len: u8,
}

impl SweepValues {
    /// No values.
    pub const EMPTY: Self = Self {
        list: [0; VALUES_MAX],
        len: 0,
    };

    /// Returns the values in the order they were added.
    pub fn as_slice(&self) -> &[u32] {
        &self.list[..usize::from(self.len)]
    }

    /// Returns the highest value; 0 if there are none.
    pub fn highest(&self) -> u32 {
        self.as_slice().iter().copied().max().unwrap_or(0)
    }

    /// Adds a value, unless it is already included; returns false if there is no room.
    pub fn add(&mut self, value: u32) -> bool {
        if self.as_slice().contains(&value) {
            return true;
        }
        let Some(free) = self.list.get_mut(usize::from(self.len)) else {
            return false;
        };
        *free = value;
        self.len += 1;
        true
    }

    /// Adds `first`, the values that `next` generates below `last`, and `last`. Returns false if
    /// there is no room.
    fn add_range(&mut self, first: u32, last: u32, next: fn(u32) -> u32) -> bool {
        let values = core::iter::successors(Some(first), |value| Some(next(*value)));
        let mut below = values.take_while(|value| *value < last);
        below.all(|value| self.add(value)) && self.add(last)
    }

    /// Parses a list. `item` parses one number; `next` returns the next number in a range.
    pub(crate) fn parse(
        text: &str,
        item: fn(&str) -> Option<u32>,
        next: fn(u32) -> u32,
    ) -> Option<Self> {
        let mut values = Self::EMPTY;
        for word in text.split(',') {
            let (first, last) = word.split_once('-').unwrap_or((word, word));
            let (first, last) = (item(first)?, item(last)?);
            if first > last || !values.add_range(first, last, next) {
                return None;
            }
        }
        Some(values)
    }
}

/// The largest number of dirty bytes.
const DIRTY_MAX: u32 = 64 << 20;
/// The maximum number of values in a default dirty sweep, including one that is not a power of two.
pub const DIRTY_VALUES: usize = 15;
/// The first number of dirty bytes after 0 in a default dirty sweep.
const DIRTY_FIRST: u32 = 16 << 10;

/// Parses a number of bytes: digits, with an optional K or M for 1024 or 1024 * 1024.
pub(crate) fn parse_bytes(word: &str) -> Option<u32> {
    let (digits, unit) = match word.as_bytes() {
        [digits @ .., b'K'] => (digits, 1 << 10),
        [digits @ .., b'M'] => (digits, 1 << 20),
        digits => (digits, 1),
    };
    untrusted::parse_number(digits, 10)?.checked_mul(unit)
}

/// Parses a number of dirty bytes: at most 64 MiB.
pub(crate) fn parse_dirty_bytes(word: &str) -> Option<u32> {
    parse_bytes(word).filter(|bytes| *bytes <= DIRTY_MAX)
}

/// Returns the next number of bytes in a range: twice the number, but at least 16 KiB.
pub(crate) fn next_bytes(bytes: u32) -> u32 {
    (bytes * 2).max(DIRTY_FIRST)
}

/// Parses a number of CPUs.
pub(crate) fn parse_cpu_count(word: &str) -> Option<u32> {
    untrusted::parse_number(word.as_bytes(), 10)
        .filter(|count| (1..=hardware::board::CPU_MAX as u32).contains(count))
}

/// Returns the next number of CPUs in a range: every number up to 8, then two for each doubling.
pub(crate) fn next_cpus(cpus: u32) -> u32 {
    let base = 1 << cpus.ilog2();
    match base + base / 2 {
        _ if cpus < 8 => cpus + 1,
        middle if cpus < middle => middle,
        _ => base * 2,
    }
}

/// Returns the default values for a dirty sweep: up to twice the size of the cache in bytes.
pub fn default_dirty_values(cache: u64) -> SweepValues {
    let last = u32::try_from(cache.saturating_mul(2)).unwrap_or(DIRTY_MAX);
    let mut values = SweepValues::EMPTY;
    // There is enough room: 64 MiB is 2^12 times the first value.
    values.add_range(0, last.min(DIRTY_MAX), next_bytes);
    values
}

/// Returns the default values for a contention sweep.
pub fn default_contend_values(cpus: usize) -> SweepValues {
    let mut values = SweepValues::EMPTY;
    // There is enough room: 8 values, and two for each doubling up to 512.
    values.add_range(1, cpus.clamp(1, hardware::board::CPU_MAX) as u32, next_cpus);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_the_defaults() {
        for (values, len, last) in [
            (default_contend_values(1), 1, 1),
            (default_contend_values(6), 6, 6),
            (default_contend_values(32), 12, 32),
            (default_contend_values(400), 20, 400),
            (default_contend_values(512), 20, 512),
            (default_dirty_values(3 << 10), 2, 6 << 10),
            (default_dirty_values(2 << 20), 10, 4 << 20),
            (default_dirty_values(u64::MAX), 14, DIRTY_MAX),
        ] {
            assert_eq!((values.as_slice().len(), values.highest()), (len, last));
        }
    }
}
