//! The command line of `psci-report`, which is also that of `cargo xtask`: a file a verb.

pub mod chosen_runs;
pub mod overhead;
pub mod report;
pub mod report_verdict;
mod share;

pub use self::share::parse_share;
