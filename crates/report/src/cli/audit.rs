//! The `audit` verb.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use host::exit_code::{FAILED, INCOMPLETE};
use host::progress::say;

use super::output::{check_output, format_help, format_parser, write_report};
use super::parse_share;
use crate::analysis::audit::{self, AuditOutcome};
use crate::export::{Format, Report, ReportPart};
use crate::log::page;

const PART: ReportPart = ReportPart::Audits;

/// Arguments of `audit`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  {program} audit docs/perf/psci-performance-juno.rst
  {program} audit psci-performance-juno.rst --format json -o audit.json

Exit codes: 1 a printed change is wrong; 3 a printed change cannot be checked
Details: docs/publishing.md, Auditing a page")]
pub struct AuditArguments {
    /// Pages, such as TF-A's docs/perf/psci-performance-juno.rst.
    #[arg(required = true, value_name = "PAGE")]
    pages: Vec<PathBuf>,
    /// Largest change that may be left unprinted.
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "2%",
        allow_negative_numbers = true
    )]
    #[arg(value_parser = parse_share)]
    tolerance: u32,
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = format_parser(PART))]
    #[arg(help = format_help(PART))]
    format: &'static Format,
    /// File to write [default: stdout].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl AuditArguments {
    /// Writes the findings and returns the exit code.
    pub(super) fn run(&self) -> Result<u8> {
        check_output(self.output.as_deref(), "PAGE", &self.pages)?;
        if let Some(other) = self.pages.iter().find(|path| !page::is_at(path)) {
            let path = other.display();
            bail!("{path}: only published pages can be audited; specify .rst files");
        }
        let mut audits = Vec::new();
        for path in &self.pages {
            audits.push(audit::audit(&page::read(path)?, self.tolerance));
        }
        let report = Report {
            audits,
            ..Report::default()
        };
        write_report(&report, self.format, self.output.as_deref())?;
        say(&audit::counts(&report.audits));
        let has = |outcome| audit::count(&report.audits, outcome) > 0;
        if has(AuditOutcome::NotChecked) {
            Ok(INCOMPLETE)
        } else if has(AuditOutcome::Wrong) {
            Ok(FAILED)
        } else {
            Ok(0)
        }
    }
}
