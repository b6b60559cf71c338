//! A report's format and output file.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use host::files;
use host::retired::format_successor;
use itertools::Itertools as _;
use thiserror::Error;

use crate::export::{self, Format, Report, ReportPart};

/// A format that cannot be used.
#[derive(Clone, Debug, Error)]
pub(super) enum UnusableFormat {
    /// The format is unknown, or it cannot show the report.
    #[error("expected one of {}", names(*.0))]
    Unknown(ReportPart),
    /// The format no longer exists.
    #[error("no longer supported: use {0}")]
    Retired(&'static str),
}

/// Returns the names of the formats that can show `part`.
fn names(part: ReportPart) -> String {
    export::able(part).map(|format| format.name).join(", ")
}

/// Returns the help text for `--format`.
pub(super) fn format_help(part: ReportPart) -> String {
    format!("Format: {}", names(part))
}

/// Returns a parser for the names that `names` returns.
pub(super) fn format_parser(
    part: ReportPart,
) -> impl Fn(&str) -> Result<&'static Format, UnusableFormat> + Clone + Send + Sync + 'static {
    move |name| {
        let mut formats = export::able(part);
        let format = formats.find(|format| format.name == name);
        format.ok_or_else(|| match format_successor(name) {
            Some(successor) => UnusableFormat::Retired(successor),
            None => UnusableFormat::Unknown(part),
        })
    }
}

/// Returns an error if the output cannot be written or is one of `inputs`. The error refers to the
/// inputs as `reader`.
pub(super) fn check_output<P: AsRef<Path>>(
    output: Option<&Path>,
    reader: &str,
    inputs: &[P],
) -> Result<()> {
    let Some(output) = output else {
        return Ok(());
    };
    let named: Vec<_> = inputs
        .iter()
        .map(|input| (reader, Some(input.as_ref())))
        .collect();
    files::check_output(("-o", output), &named)
}

/// Writes `report` to the file at `output`, or prints it.
pub(super) fn write_report(report: &Report, format: &Format, output: Option<&Path>) -> Result<()> {
    let write = |out: &mut dyn Write| format.write(report, out);
    if format.name == "text" {
        files::write_or_print_text(output, write)
    } else {
        files::write_or_print(output, write)
    }
}
