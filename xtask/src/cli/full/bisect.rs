//! `cargo xtask bisect`.

use anyhow::Result;
use clap::Args;

use super::commits::CommitsArguments;
use crate::profile::ledger::Selected;

/// Find the commits of a TF-A checkout that change a figure.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask bisect susp_deep_serial:cache-flush v2.12.0..v2.13.0 \\
      --tf-a ../trusted-firmware-a --first-parent
  cargo xtask bisect susp_deep_parallel:entry:all HEAD~5..HEAD --tf-a ../tf-a

Exit codes: 1 the figure grows; 3 interrupted, or no first or last figure
Details: docs/profile.md, docs/qemu.md")]
pub struct BisectArguments {
    /// SCENARIO:PHASE, or SCENARIO:PHASE:all for all CPUs.
    #[arg(value_name = "FIGURE")]
    pub figure: String,
    #[command(flatten)]
    pub commits: CommitsArguments,
}

pub(super) fn run(arguments: &BisectArguments) -> Result<u8> {
    let figure = Selected::parse(&arguments.figure);
    arguments
        .commits
        .run(|bench, range, tolerance| bench.bisect(range, tolerance, figure))
}
