//! The command line of `psci-report`, with one file per verb; `cargo xtask` has the same verbs.

mod browser;
pub mod chosen_runs;
mod compare;
pub mod comparison_arguments;
#[cfg(any(test, feature = "testing"))]
pub mod example_files;
mod follow;
mod history;
pub mod output;
mod program;
mod report;
pub mod report_verdict;
#[cfg(test)]
mod tests;
mod verb;

pub use self::comparison_arguments::ToleranceArgument;
pub use self::program::{command, main};
pub use self::verb::ReportVerb;
