//! The trait of all formats, and the report that they take.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};

use crate::report::analysis::compare::Comparison;
use crate::report::analysis::merge::Merged;
use crate::report::jobs::matrix::Matrix;
use crate::report::log::LoggedRun;

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
}

impl From<Vec<LoggedRun>> for Report {
    fn from(runs: Vec<LoggedRun>) -> Self {
        Self {
            runs,
            ..Self::default()
        }
    }
}

/// Wishes besides the report.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The platform's name in paths, such as `juno`.
    pub platform: Option<String>,
}

/// The parts that a format has a place for besides runs, each for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Takes {
    /// Several runs as one.
    pub merged: bool,
    /// Jobs, and their runs side by side.
    pub matrix: bool,
    /// A comparison with a baseline.
    pub comparisons: bool,
    /// The platform's name in paths.
    pub platform: bool,
}

impl Takes {
    /// The parts of formats for people, and of `json`.
    pub(super) const RESULTS: Self = Self {
        merged: true,
        matrix: true,
        comparisons: true,
        platform: false,
    };
}

/// Writes a report in one format.
pub trait Exporter: Sync {
    /// Returns the format's name, for `--format`.
    fn name(&self) -> &'static str;

    /// Returns a few words for the help.
    fn about(&self) -> &'static str;

    /// Returns true if it makes a tree of files instead of one stream.
    fn is_tree(&self) -> bool {
        false
    }

    /// Returns the parts that it has a place for besides runs.
    fn takes(&self) -> Takes {
        Takes::default()
    }

    /// Writes the report as one stream.
    ///
    /// # Errors
    /// Those of `out`; a report that the format has no place for.
    fn write(&self, report: &Report, options: &Options, out: &mut dyn Write) -> Result<()>;

    /// Writes the report as files below `root`, which exists. What is there
    /// already may be taken into account, and is never left half replaced.
    ///
    /// # Errors
    /// Those of the file system; a report that the format has no place for.
    fn write_tree(&self, report: &Report, options: &Options, root: &Path) -> Result<()> {
        let _ = (report, options, root);
        bail!("{} is no tree of files", self.name())
    }
}

/// Returns the only run of `report`.
///
/// # Errors
/// When there are more, and `what` takes one.
pub fn only_run<'r>(report: &'r Report, what: &str) -> Result<&'r LoggedRun> {
    match report.runs.as_slice() {
        [run] => Ok(run),
        runs => bail!(
            "{what} takes one run, and there are {}: choose one by --run N",
            runs.len()
        ),
    }
}
