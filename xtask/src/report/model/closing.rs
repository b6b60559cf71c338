//! A run's last line, and what its records say instead.

use psci_bench::model::Verdict;

/// The last line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closing {
    /// What it says.
    pub verdict: Verdict,
    /// The line itself.
    pub line: String,
}

/// The last line as the records make it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByRecords {
    /// What it says.
    pub verdict: Verdict,
    pub(super) line: String,
    /// The same without the number of rows skipped: an earlier version's, or one
    /// that has no room for more.
    pub(super) short: String,
    /// Whether they tell all of its counts; else those of scenarios alone.
    pub(super) is_all: bool,
}
