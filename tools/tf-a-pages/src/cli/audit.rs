//! The `audit` verb.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use host::exit_code::{FAILED, INCOMPLETE};
use host::progress::say;
use itertools::Itertools as _;
use report::cli::comparison_arguments::ToleranceArgument;
use report::cli::output::{OutputArguments, WithFormats};
use report::export::{Document, DocumentFormat};
use report::log::page;
use serde::Serialize;

use crate::audit_document::audit_blocks;
use crate::page_audit::{self, Audit, AuditOutcome};

impl WithFormats for AuditArguments {
    type Format = DocumentFormat;

    fn formats() -> Vec<DocumentFormat> {
        DocumentFormat::ALL.into()
    }
}

/// Explains how to read a page with audits.
const NOTES: &str = "\
By CPU is the change relative to the row with the same cluster and core. By order is the change \
relative to the figure at the same place when figures are sorted by size. Implied old is the old \
figure that would result in the printed change. n/a marks a figure or a change that does not exist.";

/// The audits, as data.
#[derive(Serialize)]
struct AuditData<'a> {
    audits: &'a [Audit],
}

/// Arguments of `audit`.
#[derive(Args, Debug)]
#[command(mut_arg("tolerance", |tolerance| tolerance.help("Largest change that may be left unprinted")))]
#[command(after_help = "\
Examples:
  {program} audit docs/perf/psci-performance-juno.rst
  {program} audit psci-performance-juno.rst --format json -o audit.json

Exit codes: 1 a printed change is wrong; 3 a printed change cannot be checked
Details: tools/tf-a-pages/README.md, Auditing a page")]
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
            audits.push(page_audit::audit(&page::read(path)?, self.tolerance.ppm));
        }
        self.write(&audits)?;
        say(&page_audit::counts(&audits));
        let has = |outcome| page_audit::count(&audits, outcome) > 0;
        if has(AuditOutcome::NotChecked) {
            Ok(INCOMPLETE)
        } else if has(AuditOutcome::Wrong) {
            Ok(FAILED)
        } else {
            Ok(0)
        }
    }
    fn write(&self, audits: &[Audit]) -> Result<()> {
        let pages = audits.iter().map(|audit| audit.page.as_str());
        self.output.write_document(Document {
            title: format!("Audit of {}", pages.format(", ")),
            notes: NOTES,
            blocks: audits.iter().flat_map(audit_blocks).collect(),
            runs: &[],
            data: AuditData { audits },
        })
    }
}
