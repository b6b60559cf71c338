//! What the scenarios outside TFTF's suite find: points, one for each CPU and
//! circumstance, and how their samples are spread.

use crate::measure::{Histogram, Summary, Waker};

/// The variant that has nothing in its loop, beside those that have.
pub const LOOP: &str = "loop";
/// The variant of a point that has no samples, as its state or step is not tried.
pub const LEFT_OUT: &str = "left_out";

/// On how many CPUs it was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum How {
    /// On one CPU, every other one off, the lead apart, who waits.
    #[default]
    Alone,
    /// On all CPUs at the same time.
    All,
}

impl How {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Alone, Self::All];

    /// The word for it in records.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Alone => "alone",
            Self::All => "all",
        }
    }
}

/// What is counted of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Ticks of the counter that the run uses.
    Ticks,
    /// Cycles of the CPU, by PMCCNTR_EL0.
    Cycles,
    /// Microseconds, as PSCI_STAT_RESIDENCY counts.
    Microseconds,
    /// Times.
    Count,
}

/// Which figure of a sample a point is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// All that the sample's operations took.
    #[default]
    Ticks,
    /// The same in cycles.
    Cycles,
    /// From a timer's expiry to the exception vector.
    Entry,
    /// From a timer's expiry to its handler.
    Handler,
    /// PMF: ENTER_PSCI to ENTER_HW_LOW_PWR.
    Powerdown,
    /// PMF: EXIT_HW_LOW_PWR to EXIT_PSCI.
    Wakeup,
    /// PMF: ENTER_CFLUSH to EXIT_CFLUSH.
    CacheFlush,
    /// From the call to its return or to the entry point.
    Call,
    /// From the due wake-up to the return or the entry point.
    Wake,
    /// From CPU_ON to the CPU's first instruction.
    TurnOn,
    /// From CPU_OFF to AFFINITY_INFO saying OFF.
    TurnOff,
    /// By how much PSCI_STAT_COUNT of the state that was asked for rose.
    Count,
    /// By how much PSCI_STAT_RESIDENCY of the state that was reached rose.
    Residency,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Ticks,
        Self::Cycles,
        Self::Entry,
        Self::Handler,
        Self::Powerdown,
        Self::Wakeup,
        Self::CacheFlush,
        Self::Call,
        Self::Wake,
        Self::TurnOn,
        Self::TurnOff,
        Self::Count,
        Self::Residency,
    ];

    /// Its name in records, under `metric=`.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Ticks => "ticks",
            Self::Cycles => "cycles",
            Self::Entry => "entry",
            Self::Handler => "handler",
            Self::Powerdown => "powerdown",
            Self::Wakeup => "wakeup",
            Self::CacheFlush => "cflush",
            Self::Call => "call",
            Self::Wake => "wake",
            Self::TurnOff => "turnoff",
            Self::TurnOn => "turnon",
            Self::Count => "count",
            Self::Residency => "residency",
        }
    }

    /// What its figures count.
    #[must_use]
    pub const fn unit(self) -> Unit {
        match self {
            Self::Cycles => Unit::Cycles,
            Self::Count => Unit::Count,
            Self::Residency => Unit::Microseconds,
            _ => Unit::Ticks,
        }
    }
}

/// One figure of one CPU in one circumstance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// Index of the CPU in the board's order.
    pub cpu: u16,
    /// On how many CPUs.
    pub how: How,
    /// Which kind of the scenario's operation: lower-case letters, digits, `_`.
    pub variant: &'static str,
    /// What was varied, in the scenario's own unit, where something was.
    pub x: Option<u64>,
    /// Which figure.
    pub measure: Measure,
    /// Operations in a sample: the figure of one is that part of what
    /// `figures` say. At least 1.
    pub per: u32,
    /// The samples, in the measure's unit, each of `per` operations.
    pub figures: Summary,
    /// Samples that were taken and do not count.
    pub lost: u64,
    /// The interrupt that woke the CPU, where it was suspended.
    pub waker: Waker,
}

/// How the samples of a point are spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// Index of the CPU in the board's order.
    pub cpu: u16,
    /// As the point's.
    pub how: How,
    /// As the point's.
    pub variant: &'static str,
    /// As the point's.
    pub measure: Measure,
    /// The samples, in the measure's unit; their number is the point's n.
    pub histogram: Histogram,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_words() {
        for measure in Measure::ALL {
            let key = measure.key();
            assert!(key.bytes().all(|b| b.is_ascii_lowercase()), "{key}");
        }
    }
}
