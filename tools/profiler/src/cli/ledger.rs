//! `cargo xtask ledger`.

use anyhow::Result;
use clap::Args;

use super::commits_arguments::CommitsArguments;
use super::profile::parse_event;
use crate::commits::ledger_bench::LedgerBench;
use crate::commits::verdict_comparison::VerdictComparison;
use crate::profile::event::Event;

/// Profile each commit of a TF-A checkout, and list the changes.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask ledger HEAD~5..HEAD --tf-a ../tf-a --format html -o ledger.html
Exit codes: 1 worse; 3 interrupted, or no results for the first or last commit
Details: tools/profiler/README.md, docs/fitness.md, docs/qemu.md")]
pub struct LedgerArguments {
    #[command(flatten)]
    pub commits: CommitsArguments,
    /// Event to count, such as dsb.
    #[arg(long, value_name = "EVENT", value_parser = parse_event)]
    pub unit: Option<Event>,
    /// Measure only A, B and the releases between them.
    #[arg(long)]
    pub releases: bool,
    /// Check which functions work instead.
    #[arg(long, conflicts_with_all = ["tolerance", "unit"])]
    pub verdicts: bool,
}

pub(super) fn run(arguments: &LedgerArguments) -> Result<u8> {
    let commits = &arguments.commits;
    let releases = arguments.releases;
    if arguments.verdicts {
        let all = VerdictComparison { selected: None };
        commits.measure(&commits.checked_run()?, releases, all, LedgerBench::ledger)
    } else {
        let all = commits.all_figures(arguments.unit);
        let run = commits.profiled_run(None);
        commits.measure(&run, releases, all, LedgerBench::ledger)
    }
}
