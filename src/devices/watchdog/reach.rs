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
    #[must_use]
    pub fn count(&self, least: u64, wish: u64, hz: u64) -> Option<u64> {
        let half = |ticks| self.own(ticks, hz) / 2 + 1;
        (half(least) <= self.longest).then(|| half(wish).min(self.longest))
    }

    /// Returns the most that it waits, in whole seconds.
    #[must_use]
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

    /// Seconds that are asked for at least, and for all that is well.
    const LEAST: u64 = 20;
    const WISH: u64 = 30;
    const MHZ: u64 = 1_000_000;

    const SBSA_0: Reach = Reach {
        clock: None,
        longest: u32::MAX as u64,
    };
    const SBSA_1: Reach = Reach {
        clock: None,
        longest: (1 << 48) - 1,
    };

    fn sp805(clock: u64) -> Reach {
        Reach {
            clock: NonZeroU64::new(clock),
            longest: u32::MAX.into(),
        }
    }

    fn count(reach: Reach, hz: u64) -> Option<u64> {
        reach.count(LEAST * hz, WISH * hz, hz)
    }

    #[test]
    fn half_of_the_time_as_it_is_counted_twice() {
        assert_eq!(count(SBSA_0, 100 * MHZ), Some(1_500 * MHZ + 1));
        assert_eq!(count(SBSA_1, 1_000 * MHZ), Some(15_000 * MHZ + 1));
        // By its own clock, whatever the counter's is.
        assert_eq!(count(sp805(32_768), 1_000 * MHZ), Some(15 * 32_768 + 1));
        assert_eq!(count(sp805(32_768), 50 * MHZ), Some(15 * 32_768 + 1));
    }

    /// 32 bits twice: at 1 GHz that is 8 s, and was never armed; between, it
    /// may be armed for less than was wished for, but never for too little.
    #[test]
    fn as_late_as_can_be_and_never_too_soon() {
        for mhz in 1..2_000 {
            let hz = mhz * MHZ;
            let Some(count) = count(SBSA_0, hz) else {
                assert!(mhz > 429, "{mhz} MHz");
                assert!(SBSA_0.seconds(hz) <= LEAST, "{mhz} MHz");
                continue;
            };
            assert!(mhz <= 429, "{mhz} MHz");
            assert!(2 * count > LEAST * hz && count <= SBSA_0.longest);
            assert_eq!(count == SBSA_0.longest, mhz >= 287, "{mhz} MHz");
        }
        assert_eq!(SBSA_0.seconds(1_000 * MHZ), 8);
    }

    /// A longer step may be out of reach where a shorter one is not.
    #[test]
    fn each_step_is_held_against_what_it_needs() {
        let hz = 400 * MHZ;
        assert_eq!(SBSA_0.count(20 * hz, 30 * hz, hz), Some(SBSA_0.longest));
        assert_eq!(SBSA_0.count(22 * hz, 32 * hz, hz), None);
    }

    #[test]
    fn no_clock_and_no_time_is_too_large() {
        for (clock, hz) in [(1, u64::MAX), (u64::MAX, 1), (u64::MAX, u64::MAX)] {
            let reach = sp805(clock);
            assert!(reach.count(0, 0, hz) == Some(1));
            for ticks in [1, hz, u64::MAX] {
                let least = reach.count(ticks, u64::MAX, hz);
                assert!(least.is_none_or(|count| count <= reach.longest));
            }
            let _ = reach.seconds(hz);
        }
        assert_eq!(
            sp805(1_000 * MHZ).count(0, u64::MAX, 0),
            Some(u32::MAX.into())
        );
        // 30 s at 1 GHz and 1 GHz are more than 64 bits.
        let fast = Reach {
            clock: NonZeroU64::new(1_000 * MHZ),
            ..SBSA_1
        };
        assert_eq!(count(fast, 1_000 * MHZ), Some(15_000 * MHZ + 1));
    }
}
