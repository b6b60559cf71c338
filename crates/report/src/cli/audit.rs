//! The `audit` verb.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use host::exit_code::{FAILED, INCOMPLETE};
use host::progress::say;

use super::comparison_arguments::ToleranceArgument;
use super::output::{OutputArguments, ShownPart};
use crate::analysis::audit::{self, AuditOutcome};
use crate::export::{Report, ReportPart};
use crate::log::page;

impl ShownPart for AuditArguments {
    const PART: ReportPart = ReportPart::Audits;
}

/// Arguments of `audit`.
#[derive(Args, Debug)]
#[command(mut_arg("tolerance", |tolerance| tolerance.help("Largest change that may be left unprinted")))]
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
    #[command(flatten)]
    tolerance: ToleranceArgument,
    #[command(flatten)]
    output: OutputArguments<Self>,
}

impl AuditArguments {
    /// Writes the findings and returns the exit code.
    pub(super) fn run(&self) -> Result<u8> {
        self.output.check("PAGE", &self.pages)?;
        if let Some(other) = self.pages.iter().find(|path| !page::is_at(path)) {
            let path = other.display();
            bail!("{path}: only published pages can be audited; specify .rst files");
        }
        let mut audits = Vec::new();
        for path in &self.pages {
            audits.push(audit::audit(&page::read(path)?, self.tolerance.ppm));
        }
        let report = Report {
            audits,
            ..Report::default()
        };
        self.output.write(&report)?;
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
