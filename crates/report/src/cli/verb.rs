//! The verbs, which `psci-report` and `cargo xtask` have in common.

use anyhow::Result;
use clap::Subcommand;

use super::compare::CompareArguments;
use super::follow::FollowArguments;
use super::history::HistoryArguments;
use super::report::ReportArguments;

/// A verb that works on logs and published tables.
#[derive(Debug, Subcommand)]
pub enum ReportVerb {
    /// Turn UART logs into tables or data.
    Report(ReportArguments),
    /// Compare runs with an old one, and exit with 1 on a regression.
    Compare(CompareArguments),
    /// Show how figures changed across releases, or boards side by side.
    History(HistoryArguments),
    /// Log a board's run over a serial port, then report on it.
    Follow(FollowArguments),
}

impl ReportVerb {
    /// Runs the verb and returns its exit code.
    ///
    /// # Errors
    /// Returns an error if the input or the command line is invalid.
    pub fn run(&self) -> Result<u8> {
        match self {
            Self::Report(arguments) => arguments.run(),
            Self::Compare(arguments) => arguments.run(),
            Self::History(arguments) => arguments.run(),
            Self::Follow(arguments) => arguments.run(),
        }
    }
}
