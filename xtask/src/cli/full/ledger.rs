//! `cargo xtask ledger`.

use anyhow::Result;
use clap::Args;

use super::commits::CommitsArguments;
use crate::profile::ledger_bench::LedgerBench;

/// Profile each commit of a TF-A checkout, and list the changes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask ledger v2.12.0..v2.13.0 --tf-a ../trusted-firmware-a
  cargo xtask ledger HEAD~5..HEAD --tf-a ../tf-a --format html -o ledger.html

Exit codes: 1 a figure grows; 3 interrupted, or no first or last figures
Details: docs/profile.md, docs/qemu.md")]
pub struct LedgerArguments {
    #[command(flatten)]
    pub commits: CommitsArguments,
}

pub(super) fn run(arguments: &LedgerArguments) -> Result<u8> {
    arguments.commits.run(LedgerBench::ledger)
}
