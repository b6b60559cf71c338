//! The command line of `psci-report`, with one file per verb; `cargo xtask` has the same verbs.

pub mod acpi_files;
mod audit;
mod audit_idle;
mod browser;
mod chosen_runs;
mod compare;
mod comparison_arguments;
mod dts_file;
#[cfg(any(test, feature = "testing"))]
pub mod example_files;
mod follow;
mod history;
mod output;
mod program;
mod publish;
mod report;
mod report_verdict;
#[cfg(test)]
mod tests;
mod tree_files;
mod verb;

pub use self::comparison_arguments::ToleranceArgument;
pub use self::program::{command, main};
pub use self::verb::ReportVerb;
