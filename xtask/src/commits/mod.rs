//! Measures the commits of a TF-A checkout: all commits in a range, or those that a bisection
//! selects.
//!
//! ```text
//! commit_bench ──── one commit at a time: unpack, build, run, keep the result
//! kept_file ─────── results with a checksum
//! known_commits ─── which result belongs to a commit that was measured earlier
//! bisect ────────── finds the steps in a value over a range
//! ledger_bench ──── profiles -> figures -> ledger, ledger_export
//! verdict_bench ─── fitness checks -> verdicts -> verdict_ledger, verdict_export
//! ```

mod bisect;
mod commit_bench;
mod kept_file;
mod known_commits;
pub mod ledger;
pub mod ledger_bench;
pub mod ledger_export;
pub mod verdict_bench;
pub mod verdict_export;
pub mod verdict_ledger;
pub mod verdicts;
