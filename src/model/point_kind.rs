//! Figures of the scenarios outside TFTF's suite.

use crate::spec::words::words;

words! {
    /// On how many CPUs it was measured.
    #[derive(Default)]
    pub enum How, word {
        /// On one CPU, every other one off, the lead apart, who waits.
        #[default]
        Alone = "alone",
        /// On all CPUs at the same time.
        All = "all",
    }
}

/// Unit of a point's figures.
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

words! {
    /// Which figure of a sample a point is about.
    #[derive(Default)]
    pub enum Measure, key {
        /// All that the sample's operations took.
        #[default]
        Ticks = "ticks",
        /// Duration of the call, in cycles.
        Cycles = "cycles",
        /// From a timer's expiry to the exception vector.
        Entry = "entry",
        /// From a timer's expiry to its handler.
        Handler = "handler",
        /// PMF: ENTER_PSCI to ENTER_HW_LOW_PWR.
        Powerdown = "powerdown",
        /// PMF: EXIT_HW_LOW_PWR to EXIT_PSCI.
        Wakeup = "wakeup",
        /// PMF: ENTER_CFLUSH to EXIT_CFLUSH.
        CacheFlush = "cflush",
        /// From the call to its return or to the entry point.
        Call = "call",
        /// From the due wake-up to the return or the entry point.
        Wake = "wake",
        /// From CPU_ON to the CPU's first instruction.
        TurnOn = "turnon",
        /// From CPU_OFF to AFFINITY_INFO saying OFF.
        TurnOff = "turnoff",
        /// By how much PSCI_STAT_COUNT of the state that was asked for rose.
        Count = "count",
        /// By how much PSCI_STAT_RESIDENCY of the state that was reached rose.
        Residency = "residency",
    }
}

impl Measure {
    /// Returns the unit of its figures.
    pub const fn unit(self) -> Unit {
        match self {
            Self::Cycles => Unit::Cycles,
            Self::Count => Unit::Count,
            Self::Residency => Unit::Microseconds,
            _ => Unit::Ticks,
        }
    }
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
