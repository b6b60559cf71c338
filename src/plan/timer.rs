//! The choices for `timer_latency`.

use core::fmt::{self, Write};
use serde::{Deserialize, Serialize};

use super::load::Load;
use crate::board::text;

/// The longest that each stretch can be asked for: a day, in seconds.
pub const DURATION_MAX: u32 = 86_400;
/// The shortest and the longest period, in microseconds.
pub const PERIOD_MIN: u32 = 50;
/// See `PERIOD_MIN`.
pub const PERIOD_MAX: u32 = 1_000_000;
/// The least and the most memory for each CPU, in bytes.
pub const FOOTPRINT_MIN: u32 = 1 << 12;
/// See `FOOTPRINT_MIN`.
pub const FOOTPRINT_MAX: u32 = 1 << 30;

/// Some of a few things, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice(u8);

impl Choice {
    /// Nothing.
    const NONE: Self = Self(0);

    /// Those of these numbers, below 8.
    const fn of(numbers: &[u8]) -> Self {
        let mut bits = 0;
        let mut rest = numbers;
        while let [number, others @ ..] = rest {
            bits |= 1 << *number;
            rest = others;
        }
        Self(bits)
    }

    fn contains(self, number: usize) -> bool {
        self.0 >> number & 1 != 0
    }

    /// Reads a list of some of `words`, each at most once.
    ///
    /// # Errors
    /// Whether a word is there twice, or is none of these.
    pub(crate) fn parse(list: &str, words: &[&str]) -> Result<Self, Bad> {
        let mut chosen = Self::NONE;
        let mut rest = Some(list);
        while let Some(list) = rest {
            let (word, behind) = text::cut(list, b',').unzip();
            let word = word.unwrap_or(list);
            let number = words.iter().position(|w| *w == word).ok_or(Bad::Unknown)?;
            if chosen.contains(number) {
                return Err(Bad::Twice);
            }
            chosen.0 |= 1 << number;
            rest = behind;
        }
        Ok(chosen)
    }
}

/// A choice as the list that it was read from: words by comma, in the order of
/// their numbers.
pub struct List(Choice, fn(usize) -> Option<&'static str>);

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chosen = (0..8).filter(|number| self.0.contains(*number));
        for (place, word) in chosen.filter_map(self.1).enumerate() {
            if place > 0 {
                f.write_char(',')?;
            }
            f.write_str(word)?;
        }
        Ok(())
    }
}

/// An error in a list.
pub(crate) enum Bad {
    /// A word is none of those that can be.
    Unknown,
    /// A word is there twice.
    Twice,
}

/// The words for [`TimerPlan::alone`] and [`TimerPlan::all`].
pub(crate) const TIMERS: [&str; 2] = ["alone", "all"];

/// The words for loads, by number.
pub(crate) fn load_words() -> [&'static str; Load::ALL.len()] {
    Load::ALL.map(Load::word)
}

/// The choices for `timer_latency`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimerPlan {
    /// Duration of each stretch, 1 to `DURATION_MAX` seconds.
    pub duration: u32,
    /// From one expiry to the next, `PERIOD_MIN` to `PERIOD_MAX`
    /// microseconds.
    pub period: u32,
    /// Bytes that each CPU writes to, `FOOTPRINT_MIN` to `FOOTPRINT_MAX`.
    pub footprint: u32,
    /// Microseconds of latency, beyond which is the end of it.
    pub threshold: Option<u32>,
    pub(crate) loads: Choice,
    pub(crate) timers: Choice,
}

