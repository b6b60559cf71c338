//! The report data from which all formats are generated.

use crate::analysis::compare::Comparison;
use crate::analysis::history::History;
use crate::log::LoggedRun;

/// All the data that a report presents.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The runs, in input order.
    pub runs: Vec<LoggedRun>,
    /// The comparison of each run with the baseline, if one was given.
    pub comparisons: Vec<Comparison>,
    /// The board's history across all runs (one per release), if requested.
    pub history: Option<History>,
    /// True if a comparison shows unchanged figures, and nothing is folded.
    pub is_full: bool,
}

impl From<Vec<LoggedRun>> for Report {
    fn from(runs: Vec<LoggedRun>) -> Self {
        Self {
            runs,
            ..Self::default()
        }
    }
}
