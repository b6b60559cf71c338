//! Ticks as people read them: microseconds where the counter's frequency is
//! known, ticks where it is not.

use core::fmt;

use super::prose::Many;

/// The counter as a clock: what a tick lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Ticks in a second, as the machine claims.
    pub hz: u64,
}

impl Clock {
    /// Frequencies that are believed. CNTFRQ_EL0 is a register that firmware
    /// has to write, and some does not: then it may hold anything.
    pub const BELIEVED: core::ops::RangeInclusive<u64> = 1_000..=10_000_000_000;

    /// Returns true if ticks can be converted to time.
    #[must_use]
    pub fn is_known(self) -> bool {
        Self::BELIEVED.contains(&self.hz)
    }

    /// Ticks in a second to wait by: as claimed where that is believed, else
    /// 1 GHz, so that deadlines are late rather than early.
    #[must_use]
    pub fn believed(self) -> u64 {
        if self.is_known() {
            self.hz
        } else {
            1_000_000_000
        }
    }

    /// Ticks in so many microseconds, by [`Clock::believed`]; rounded up, and
    /// as many as there can be where they are more.
    #[inline(never)]
    #[must_use]
    pub fn ticks(self, microseconds: u64) -> u64 {
        // Whole seconds apart, as in `scaled`.
        let (hz, second) = (self.believed(), 1_000_000);
        let (seconds, rest) = (microseconds / second, microseconds % second);
        let rest = (rest * hz).div_ceil(second);
        seconds.saturating_mul(hz).saturating_add(rest)
    }

    /// `ticks` in nanoseconds, truncated.
    #[must_use]
    pub fn ns(self, ticks: u64) -> Option<u64> {
        self.scaled(ticks, 1_000_000_000)
    }

    /// `ticks` in hundredths of a microsecond, rounded from what
    /// [`Clock::ns`] says, so that tables and nanoseconds never disagree.
    #[must_use]
    pub fn centi_us(self, ticks: u64) -> Option<u64> {
        self.ns(ticks).map(|ns| ns / 10 + u64::from(ns % 10 >= 5))
    }

    /// Returns the duration of one tick in picoseconds, truncated.
    #[must_use]
    pub fn tick_ps(self) -> Option<u64> {
        self.scaled(1, 1_000_000_000_000)
    }

    /// Returns a duration in a sentence, with its unit.
    #[must_use]
    pub const fn span(self, ticks: u64) -> Span {
        Span(Unit(self), ticks)
    }

    /// Returns the durations from one to another in a sentence.
    #[must_use]
    pub const fn range(self, (least, most): (u64, u64)) -> Range {
        Range(self.span(least), self.span(most))
    }

    fn scaled(self, ticks: u64, per_second: u64) -> Option<u64> {
        if !self.is_known() {
            return None;
        }
        // Whole seconds apart: what is left fits 64 bits at every frequency
        // that is believed.
        let (seconds, rest) = (ticks / self.hz, ticks % self.hz);
        let rest = rest.checked_mul(per_second)? / self.hz;
        seconds.checked_mul(per_second)?.checked_add(rest)
    }
}

/// A number with two decimals, as an integer of hundredths.
#[derive(Clone, Copy)]
pub(crate) struct Hundredths(pub(crate) u64);

impl fmt::Display for Hundredths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

/// The unit of figures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit(pub(crate) Clock);

impl Unit {
    /// Returns the unit's name, for headings.
    pub(crate) fn name(self) -> &'static str {
        if self.0.is_known() { "us" } else { "ticks" }
    }

    /// A figure in a sentence, with its unit.
    pub(crate) fn span(self, ticks: u64) -> Span {
        self.0.span(ticks)
    }

    /// The durations from one to another.
    pub(crate) fn range(self, range: (u64, u64)) -> Range {
        self.0.range(range)
    }
}

/// A duration in a sentence.
#[derive(Clone, Copy, Debug)]
pub struct Span(Unit, u64);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(Unit(clock), ticks) = *self;
        match (clock.ns(ticks), clock.centi_us(ticks)) {
            // Two decimals of a microsecond would hide a tick.
            (Some(ns @ ..1000), _) => write!(f, "{ns} ns"),
            (_, Some(value)) => write!(f, "{} us", Hundredths(value)),
            _ => Many(ticks, "tick").fmt(f),
        }
    }
}

/// A duration, or two with what lies between.
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
    fn waits_go_by_what_is_believed() {
        let ticks = |hz: u64, us: u64| Clock { hz }.ticks(us);
        // 10 s of a counter that no register tells of: late, and not at once.
        for hz in [0, 24, 999, 10_000_000_001, u64::MAX] {
            assert_eq!(ticks(hz, 10_000_000), 10_000_000_000, "{hz} Hz");
        }
        assert_eq!(ticks(1_000, 10_000_000), 10_000);
        assert_eq!(ticks(62_500_000, 10_000_000), 625_000_000);
        // Rounded up: no wait is shorter than asked for, and none is none.
        assert_eq!(ticks(62_500_000, 1), 63);
        assert_eq!((ticks(1_000, 1), ticks(1_000, 0)), (1, 0));
        assert_eq!(ticks(10_000_000_000, u64::MAX), u64::MAX);
        assert_eq!(ticks(1_920_000, u64::MAX / 2), 17_708_874_310_761_169_550);
    }

    #[test]
    fn ticks_as_time() {
        let qemu = Clock { hz: 62_500_000 };
        assert_eq!(qemu.ns(3), Some(48));
        assert_eq!(qemu.tick_ps(), Some(16_000));
        assert_eq!(qemu.centi_us(1), Some(2));
        let odd = Clock { hz: 24_000_000 };
        assert_eq!((odd.ns(1), odd.tick_ps()), (Some(41), Some(41_666)));
        assert_eq!(Clock { hz: 1_000_000_000 }.ns(u64::MAX), Some(u64::MAX));
        assert_eq!(Clock { hz: 1_000 }.ns(u64::MAX), None);
        for hz in [0, 999, 10_000_000_001] {
            assert!(!Clock { hz }.is_known());
            assert_eq!(Clock { hz }.ns(1), None);
        }
    }
}
