//! `cargo xtask bisect`.

use anyhow::{Context, Result};
use clap::Args;
use itertools::Itertools as _;
use suite::model::Function;
use suite::scenarios::rules;

use super::commits_arguments::CommitsArguments;
use crate::commits::figure_comparison::Selected;
use crate::commits::ledger_bench::LedgerBench;
use crate::commits::verdict_comparison::VerdictComparison;
use crate::commits::verdicts::Tested;

/// Find the TF-A commits that change a figure or a verdict.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask bisect susp_deep_serial:cache-flush A..B --tf-a ../tf-a
  cargo xtask bisect susp_deep_parallel:entry:all HEAD~5..HEAD --tf-a ../tf-a
  cargo xtask bisect verdict:child-stays-on A..B --tf-a ../tf-a --variant osi=1
Exit codes: 1 worse; 3 interrupted, or no first or last result
Details: tools/profiler/README.md, docs/fitness.md, docs/qemu.md")]
pub struct BisectArguments {
    /// SCENARIO:PHASE[:all|:EVENT], verdict:FUNCTION, or verdict:RULE.
    #[arg(value_name = "FIGURE")]
    pub figure: String,
    #[command(flatten)]
    pub commits: CommitsArguments,
}

pub(super) fn run(arguments: &BisectArguments) -> Result<u8> {
    let commits = &arguments.commits;
    if let Some(name) = arguments.figure.strip_prefix("verdict:") {
        let selected = VerdictComparison {
            selected: Some(Tested::from_name(name).with_context(|| unknown(name))?),
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
    let rules = rules().map(|rule| rule.key).join(", ");
    format!(
        "verdict:{name}: neither a function nor a rule; the functions are {known}; the rules are \
         {rules}"
    )
}
