//! A report's format and output file.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use host::files;
use itertools::Itertools as _;
use thiserror::Error;

use crate::export::{self, Format, Report, ReportPart};

/// The name of an unknown format, or of a format that cannot show the report.
#[derive(Clone, Debug, Error)]
#[error("expected one of {}", names(*.0))]
pub(super) struct UnknownFormat(ReportPart);

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
) -> impl Fn(&str) -> Result<&'static Format, UnknownFormat> + Clone + Send + Sync + 'static {
    move |name| {
        let found = export::able(part).find(|format| format.name == name);
        found.ok_or(UnknownFormat(part))
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
    let inputs = inputs.iter().map(|input| (reader, Some(input.as_ref())));
    files::check(("-o", output), &inputs.collect::<Vec<_>>())
}

/// Writes `report` to the file at `output`, or prints it.
pub(super) fn write_report(report: &Report, format: &Format, output: Option<&Path>) -> Result<()> {
    let write = |out: &mut dyn Write| format.write(report, out);
    match format.name {
        "text" => files::write_or_print_text(output, write),
        _ => files::write_or_print(output, write),
    }
}
