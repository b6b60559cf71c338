//! The `matrix` verb.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use host::files;

use super::output::{check_output, format_help, format_parser, write_report};
use super::report_verdict::{judge, judge_jobs};
use crate::export::{Format, Report, ReportPart};
use crate::jobs::{self, matrix::matrix};

const PART: ReportPart = ReportPart::Matrix;

/// Arguments of `matrix`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  {program} matrix lab
  {program} matrix lab --format md -o matrix.md

Exit codes: 1 a job, a test case or a verdict did not pass; 3 a job is
            incomplete, or something could not be read
Details: docs/labs.md, Reading the results")]
pub struct MatrixArguments {
    /// Folders of jobs, or logs and results.
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = format_parser(PART))]
    #[arg(help = format_help(PART))]
    format: &'static Format,
    /// File to write [default: stdout].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Fail jobs that skipped a scenario or a CPU's row.
    #[arg(long)]
    deny_skipped: bool,
}

impl MatrixArguments {
    /// Writes the matrix and returns the exit code.
    pub(super) fn run(&self) -> Result<u8> {
        let output = self.output.as_deref();
        // The input files are not known until the folders have been searched.
        check_output::<&Path>(output, "FOLDER", &[])?;
        let found = jobs::find(&self.folders)?;
        if let Some(output) = output {
            for input in found.inputs().chain(found.results()) {
                files::apart(("-o", output), ("FOLDER", Some(&input)))?;
            }
        }
        let (jobs, runs) = jobs::read_all(&found, self.deny_skipped)?;
        let report = Report {
            matrix: Some(matrix(jobs, &runs, found.unread)),
            runs,
            ..Report::default()
        };
        write_report(&report, self.format, output)?;
        let code = judge(&report, None);
        Ok(report.matrix.as_ref().map_or(0, judge_jobs).max(code))
    }
}
