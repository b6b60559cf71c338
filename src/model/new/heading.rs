//! The names of figures in tables and sentences.

use crate::measure::Metric;
use crate::model::Measure;

impl Metric {
    /// Returns the name as a heading of tables.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Powerdown => "Powerdown",
            Self::Wakeup => "Wakeup",
            Self::CacheFlush => "Cache Flush",
            Self::Latency => "Latency",
            Self::Call => "Call",
            Self::Wake => "Wake",
            Self::TurnOff => "Turn Off",
            Self::TurnOn => "Turn On",
            Self::Lateness => "Lateness",
        }
    }
}

impl Measure {
    /// Returns the name as a heading of tables.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Ticks => "Time",
            Self::Cycles => "Cycles",
            Self::Entry => "Expiry to Vector",
            Self::Handler => "Expiry to Handler",
            Self::Powerdown => Metric::Powerdown.heading(),
            Self::Wakeup => Metric::Wakeup.heading(),
            Self::CacheFlush => Metric::CacheFlush.heading(),
            Self::Call => Metric::Call.heading(),
            Self::Wake => Metric::Wake.heading(),
            Self::TurnOn => Metric::TurnOn.heading(),
            Self::TurnOff => Metric::TurnOff.heading(),
            Self::Count => "PSCI_STAT_COUNT",
            Self::Residency => "PSCI_STAT_RESIDENCY",
        }
    }
}
