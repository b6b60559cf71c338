//! `cargo xtask bisect`.

use anyhow::{Context, Result};
use clap::Args;
use hardware::text::keywords::Word as _;
use itertools::Itertools as _;
use suite::model::Function;

use super::commits_arguments::CommitsArguments;
use crate::commits::figure_comparison::Selected;
use crate::commits::ledger_bench::LedgerBench;
use crate::commits::verdict_comparison::VerdictComparison;

/// Find the TF-A commits that change a figure or a verdict.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask bisect susp_deep_serial:cache-flush A..B --tf-a ../tf-a
  cargo xtask bisect susp_deep_parallel:entry:all HEAD~5..HEAD --tf-a ../tf-a
  cargo xtask bisect verdict:CPU_ON A..B --tf-a ../tf-a --board qemu-sbsa
Exit codes: 1 worse; 3 interrupted, or no first or last result
Details: tools/profiler/README.md, docs/fitness.md, docs/qemu.md")]
pub struct BisectArguments {
    /// SCENARIO:PHASE[:all|:EVENT], or verdict:FUNCTION.
    #[arg(value_name = "FIGURE")]
    pub figure: String,
    #[command(flatten)]
    pub commits: CommitsArguments,
}

pub(super) fn run(arguments: &BisectArguments) -> Result<u8> {
    let commits = &arguments.commits;
    if let Some(name) = arguments.figure.strip_prefix("verdict:") {
        let function = Function::from_word(name).with_context(|| unknown(name))?;
        let selected = VerdictComparison {
            selected: Some(function),
        };
        return commits.measure(
            &commits.checked_run()?,
            false,
            selected,
            LedgerBench::bisect,
        );
    }
    let figure = Selected::parse(&arguments.figure);
    let run = commits.profiled_run(figure.scenario());
    commits.measure(&run, false, commits.one_figure(figure), |bench| {
        let ledger = bench.bisect()?;
        ledger.check_figure()?;
        Ok(ledger)
    })
}

fn unknown(name: &str) -> String {
    let known = Function::ALL
        .iter()
        .map(|function| function.name())
        .join(", ");
    format!("verdict:{name}: unknown function; the functions are {known}")
}