impl TimerPlan {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        duration: 1,
        period: 1_000,
        footprint: 4 << 20,
        threshold: None,
        loads: Choice::of(&[Load::Idle as u8, Load::Mixed as u8]),
        timers: Choice::of(&[0, 1]),
    };

    /// The loads, in the order of [`Load::ALL`].
    pub fn loads(&self) -> impl Iterator<Item = Load> + use<> {
        let chosen = self.loads;
        Load::ALL
            .into_iter()
            .filter(move |load| chosen.contains(*load as usize))
    }

    /// Takes a load out; false when it is in no stretch, neither by itself nor
    /// among all by turns.
    pub fn leave_out(&mut self, load: Load) -> bool {
        let asked = self.loads().any(|l| l == load || l == Load::Mixed);
        self.loads.0 &= !(1 << load as u8);
        asked
    }

    /// Returns true if each CPU's timer is measured alone.
    #[must_use]
    pub fn alone(&self) -> bool {
        self.timers.contains(0)
    }

    /// Returns true if all CPUs' timers are measured together.
    #[must_use]
    pub fn all(&self) -> bool {
        self.timers.contains(1)
    }

    /// Returns the number of CPUs' timers that are measured alone under `load`, if there are
    /// so many: a lone CPU has no others to lay a load on.
    #[must_use]
    pub fn alone_under(&self, load: Load, cpus: usize) -> usize {
        if self.alone() && (cpus > 1 || load == Load::Idle) {
            cpus
        } else {
            0
        }
    }

    /// The loads, as the argument `stress=` has them.
    #[must_use]
    pub fn load_list(&self) -> List {
        List(self.loads, |number| Load::ALL.get(number).map(|l| l.word()))
    }

    /// Returns the timers that are measured, as the argument `timers=` has them.
    #[must_use]
    pub fn timer_list(&self) -> List {
        List(self.timers, |number| TIMERS.get(number).copied())
    }

    /// Expiries of each timer in a stretch, and at most in a window of it, which
    /// is a second.
    #[must_use]
    pub fn expiries(&self) -> (u32, u32) {
        let window = 1_000_000 / self.period.max(1);
        let total = u64::from(self.duration) * 1_000_000 / u64::from(self.period.max(1));
        // A day of the shortest period fits.
        (total.try_into().unwrap_or(u32::MAX), window.max(1))
    }

    /// Bytes of a buffer for each CPU: whole pages; 0 where no load needs one.
    #[must_use]
    pub fn buffer(&self) -> u64 {
        if self.loads().all(|load| load == Load::Idle) {
            return 0;
        }
        u64::from(self.footprint).next_multiple_of(u64::from(FOOTPRINT_MIN))
    }
}

/// A number of bytes: digits, and K or M for 1024 or 1024 * 1024 of them.
pub(crate) fn bytes(value: &str) -> Option<u32> {
    let value = value.as_bytes();
    let (digits, shift) = match value.split_last()? {
        (b'K', digits) => (digits, 10),
        (b'M', digits) => (digits, 20),
        _ => (value, 0),
    };
    text::number(digits, 10)?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;
    use std::vec::Vec;

    #[test]
    fn bytes_have_suffixes() {
        for (word, number) in [
            ("0", Some(0)),
            ("4096", Some(4096)),
            ("16K", Some(16 << 10)),
            ("1024M", Some(1 << 30)),
            ("4095M", Some(4095 << 20)),
            ("4096M", None),
            ("4294967295", Some(u32::MAX)),
            ("4294967296", None),
            ("K", None),
            ("", None),
            ("1k", None),
            ("1G", None),
            ("-1", None),
            ("+1", None),
            ("0x10", None),
        ] {
            assert_eq!(bytes(word), number, "{word:?}");
        }
    }

    #[test]
    fn a_list_keeps_the_order_of_all() {
        let words = load_words();
        let Ok(chosen) = Choice::parse("mixed,idle,clean", &words) else {
            panic!("a good list");
        };
        let plan = TimerPlan {
            loads: chosen,
            ..TimerPlan::DEFAULT
        };
        let loads: Vec<_> = plan.loads().collect();
        assert_eq!(loads, [Load::Idle, Load::Clean, Load::Mixed]);
        assert_eq!(plan.load_list().to_string(), "idle,clean,mixed");
        assert_eq!(plan.timer_list().to_string(), "alone,all");
        let twice = Choice::parse("idle,idle", &words);
        assert!(matches!(twice, Err(Bad::Twice)));
        for wrong in ["", "idle,", ",idle", "Idle", "all"] {
            let parsed = Choice::parse(wrong, &words);
            assert!(matches!(parsed, Err(Bad::Unknown)), "{wrong:?}");
        }
    }

    #[test]
    fn windows_are_a_second() {
        let of = |duration, period| {
            let plan = TimerPlan {
                duration,
                period,
                ..TimerPlan::DEFAULT
            };
            plan.expiries()
        };
        assert_eq!(of(1, 1_000), (1_000, 1_000));
        assert_eq!(of(10, 300), (33_333, 3_333));
        assert_eq!(of(1, 1_000_000), (1, 1));
        assert_eq!(of(DURATION_MAX, PERIOD_MIN), (1_728_000_000, 20_000));
    }

    #[test]
    fn no_load_no_memory() {
        let mut plan = TimerPlan::DEFAULT;
        assert_eq!(plan.buffer(), 4 << 20);
        plan.footprint = 5000;
        assert_eq!(plan.buffer(), 8192);
        plan.loads = Choice::of(&[0]);
        assert_eq!(plan.buffer(), 0);
    }
}
