//! Values of the system counter, which all CPUs share.

use core::fmt;
use core::num::NonZeroU64;
use core::ops::Add;

/// A point in time as a counter value in ticks. Durations are plain numbers of ticks, so they
/// cannot be mistaken for points in time. The value is never 0, so `Option<CounterValue>` needs no
/// extra memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct CounterValue(NonZeroU64);

impl CounterValue {
    /// Returns the counter value for `number` ticks, or None for 0.
    pub const fn new(number: u64) -> Option<Self> {
        match NonZeroU64::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// Returns the number.
    pub const fn number(self) -> u64 {
        self.0.get()
    }

    /// Returns the number of ticks from `earlier` to this value, or 0 if `earlier` is later.
    pub const fn since(self, earlier: Self) -> u64 {
        self.number().saturating_sub(earlier.number())
    }
}

/// Returns the number of ticks from one value to another. Returns 0 if either is missing or if they
/// are in reverse order.
pub fn ticks_between(from: Option<CounterValue>, to: Option<CounterValue>) -> u64 {
    from.zip(to).map_or(0, |(start, end)| end.since(start))
}

/// Adds a number of ticks.
impl Add<u64> for CounterValue {
    type Output = Self;

    fn add(self, ticks: u64) -> Self {
        Self(self.0.saturating_add(ticks))
    }
}

impl fmt::Debug for CounterValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_is_zero_in_reverse_order() {
        let [early, late] = [100, 103].map(|number| CounterValue::new(number).expect("not 0"));
        assert_eq!((late.since(early), early.since(late)), (3, 0));
        assert_eq!(ticks_between(Some(early), Some(late)), 3);
        assert_eq!(ticks_between(Some(late), Some(early)), 0);
        assert_eq!(ticks_between(None, Some(late)), 0);
        assert_eq!(early + 3, late);
        assert_eq!((early + u64::MAX).number(), u64::MAX);
        assert_eq!(CounterValue::new(0), None);
        assert_eq!(size_of::<Option<CounterValue>>(), size_of::<u64>());
    }
}
