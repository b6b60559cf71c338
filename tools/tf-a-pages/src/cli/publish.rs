//! The `publish` verb.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use host::tf_a_version;
use report::analysis::typical::typical;
use report::cli::chosen_runs::{ChosenRuns, read_baseline, read_each, run_number_parser};
use report::cli::comparison_arguments::ComparisonArguments;
use report::cli::report_verdict::judge;
use report::export::Report;

use crate::tfa_docs::{self, Publication};

const PASS_TREE: &str = "pass TF-A's source tree after the logs";

/// Arguments of `publish`.
#[derive(Args, Debug)]
#[command(override_usage = "{program} publish [OPTIONS] --platform <NAME> <NEW>... <TF-A>")]
#[command(after_help = "\
Examples:
  {program} publish new.log --platform juno ../trusted-firmware-a
  {program} publish new.log --previous old.log --platform juno TF-A

Exit codes: 1 regression against --previous; the figures are published anyway
Details: tools/tf-a-pages/README.md")]
pub struct PublishArguments {
    // All paths are in a single list, because with two arguments, clap would assign the last path
    // before an option to the second argument.
    /// Logs of the release (the typical run is published), then TF-A's source tree.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The platform name in the TF-A documentation, such as juno.
    #[arg(long, value_name = "NAME")]
    platform: String,
    /// Log of the previous release [default: TF-A's figures].
    #[arg(long, value_name = "OLD")]
    previous: Vec<PathBuf>,
    /// Use the Nth run in OLD.
    #[arg(long, value_name = "N", requires = "previous", value_parser = run_number_parser())]
    previous_run: Option<usize>,
    /// Publish the Nth run in NEW.
    #[arg(long, value_name = "N", value_parser = run_number_parser())]
    run: Option<usize>,
    #[command(flatten)]
    comparison: ComparisonArguments,
    /// Write the data files only.
    #[arg(long)]
    no_page: bool,
}

impl PublishArguments {
    /// Publishes the run and returns the exit code.
    pub(super) fn run(&self) -> Result<u8> {
        let Some((tf_a, new)) = self
            .paths
            .split_last()
            .filter(|(_, new_logs)| !new_logs.is_empty())
        else {
            bail!("publish takes logs and then TF-A's source tree, but only one path was given");
        };
        if tf_a.exists() && !tf_a.is_dir() {
            let path = tf_a.display();
            bail!("{path}: not a directory; {PASS_TREE}");
        }
        if self.previous.is_empty() && !self.comparison.row_cpus.is_empty() {
            bail!("--row-cpus needs an old log to compare with; add --previous");
        }
        if let Err(error) = tf_a_version(tf_a) {
            bail!("{}: {error}; {PASS_TREE}", tf_a.display());
        }
        let mut baseline = if self.previous.is_empty() {
            None
        } else {
            let option = "--previous-run";
            Some(read_baseline(&self.previous, self.previous_run, option)?)
        };
        let mut chosen = ChosenRuns::new(self.run);
        read_each(new, |logged| chosen.add(logged))?;
        let mut runs = chosen.end("--run", "the input")?;
        if new.len() == 1 && runs.len() > 1 {
            let (path, count) = (new[0].display(), runs.len());
            bail!("{path}: contains {count} runs; choose one with --run N");
        }
        if runs.len() > 1 {
            runs = vec![typical(&runs)?];
        }
        let mut report: Report = runs.into();
        let options = self.comparison.options();
        if let Some(baseline) = &mut baseline {
            report.comparisons = self
                .comparison
                .compare(&mut report.runs, baseline, &options)?;
        }
        let publication = Publication {
            platform: &self.platform,
            has_page: !self.no_page,
            options: &options,
        };
        let comparison = report.comparisons.first();
        tfa_docs::publish(&report.runs[0], comparison, &publication, tf_a)?;
        Ok(judge(&report, baseline.as_ref()))
    }
}
