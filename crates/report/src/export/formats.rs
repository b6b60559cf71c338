//! All formats, by name.

use std::io::Write;

use anyhow::Result;

use super::report_data::Report;

/// A report format.
#[derive(Debug)]
pub struct Format {
    /// The name used with `--format`.
    pub name: &'static str,
    /// The parts that the format can show in addition to runs. A report has at most one of these
    /// parts.
    pub takes: &'static [ReportPart],
    writer: WriteReport,
}

/// A part of a report other than its runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportPart {
    /// Several runs merged into one.
    Merged,
    /// Jobs and the matrix of their runs.
    Matrix,
    /// A comparison with a baseline.
    Comparisons,
    /// Audits of published pages.
    Audits,
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

const ALL_RUNS: &[ReportPart] = &[
    ReportPart::Merged,
    ReportPart::Matrix,
    ReportPart::Comparisons,
    ReportPart::Audits,
    ReportPart::History,
];
const NO_MATRIX: &[ReportPart] = &[
    ReportPart::Merged,
    ReportPart::Comparisons,
    ReportPart::Audits,
    ReportPart::History,
];
const HISTORY: &[ReportPart] = &[ReportPart::History];
const COMPARED: &[ReportPart] = &[ReportPart::Comparisons];

const fn format(name: &'static str, writer: WriteReport, takes: &'static [ReportPart]) -> Format {
    Format {
        name,
        takes,
        writer,
    }
}

/// All formats, in the order used by the help. docs/report.md describes them.
pub static ALL: &[Format] = &[
    format("text", super::markup::write_text, ALL_RUNS),
    format("md", super::markup::write_markdown, ALL_RUNS),
    format("rst", super::markup::write_rst, ALL_RUNS),
    format("csv", super::csv::write, HISTORY),
    format("json", super::json::write, ALL_RUNS),
    format("html", super::html::write, NO_MATRIX),
    format("junit", super::junit::write, COMPARED),
    format("perfetto", super::perfetto::write, &[]),
    format("dt", super::dt::write, &[]),
    format("bug", super::bug::write, &[]),
];

/// Returns the formats that can show `part`, or all formats if the report contains only runs.
pub fn able(part: Option<ReportPart>) -> impl Iterator<Item = &'static Format> {
    let is_able = move |format: &&Format| part.is_none_or(|part| format.takes.contains(&part));
    ALL.iter().filter(is_able)
}

/// Returns the format called `name`.
pub fn by_name(name: &str) -> Option<&'static Format> {
    ALL.iter().find(|format| format.name == name)
}
