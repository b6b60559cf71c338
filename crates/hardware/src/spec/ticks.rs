//! Formats ticks as microseconds if the counter frequency is known, otherwise as ticks.

use core::fmt;

use crate::text::plural::Many;

/// The counter frequency, which determines the length of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Ticks per second, as reported by the machine.
    pub hz: u64,
}

impl Clock {
    /// The range of plausible frequencies. Some firmware does not write CNTFRQ_EL0.
    pub const BELIEVED: core::ops::RangeInclusive<u64> = 1_000..=10_000_000_000;

    /// Returns true if ticks can be converted to time.
    pub fn is_known(self) -> bool {
        Self::BELIEVED.contains(&self.hz)
    }

    /// Returns the ticks per second to use for waits. If the reported value is implausible, returns
    /// 1 GHz, so that deadlines are too late rather than too early.
    pub fn believed(self) -> u64 {
        if self.is_known() {
            self.hz
        } else {
            1_000_000_000
        }
    }

    /// Converts `microseconds` to ticks, rounding up and saturating.
    pub fn ticks(self, microseconds: u64) -> u64 {
        // Handle whole seconds separately, as in `scaled`.
        const SECOND: u64 = 1_000_000;
        let hz = self.believed();
        let seconds = (microseconds / SECOND).saturating_mul(hz);
        let rest = (microseconds % SECOND * hz).div_ceil(SECOND);
        seconds.saturating_add(rest)
    }

    /// Converts `ticks` to nanoseconds, rounding down.
    pub fn ns(self, ticks: u64) -> Option<u64> {
        self.scaled(ticks, 1_000_000_000)
    }

    /// Converts `ticks` to hundredths of a microsecond. Rounds the result of [`Clock::ns`], so that
    /// tables are consistent with it.
    pub fn centi_us(self, ticks: u64) -> Option<u64> {
        self.ns(ticks).map(|ns| ns / 10 + u64::from(ns % 10 >= 5))
    }

    /// Converts `ticks` to nanoseconds, rounding to the nearest and saturating. Returns 0 if the
    /// machine does not report a frequency.
    pub fn nearest_ns(self, ticks: u64) -> u64 {
        self.saturating(ticks, 1_000_000_000, self.hz / 2)
    }

    /// Converts `ticks` to microseconds, rounding up and saturating. Returns 0 if the machine does
    /// not report a frequency.
    pub fn whole_us(self, ticks: u64) -> u64 {
        self.saturating(ticks, 1_000_000, self.hz.saturating_sub(1))
    }

    /// Returns the duration of one tick in picoseconds, rounded down.
    pub fn tick_ps(self) -> Option<u64> {
        self.scaled(1, 1_000_000_000_000)
    }

    /// Returns the unit for headings.
    pub fn unit(self) -> &'static str {
        if self.is_known() { "us" } else { "ticks" }
    }

    /// Formats a duration with its unit, for use in sentences.
    pub const fn span(self, ticks: u64) -> Span {
        Span(self, ticks)
    }

    /// Formats a range of durations, for use in sentences.
    pub const fn range(self, (least, most): (u64, u64)) -> Range {
        Range(self.span(least), self.span(most))
    }

    /// Converts `ticks` to a unit of which there are `per_second` in a second, and saturates.
    /// Before the division by the frequency, `rounding` is added.
    fn saturating(self, ticks: u64, per_second: u64, rounding: u64) -> u64 {
        let scaled = u128::from(ticks) * u128::from(per_second) + u128::from(rounding);
        let value = scaled.checked_div(u128::from(self.hz)).unwrap_or(0);
        u64::try_from(value).unwrap_or(u64::MAX)
    }

    fn scaled(self, ticks: u64, per_second: u64) -> Option<u64> {
        if !self.is_known() {
            return None;
        }
        // Handle whole seconds separately, so that the rest fits in 64 bits at every plausible
        // frequency.
        let seconds = (ticks / self.hz).checked_mul(per_second)?;
        let rest = (ticks % self.hz).checked_mul(per_second)? / self.hz;
        seconds.checked_add(rest)
    }
}

/// A number with two decimal places, stored as an integer number of hundredths.
#[derive(Clone, Copy)]
pub struct Hundredths(pub u64);

impl fmt::Display for Hundredths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

/// A duration for use in sentences.
#[derive(Clone, Copy, Debug)]
pub struct Span(Clock, u64);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(clock, ticks) = *self;
        match (clock.ns(ticks), clock.centi_us(ticks)) {
            // Use nanoseconds, because microseconds with two decimal places could hide a tick.
            (Some(ns @ ..1000), _) => write!(f, "{ns} ns"),
            (_, Some(value)) => write!(f, "{} us", Hundredths(value)),
            _ => Many(ticks, "tick").fmt(f),
        }
    }
}

/// A duration or a range of durations.
#[derive(Clone, Copy, Debug)]
pub struct Range(Span, Span);

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)?;
        if self.0.1 != self.1.1 {
            write!(f, " to {}", self.1)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_use_the_assumed_frequency() {
        for (hz, us, ticks) in [
            // If the frequency is unknown, it is assumed to be 1 GHz, so that a 10 s wait is too
            // long rather than too short.
            (0, 10_000_000, 10_000_000_000),
            (10_000_000_001, 10_000_000, 10_000_000_000),
            (1_000, 10_000_000, 10_000),
            // Rounding up ensures that no wait is too short and that no nonzero wait becomes zero.
            (62_500_000, 1, 63),
            (1_000, 1, 1),
            (1_000, 0, 0),
            (10_000_000_000, u64::MAX, u64::MAX),
            (1_920_000, u64::MAX / 2, 17_708_874_310_761_169_550),
        ] {
            assert_eq!(Clock { hz }.ticks(us), ticks, "{hz} Hz");
        }
    }

    #[test]
    fn ticks_as_time() {
        for (hz, ticks, ns, tick_ps) in [
            (62_500_000, 3, Some(48), Some(16_000)),
            (24_000_000, 1, Some(41), Some(41_666)),
            (1_000_000_000, u64::MAX, Some(u64::MAX), Some(1_000)),
            (1_000, u64::MAX, None, Some(1_000_000_000)),
            (0, 1, None, None),
            (999, 1, None, None),
            (10_000_000_001, 1, None, None),
        ] {
            let clock = Clock { hz };
            assert_eq!((clock.ns(ticks), clock.tick_ps()), (ns, tick_ps), "{hz} Hz");
        }
        assert_eq!(Clock { hz: 62_500_000 }.centi_us(1), Some(2));
    }
}
