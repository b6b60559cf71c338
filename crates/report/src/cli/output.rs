//! A report's format and output file.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use host::files;
use host::retired::format_successor;
use itertools::Itertools as _;
use serde::Serialize;
use thiserror::Error;

use crate::export::{Document, DocumentFormat, Format, Report};

/// The format for terminals.
const TEXT: &str = "text";

/// A format that cannot be used.
#[derive(Clone, Debug, Error)]
pub enum UnusableFormat {
    /// The format is not one of these.
    #[error("expected one of {0}")]
    Unknown(String),
    /// The format no longer exists.
    #[error("no longer supported: use {0}")]
    Retired(&'static str),
}

/// A format that `--format` can name.
pub trait NamedFormat: Clone + fmt::Debug + Send + Sync + 'static {
    /// Returns the name.
    fn name(&self) -> &'static str;
}

impl NamedFormat for &'static Format {
    fn name(&self) -> &'static str {
        self.name
    }
}

impl NamedFormat for DocumentFormat {
    fn name(&self) -> &'static str {
        DocumentFormat::name(*self)
    }
}

/// The arguments of a verb that writes a report.
pub trait WithFormats: fmt::Debug {
    /// The type of the formats.
    type Format: NamedFormat;

    /// Returns the formats that can show the report, in the order used by the help.
    fn formats() -> Vec<Self::Format>;
}

/// Returns the names of `formats`.
fn names<F: NamedFormat>(formats: &[F]) -> String {
    formats.iter().map(F::name).join(", ")
}

/// Returns the help text for `--format`.
pub(super) fn format_help<F: NamedFormat>(formats: &[F]) -> String {
    format!("Format: {}", names(formats))
}

/// Returns a parser for the names of `formats`.
pub(super) fn format_parser<F: NamedFormat>(
    formats: Vec<F>,
) -> impl Fn(&str) -> Result<F, UnusableFormat> + Clone + Send + Sync + 'static {
    move |name| {
        let format = formats.iter().find(|format| format.name() == name);
        format.cloned().ok_or_else(|| match format_successor(name) {
            Some(successor) => UnusableFormat::Retired(successor),
            None => UnusableFormat::Unknown(names(&formats)),
        })
    }
}

/// The options for the format and the file of a report. `V` names the formats that a verb has.
#[derive(Args, Debug)]
pub struct OutputArguments<V: WithFormats> {
    #[arg(long, value_name = "FORMAT", default_value = TEXT)]
    #[arg(value_parser = format_parser(V::formats()), help = format_help(&V::formats()))]
    format: V::Format,
    /// File to write [default: stdout].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl<V: WithFormats> OutputArguments<V> {
    /// Returns the format.
    pub fn format(&self) -> &V::Format {
        &self.format
    }

    /// Checks that the output can be written and is not one of `inputs`, to which an error refers
    /// as `reader`.
    ///
    /// # Errors
    /// Returns an error if it cannot be written, or is one of them.
    pub fn check<I: AsRef<Path>>(&self, reader: &str, inputs: &[I]) -> Result<()> {
        check_output(self.output.as_deref(), reader, inputs)
    }

    /// Writes the file, or prints the report, by calling `write`.
    ///
    /// # Errors
    /// Returns an error if `write` does, or if the file cannot be written.
    pub fn write_with(&self, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
        write_or_print(self.output.as_deref(), self.format.name(), write)
    }
}

impl<V: WithFormats<Format = &'static Format>> OutputArguments<V> {
    /// Writes `report` to the file, or prints it.
    pub(super) fn write(&self, report: &Report) -> Result<()> {
        self.write_with(|out| self.format.write(report, out))
    }
}

impl<V: WithFormats<Format = DocumentFormat>> OutputArguments<V> {
    /// Writes `document` to the file, or prints it.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn write_document<D: Serialize>(&self, document: Document<'_, D>) -> Result<()> {
        self.write_with(|out| document.write(self.format, out))
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
    write_or_print(output, format.name, |out| format.write(report, out))
}

fn write_or_print(
    output: Option<&Path>,
    format: &str,
    write: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    if format == TEXT {
        files::write_or_print_text(output, write)
    } else {
        files::write_or_print(output, write)
    }
}
