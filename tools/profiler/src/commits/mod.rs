//! Measures the commits of a TF-A checkout: all commits in a range, or those that a bisection
//! selects.
//!
//! ```text
//! commit_bench ──── one commit at a time: unpack, build, run, keep the result
//! kept_file ─────── results with a checksum
//! known_commits ─── which result belongs to a commit that was measured earlier
//! bisect ────────── finds the jumps in a value over a range
//! profiles ──────── measures a commit by profiling it
//! verdicts ──────── measures a commit by the fitness checks
//! ledger ────────── entries and jumps, for anything that can be compared
//! figure_comparison, verdict_comparison ── what is compared
//! ledger_bench ──── measures a range of commits and returns its ledger
//! ledger_export ─── what all ledgers print; figure_export, verdict_export add the rest
//! ```

mod bisect;
mod commit_bench;
pub mod figure_comparison;
pub mod figure_export;
mod kept_file;
mod known_commits;
pub mod ledger;
pub mod ledger_bench;
pub mod ledger_export;
mod profiles;
pub mod verdict_comparison;
pub mod verdict_export;
pub mod verdicts;
