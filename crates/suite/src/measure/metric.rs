//! The measured quantities and their units.

use hardware::words;

words! {
    /// A quantity measured for each sample. Records list series in this order, so new metrics are
    /// added at the end.
    pub enum Metric, key {
        /// PMF: ENTER_PSCI to ENTER_HW_LOW_PWR.
        Powerdown = "powerdown",
        /// PMF: EXIT_HW_LOW_PWR to EXIT_PSCI.
        Wakeup = "wakeup",
        /// PMF: ENTER_CFLUSH to EXIT_CFLUSH.
        CacheFlush = "cflush",
        /// PMF: ENTER_PSCI to EXIT_PSCI for a call that simply returns.
        Latency = "latency",
        /// Caller: from the call to its return or to the entry point.
        Call = "call",
        /// Caller: from the scheduled time of the wake-up to the return or the entry point.
        Wake = "wake",
        /// Caller: from the lead's CPU_ON to the CPU's first instruction.
        TurnOn = "turnon",
        /// Caller: from CPU_OFF until AFFINITY_INFO returns OFF, as polled by the lead.
        TurnOff = "turnoff",
        /// A batch of operations in a loop.
        Time = "ticks",
        /// A batch of operations in a loop, measured with PMCCNTR_EL0.
        Cycles = "cycles",
        /// From a timer's expiry to the first instruction of the handler.
        Entry = "entry",
        /// From a timer's expiry to the first line of the Rust handler.
        Handler = "handler",
        /// The increase in PSCI_STAT_COUNT for the requested state.
        Count = "count",
        /// The increase in PSCI_STAT_RESIDENCY for the reached state.
        Residency = "residency",
        /// From the instant at which an interrupt falls due within a call to the first instruction
        /// of the handler, less the same time without the call.
        Masked = "masked",
        /// The last offset in an interval, from the call to the instant at which an interrupt falls
        /// due.
        #[serde(alias = "until")]
        LastOffset = "last-offset",
        /// From one read of the counter to the next in a loop, if it is more than twice as long as
        /// the loop's own time.
        Gap = "gap",
        /// The sum of the gaps in a second.
        Stolen = "stolen",
        /// The shortest time from one read of the counter to the next in a loop.
        Loop = "loop",
    }
}

/// The number of [`Metric`]s.
pub const METRICS: usize = Metric::COUNT;

/// A metric's unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Unit {
    /// Ticks of the run's counter.
    Ticks,
    Cycles,
    /// Microseconds, the unit of PSCI_STAT_RESIDENCY.
    Microseconds,
    Count,
}

impl Metric {
    /// The metrics used to compare samples: powerdown or latency from PMF or, without PMF,
    /// the caller's metrics.
    pub const LEADING: [Self; 4] = [Self::Powerdown, Self::Latency, Self::Call, Self::TurnOff];

    /// The figures that the caller measures, in column order.
    pub const OF_CALLER: [Self; 4] = [Self::TurnOff, Self::TurnOn, Self::Call, Self::Wake];

    /// Returns the unit of the metric's figures.
    pub const fn unit(self) -> Unit {
        match self {
            Self::Cycles => Unit::Cycles,
            Self::Count => Unit::Count,
            Self::Residency => Unit::Microseconds,
            _ => Unit::Ticks,
        }
    }

    /// Returns the metric name for use as a heading.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Powerdown => "Powerdown",
            Self::Wakeup => "Wakeup",
            Self::CacheFlush => "Cache Flush",
            Self::Latency => "Latency",
            Self::Call => "Call",
            Self::Wake => "Wake",
            Self::TurnOn => "Turn On",
            Self::TurnOff => "Turn Off",
            Self::Time => "Time",
            Self::Cycles => "Cycles",
            Self::Entry => "Expiry to Vector",
            Self::Handler => "Expiry to Handler",
            Self::Masked => "Longest Masked",
            Self::LastOffset => "Last Offset",
            Self::Gap => "Gap",
            Self::Stolen => "Stolen",
            Self::Loop => "Loop",
            Self::Count => "PSCI_STAT_COUNT",
            Self::Residency => "PSCI_STAT_RESIDENCY",
        }
    }

    /// Returns the text that follows a scenario's name in the title of a table.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Time | Self::Cycles => "",
            Self::Powerdown => ": powerdown",
            Self::Wakeup => ": wakeup",
            Self::CacheFlush => ": cache flush",
            Self::Latency => ": latency",
            Self::Call => ": call to return",
            Self::Wake => ": scheduled wake-up to resume",
            Self::TurnOn => ": CPU_ON to first instruction",
            Self::TurnOff => ": CPU_OFF to OFF",
            Self::Entry => ": expiry to vector",
            Self::Handler => ": expiry to handler",
            Self::Masked => ": longest time masked",
            Self::LastOffset => ": last offset",
            Self::Gap => ": gaps",
            Self::Stolen => ": stolen in a second",
            Self::Loop => ": the loop itself",
            Self::Count => ": PSCI_STAT_COUNT",
            Self::Residency => ": PSCI_STAT_RESIDENCY",
        }
    }

    /// Returns a sentence about what the caller measures; an empty string for other metrics, which
    /// TF-A or the table's title defines. `sleeps` is true if the CPU sleeps during the call.
    pub const fn meaning(self, sleeps: bool) -> &'static str {
        match self {
            Self::Call if sleeps => {
                "Call is measured from the call until the CPU resumes, including the sleep. "
            }
            Self::Call => "Call is measured from the call to its return. ",
            Self::Wake => "Wake is measured from the scheduled wake-up until the CPU resumes. ",
            Self::TurnOff => "Turn Off is measured from CPU_OFF until AFFINITY_INFO returns OFF. ",
            Self::TurnOn => "Turn On is measured from CPU_ON to the first instruction. ",
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn previous_word_of_the_last_offset_is_still_read() {
        for word in ["\"until\"", "\"last-offset\""] {
            let metric: Metric = serde_json::from_str(word).expect(word);
            assert_eq!(metric, Metric::LastOffset);
        }
    }
}
