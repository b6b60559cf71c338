//! A report's format and output file.

use std::fmt;
use std::io::Write;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
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

/// The arguments of a verb that writes one part of a report.
pub(super) trait ShownPart: fmt::Debug {
    const PART: ReportPart;
}

/// The format and the file of a report that shows the part `P`.
#[derive(Args, Debug)]
pub(super) struct OutputArguments<P: ShownPart> {
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    #[arg(value_parser = format_parser(P::PART), help = format_help(P::PART))]
    format: &'static Format,
    /// File to write [default: stdout].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[arg(skip)]
    part: PhantomData<P>,
}

impl<P: ShownPart> OutputArguments<P> {
    /// Returns an error if the output cannot be written or is one of `inputs`. The error refers to
    /// the inputs as `reader`.
    pub(super) fn check<I: AsRef<Path>>(&self, reader: &str, inputs: &[I]) -> Result<()> {
        check_output(self.output.as_deref(), reader, inputs)
    }

    /// Writes `report` to the file, or prints it.
    pub(super) fn write(&self, report: &Report) -> Result<()> {
        write_report(report, self.format, self.output.as_deref())
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
