//! The report that all formats take.

use anyhow::{Result, bail};

use crate::analysis::audit::Audit;
use crate::analysis::compare::Comparison;
use crate::analysis::merge::Merged;
use crate::jobs::matrix::Matrix;
use crate::log::LoggedRun;

/// Everything that was read.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The runs, in the order of the inputs and of their lines.
    pub runs: Vec<LoggedRun>,
    /// All of them as one, where that was asked for.
    pub merged: Option<Merged>,
    /// All of them side by side, where that was asked for.
    pub matrix: Option<Matrix>,
    /// Each run beside the baseline, where one was given.
    pub comparisons: Vec<Comparison>,
    /// Published pages beside themselves, where that was asked for.
    pub audits: Vec<Audit>,
}

impl From<Vec<LoggedRun>> for Report {
    fn from(runs: Vec<LoggedRun>) -> Self {
        Self {
            runs,
            ..Self::default()
        }
    }
}

impl Report {
    /// Returns the only run, for a `format` that takes one.
    pub(super) fn only_run(&self, format: &str) -> Result<&LoggedRun> {
        let [run] = self.runs.as_slice() else {
            let count = self.runs.len();
            bail!("{format} takes one run, and there are {count}: choose one by --run N");
        };
        Ok(run)
    }
}
