//! The `compare` verb.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::chosen_runs::{ChosenRuns, read_baseline, read_each, run_number_parser};
use super::comparison_arguments::ComparisonArguments;
use super::output::{OutputArguments, WithFormats};
use super::report_verdict::judge;
use crate::analysis::compare::Options;
use crate::export::{Format, Report, ReportPart, able};

impl WithFormats for CompareArguments {
    type Format = &'static Format;

    fn formats() -> Vec<&'static Format> {
        able(ReportPart::Comparisons).collect()
    }
}

/// Arguments of `compare`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  {program} compare old.log new.log
  {program} compare old.log new.log --format html -o changes.html
  {program} compare docs/perf/data/juno new.log

Exit codes: 1 regression; 3 a run or the comparison is incomplete
Details: docs/report.md, Comparing")]
pub struct CompareArguments {
    /// Log or published tables to compare with; - is stdin.
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// Logs or published tables, each compared with OLD.
    #[arg(required = true, value_name = "NEW")]
    new: Vec<PathBuf>,
    /// Another log of the old firmware; the most typical run is used.
    #[arg(long = "old", value_name = "LOG")]
    more_old: Vec<PathBuf>,
    /// Use the Nth run in OLD.
    #[arg(long, value_name = "N", value_parser = run_number_parser())]
    old_run: Option<usize>,
    /// Compare only the Nth run in NEW.
    #[arg(long, value_name = "N", value_parser = run_number_parser())]
    new_run: Option<usize>,
    /// Also show explanations, unchanged figures and the runs.
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    comparison: ComparisonArguments,
    #[command(flatten)]
    output: OutputArguments<Self>,
}

impl CompareArguments {
    /// Writes the runs and their changes, and returns the exit code.
    pub(super) fn run(&self) -> Result<u8> {
        let mut old = vec![self.old.clone()];
        old.extend(self.more_old.iter().cloned());
        self.output.check("OLD", &old)?;
        self.output.check("NEW", &self.new)?;
        let mut baseline = read_baseline(&old, self.old_run, "--old-run")?;
        let mut chosen = ChosenRuns::new(self.new_run);
        read_each(&self.new, |logged| chosen.add(logged))?;
        let mut report: Report = chosen.end("--new-run", "the input")?.into();
        report.is_full = self.full;
        let options = Options {
            shows_pmf_cost: true,
            ..self.comparison.options()
        };
        report.comparisons = self
            .comparison
            .compare(&mut report.runs, &mut baseline, &options)?;
        self.output.write(&report)?;
        Ok(judge(&report, Some(&baseline)))
    }
}
