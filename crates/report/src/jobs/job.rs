//! A lab engine's job.

use itertools::Itertools as _;
use serde::Serialize;

use super::cell::Mark;
use super::job_outcome::JobOutcome;
use super::results::Results;
use crate::log::LoggedRun;

/// A lab engine's job, or a single file from such a job, with its outcome.
#[derive(Clone, Debug, Serialize)]
pub struct LabJob {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) key: Key,
    pub(crate) engine: Option<String>,
    pub(crate) outcome: JobOutcome,
    /// The reasons for an outcome other than passed.
    pub(crate) said: Vec<String>,
    pub(crate) notes: Vec<String>,
    pub(crate) results: Option<Results>,
    pub(crate) measurements: Option<usize>,
    /// The indices of the job's runs among all runs that were read.
    pub(crate) runs: Vec<usize>,
    #[serde(skip)]
    pub(super) mark: Option<Mark>,
}

/// A job's name: the board and the firmware.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Key {
    /// The board name in its cell or, if there is none, in the payload output.
    pub(crate) board: String,
    /// The firmware name in its cell or, if there is none, the firmware version.
    pub(crate) firmware: String,
}

/// The placeholder for a board or firmware that neither the cell nor the log identifies.
const NOT_KNOWN: &str = "not known";

impl Key {
    /// Returns the name from a cell's marker file or, if there is none, from the runs.
    pub(super) fn of<'r>(
        mark: Option<&Mark>,
        runs: impl Iterator<Item = &'r LoggedRun> + Clone,
    ) -> Self {
        let by_runs = |name: fn(&LoggedRun) -> Option<&str>| {
            let names = runs.clone().map(|run| name(run).unwrap_or(NOT_KNOWN));
            let names = names.unique().join(", ");
            let is_known = !names.is_empty();
            if is_known {
                names
            } else {
                NOT_KNOWN.to_owned()
            }
        };
        Self {
            board: mark.map_or_else(|| by_runs(LoggedRun::board), |it| it.board.clone()),
            firmware: mark.map_or_else(
                || by_runs(LoggedRun::firmware_version),
                |it| it.firmware.clone(),
            ),
        }
    }
}
