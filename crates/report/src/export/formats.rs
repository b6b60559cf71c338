//! All formats, by name.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};

use super::report_data::{Report, TreeWishes};

/// A format of reports.
#[derive(Debug)]
pub struct Format {
    /// The name, for `--format`.
    pub name: &'static str,
    /// A few words for the help.
    pub about: &'static str,
    /// The parts that it has a place for besides runs, each for itself.
    pub takes: &'static [ReportPart],
    /// The function that writes it.
    pub writer: FormatWriter,
}

/// A part of a report besides runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportPart {
    /// Several runs as one.
    Merged,
    /// Jobs, and their runs side by side.
    Matrix,
    /// A comparison with a baseline.
    Comparisons,
    /// Published pages beside themselves.
    Audits,
    /// The platform's name in paths.
    Platform,
    /// The page that shows the files.
    Page,
}

type WriteStream = fn(&Report, &mut dyn Write) -> Result<()>;

/// The function that writes a report, by its kind of output.
#[derive(Debug)]
pub enum FormatWriter {
    /// One stream.
    Stream(WriteStream),
    /// Files below a directory, with the platform's name in their paths. What is there
    /// already is what they are compared with, and is never left half replaced; where nothing
    /// is written, no directory is made.
    Tree(fn(&Report, &TreeWishes<'_>, &Path) -> Result<()>),
}

impl Format {
    /// Returns true if it makes a tree of files instead of one stream.
    pub fn is_tree(&self) -> bool {
        matches!(self.writer, FormatWriter::Tree(_))
    }

    /// Writes the report as one stream.
    pub fn write(&self, report: &Report, out: &mut dyn Write) -> Result<()> {
        let name = self.name;
        match self.writer {
            FormatWriter::Stream(write) => write(report, out),
            FormatWriter::Tree(_) => {
                bail!("--format {name} writes a tree of files: name its directory by -o")
            }
        }
    }

    const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }
}

const ALL_RUNS: &[ReportPart] = &[
    ReportPart::Merged,
    ReportPart::Matrix,
    ReportPart::Comparisons,
    ReportPart::Audits,
];
const NO_MATRIX: &[ReportPart] = &[
    ReportPart::Merged,
    ReportPart::Comparisons,
    ReportPart::Audits,
];
const COMPARED: &[ReportPart] = &[ReportPart::Comparisons];

const fn stream(name: &'static str, write: WriteStream, takes: &'static [ReportPart]) -> Format {
    let (about, writer) = ("", FormatWriter::Stream(write));
    Format {
        name,
        about,
        takes,
        writer,
    }
}

/// All formats, in the order in which the help lists them.
pub static ALL: &[Format] = &[
    stream("text", super::markup::write_text, ALL_RUNS).about("aligned tables for a terminal"),
    stream("md", super::markup::write_markdown, ALL_RUNS)
        .about("Markdown with tables, for forges and wikis"),
    stream("rst", super::markup::write_rst, ALL_RUNS)
        .about("reStructuredText with grid tables, as in TF-A's docs/perf up to v2.14"),
    stream("csv", super::csv::write, &[])
        .about("one line a figure, for spreadsheets and data frames"),
    stream("json", super::json::write, ALL_RUNS).about("everything, in a versioned schema"),
    stream("html", super::html::write, NO_MATRIX)
        .about("one page with tables and charts, for browsers and print"),
    stream("junit", super::junit::write, COMPARED)
        .about("JUnit's XML: a test case a scenario, figures as properties"),
    stream("perfetto", super::perfetto::write, &[])
        .about("time lines of the shown samples, for ui.perfetto.dev"),
    stream("dt", super::dt::write, &[])
        .about("a device tree's idle-states node, of the worst that was measured"),
    Format {
        name: "tfa-docs",
        about: "data files of TF-A's docs/perf, below the directory -o; --platform names the folder",
        takes: &[
            ReportPart::Comparisons,
            ReportPart::Platform,
            ReportPart::Page,
        ],
        writer: FormatWriter::Tree(super::tfa_docs::write_tree),
    },
];

/// Returns the format that is called `name`.
pub fn by_name(name: &str) -> Option<&'static Format> {
    ALL.iter().find(|format| format.name == name)
}
