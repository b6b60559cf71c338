//! `cargo xtask ledger`.

use anyhow::Result;
use clap::Args;

use super::commits::CommitsArguments;
use crate::commits::ledger_bench::LedgerBench;
use crate::commits::verdict_bench::VerdictBench;

/// Profile each commit of a TF-A checkout, and list the changes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask ledger v2.12.0..v2.13.0 --tf-a ../trusted-firmware-a
  cargo xtask ledger HEAD~5..HEAD --tf-a ../tf-a --format html -o ledger.html
  cargo xtask ledger HEAD~5..HEAD --tf-a ../tf-a --verdicts --el 1

Exit codes: 1 worse; 3 interrupted, or no results for the first or last commit
Details: docs/profile.md, docs/fitness.md, docs/qemu.md")]
pub struct LedgerArguments {
    #[command(flatten)]
    pub commits: CommitsArguments,
    /// Check which functions work instead.
    #[arg(long, conflicts_with = "tolerance")]
    pub verdicts: bool,
}

pub(super) fn run(arguments: &LedgerArguments) -> Result<u8> {
    let commits = &arguments.commits;
    match arguments.verdicts {
        true => commits.check(VerdictBench::ledger),
        false => commits.profile(LedgerBench::ledger),
    }
}
