//! Which readings the times of a call come from.

/// The readings from which an outcome is judged and its figures are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeSource {
    /// Only the counter, which the payload reads around a call.
    Counter,
    /// The counter, and the timestamps that PMF captures inside the firmware.
    CounterAndPmf,
}

impl TimeSource {
    /// Returns true if PMF's timestamps are used.
    pub const fn has_pmf(self) -> bool {
        matches!(self, Self::CounterAndPmf)
    }
}
