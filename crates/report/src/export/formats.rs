//! All formats, by name.

use std::io::Write;

use anyhow::Result;

use super::report_data::Report;

/// An output format, and the parts of a report that it can show.
#[derive(Debug)]
pub struct Format {
    /// The name used with `--format`.
    pub name: &'static str,
    /// The parts that the format can show. A report has runs and at most one of the other parts.
    pub takes: &'static [ReportPart],
    writer: WriteReport,
}

/// A part of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportPart {
    /// Runs, each on its own.
    Runs,
    /// A comparison with a baseline.
    Comparisons,
    /// Figures across several releases.
    History,
}

type WriteReport = fn(&Report, &mut dyn Write) -> Result<()>;

impl Format {
    /// Writes the report.
    ///
    /// # Errors
    /// Returns an error if the format cannot show this report, or if `out` cannot be written to.
    pub fn write(&self, report: &Report, out: &mut dyn Write) -> Result<()> {
        (self.writer)(report, out)
    }
}

const ALL_PARTS: &[ReportPart] = &[
    ReportPart::Runs,
    ReportPart::Comparisons,
    ReportPart::History,
];
const RUNS: &[ReportPart] = &[ReportPart::Runs];
const HISTORY: &[ReportPart] = &[ReportPart::Runs, ReportPart::History];
const COMPARED: &[ReportPart] = &[ReportPart::Runs, ReportPart::Comparisons];

const fn format(name: &'static str, writer: WriteReport, takes: &'static [ReportPart]) -> Format {
    Format {
        name,
        takes,
        writer,
    }
}

/// All formats, in the order used by the help. docs/report.md describes them.
pub static ALL: &[Format] = &[
    format("text", super::markup::write_text, ALL_PARTS),
    format("md", super::markup::write_markdown, ALL_PARTS),
    format("rst", super::markup::write_rst, ALL_PARTS),
    format("csv", super::csv::write, HISTORY),
    format("json", super::json::write, ALL_PARTS),
    format("html", super::html::write, ALL_PARTS),
    format("svg", super::html::write_picture, RUNS),
    format("junit", super::junit::write, COMPARED),
];

/// Returns the formats that can show `part`.
pub fn able(part: ReportPart) -> impl Iterator<Item = &'static Format> {
    ALL.iter()
        .filter(move |format| format.takes.contains(&part))
}

/// Returns the format called `name`.
pub fn by_name(name: &str) -> Option<&'static Format> {
    ALL.iter().find(|format| format.name == name)
}
