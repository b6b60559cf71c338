//! The time that a watchdog waits. It counts twice: after the first time it
//! raises an interrupt, which no CPU takes, and after the second it resets the
//! board.

use core::fmt;
use core::num::NonZeroU64;
use serde::{Deserialize, Serialize};

/// The reason why no watchdog resets the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoWatchdog {
    /// The device tree has none that can be used.
    NotInTree,
    /// The registers cannot be read, or are those of another device.
    NotThere,
    /// The watchdog cannot wait as long as the lead may take.
    TooSoon {
        /// The most that it can wait, in whole seconds.
        most: u64,
        /// The least that it would have to, likewise.
        least: u64,
    },
}

impl fmt::Display for NoWatchdog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInTree => f.write_str("none in the device tree"),
            Self::NotThere => f.write_str("none where the device tree has one"),
            Self::TooSoon { most, least } => write!(
                f,
                "left alone: it resets within {most} s, and the lead may take {least}"
            ),
        }
    }
}

/// The setting of a watchdog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The bits that let it run and reset; 0 where it stands.
    pub control: u32,
    /// Ticks of its clock until the interrupt, and again until the reset.
    pub count: u64,
}

/// The clock of a watchdog, and the most that it counts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The clock in Hz; None where it counts as the system counter does.
    pub clock: Option<NonZeroU64>,
    /// The most that can be counted to, and that twice; less than 2^63.
    pub longest: u64,
}

impl Reach {
    /// Returns the count for a reset `wish` ticks of the system counter from now,
    /// or, where that is too far, as late as can be. None where that would be
    /// sooner than `least` ticks from now. The counter has `hz` ticks a second.
    pub fn count(&self, least: u64, wish: u64, hz: u64) -> Option<u64> {
        let half = |ticks| self.own(ticks, hz) / 2 + 1;
        (half(least) <= self.longest).then(|| half(wish).min(self.longest))
    }

    /// Returns the most that it waits, in whole seconds.
    pub fn seconds(&self, hz: u64) -> u64 {
        2 * self.longest / self.clock.map_or(hz, NonZeroU64::get).max(1)
    }

    /// Converts ticks of the system counter to those of its own clock.
    fn own(&self, ticks: u64, hz: u64) -> u64 {
        let Some(clock) = self.clock.map(NonZeroU64::get) else {
            return ticks;
        };
        let hz = hz.max(1);
        // Whole seconds by themselves: the product of all may be too large.
        let seconds = (ticks / hz).saturating_mul(clock);
        seconds.saturating_add((ticks % hz).saturating_mul(clock) / hz)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MHZ: u64 = 1_000_000;

    const fn reach(clock: u64, longest: u64) -> Reach {
        let clock = NonZeroU64::new(clock);
        Reach { clock, longest }
    }

    const SBSA_0: Reach = reach(0, u32::MAX as u64);
    const SBSA_1: Reach = reach(0, (1 << 48) - 1);
    const SP805: Reach = reach(32_768, u32::MAX as u64);
    const FAST: Reach = reach(1_000 * MHZ, (1 << 48) - 1);

    /// Half of the time, as it is counted twice: for at least 20 s, and 30 s at best.
    #[test]
    fn count_is_half_of_the_time_in_ticks_of_the_watchdog() {
        for (reach, mhz, least, wish, count) in [
            (SBSA_0, 100, 20, 30, Some(1_500 * MHZ + 1)),
            (SBSA_1, 1_000, 20, 30, Some(15_000 * MHZ + 1)),
            (SP805, 1_000, 20, 30, Some(15 * 32_768 + 1)),
            (SP805, 50, 20, 30, Some(15 * 32_768 + 1)),
            // A longer step may be out of reach where a shorter one is not.
            (SBSA_0, 400, 20, 30, Some(SBSA_0.longest)),
            (SBSA_0, 400, 22, 32, None),
            // 30 s at 1 GHz and 1 GHz are more than 64 bits.
            (FAST, 1_000, 20, 30, Some(15_000 * MHZ + 1)),
        ] {
            let hz = mhz * MHZ;
            let found = reach.count(least * hz, wish * hz, hz);
            assert_eq!(found, count, "{reach:?} {mhz}");
        }
    }

    /// 32 bits twice are 8 s at 1 GHz, for which it is never armed. Between, it is armed
    /// for less than was wished for, but never for too little.
    #[test]
    fn count_is_as_late_as_can_be_and_never_too_soon() {
        for mhz in 1..2_000 {
            let hz = mhz * MHZ;
            let count = SBSA_0.count(20 * hz, 30 * hz, hz);
            assert_eq!(count.is_some(), mhz <= 429, "{mhz} MHz");
            match count {
                None => assert!(SBSA_0.seconds(hz) <= 20, "{mhz} MHz"),
                Some(count) => {
                    assert!(2 * count > 20 * hz && count <= SBSA_0.longest);
                    assert_eq!(count == SBSA_0.longest, mhz >= 287, "{mhz} MHz");
                }
            }
        }
        assert_eq!(SBSA_0.seconds(1_000 * MHZ), 8);
    }

    #[test]
    fn no_clock_and_no_time_is_too_large() {
        for (clock, hz) in [(1, u64::MAX), (u64::MAX, 1), (u64::MAX, u64::MAX)] {
            let reach = reach(clock, u32::MAX.into());
            assert!(reach.count(0, 0, hz) == Some(1));
            for ticks in [1, hz, u64::MAX] {
                let least = reach.count(ticks, u64::MAX, hz);
                assert!(least.is_none_or(|count| count <= reach.longest));
            }
            let _ = reach.seconds(hz);
        }
        let no_counter = reach(1_000 * MHZ, u32::MAX.into()).count(0, u64::MAX, 0);
        assert_eq!(no_counter, Some(u32::MAX.into()));
    }
}
