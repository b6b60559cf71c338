//! The `merge` verb.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use host::progress::say;

use super::chosen_runs::read_all;
use super::output::{check_output, format_help, format_parser, write_report};
use super::report_verdict::judge;
use crate::analysis::merge::{merge, take_repeats};
use crate::export::{Format, Report, ReportPart};

const PART: ReportPart = ReportPart::Merged;

/// Arguments of `merge`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  {program} merge monday.log tuesday.log
  {program} merge monday.log tuesday.log --format md -o week.md

Exit codes: 2 if the runs differ in board, firmware or conditions
Details: docs/report.md, Merging")]
pub struct MergeArguments {
    /// Logs of the runs to merge; - is stdin.
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = format_parser(PART))]
    #[arg(help = format_help(PART))]
    format: &'static Format,
    /// File to write [default: stdout].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl MergeArguments {
    /// Writes the merged report and returns the exit code.
    pub(super) fn run(&self) -> Result<u8> {
        let output = self.output.as_deref();
        check_output(output, "LOG", &self.logs)?;
        let mut report: Report = read_all(&self.logs)?.into();
        let repeats = take_repeats(&mut report.runs);
        repeats.iter().for_each(|repeat| say(repeat));
        report.merged = Some(merge(&report.runs)?);
        write_report(&report, self.format, output)?;
        Ok(judge(&report, None))
    }
}
