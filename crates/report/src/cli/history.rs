//! The `history` verb.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use itertools::Itertools as _;

use super::chosen_runs::read_all;
use super::comparison_arguments::ToleranceArgument;
use super::output::{OutputArguments, WithFormats};
use super::report_verdict::judge;
use crate::analysis::history::history;
use crate::export::{Format, Report, ReportPart, able};
use crate::log::LoggedRun;

impl WithFormats for HistoryArguments {
    type Format = &'static Format;

    fn formats() -> Vec<&'static Format> {
        able(ReportPart::History).collect()
    }
}

/// Arguments of `history`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  {program} history v2.12.log v2.13.log
  {program} history v2.12/juno.rst v2.13/juno.rst
  {program} history v2.12.log v2.13.log --format html -o history.html
  {program} history juno.log n1sdp.log      # boards, side by side

A run is a page such as TF-A's docs/perf/psci-performance-juno.rst, a folder
of published tables, or a log. List a board's oldest release first. A single
folder with previous and current releases, docs/perf/data/juno, is enough.

Exit codes: 3 if a log is incomplete
Details: docs/report.md, Across releases and boards")]
pub struct HistoryArguments {
    /// Releases of one board, or several boards: pages, folders, logs.
    #[arg(required = true, value_name = "RUN")]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    tolerance: ToleranceArgument,
    #[command(flatten)]
    output: OutputArguments<Self>,
}

impl HistoryArguments {
    /// Writes the history and returns the exit code.
    pub(super) fn run(&self) -> Result<u8> {
        self.output.check("RUN", &self.inputs)?;
        let runs: Vec<LoggedRun> = releases(&self.inputs)
            .iter()
            .map(|path| read_only_run(path))
            .collect::<Result<_>>()?;
        let report = Report {
            history: Some(history(&runs, self.tolerance.ppm)?),
            runs,
            ..Report::default()
        };
        self.output.write(&report)?;
        Ok(judge(&report, None))
    }
}

/// Returns the releases in `inputs`. A single folder of published tables contains two: the previous
/// release's and the current one's.
fn releases(inputs: &[PathBuf]) -> Vec<PathBuf> {
    if let [only] = inputs {
        let both = ["previous", "current"].map(|release| only.join(release));
        if both.iter().all(|release| release.is_dir()) {
            return both.into();
        }
    }
    inputs.to_vec()
}

/// Returns the only run in `release`.
fn read_only_run(release: &Path) -> Result<LoggedRun> {
    let runs = read_all(&[release.to_owned()])?;
    let count = runs.len();
    let input = release.display();
    runs.into_iter()
        .exactly_one()
        .ok()
        .with_context(|| format!("{input}: contains {count} runs; use a log with exactly one"))
}
