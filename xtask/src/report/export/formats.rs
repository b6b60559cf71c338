//! All formats, by name.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};

use super::report_data::Report;
use super::{csv, dt, html, json, junit, markup, perfetto, tfa_docs};

/// A format of reports.
#[derive(Debug)]
pub struct Format {
    /// The name, for `--format`.
    pub name: &'static str,
    /// A few words for the help.
    pub about: &'static str,
    /// The parts that it has a place for besides runs, each for itself.
    pub takes: &'static [Part],
    /// The function that writes it.
    pub writer: Writer,
}

/// A part of a report besides runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Several runs as one.
    Merged,
    /// Jobs, and their runs side by side.
    Matrix,
    /// A comparison with a baseline.
    Comparisons,
    /// The platform's name in paths.
    Platform,
}

/// The function that writes a report, by its kind of output.
#[derive(Debug)]
pub enum Writer {
    /// One stream.
    Stream(fn(&Report, &mut dyn Write) -> Result<()>),
    /// Files below a directory, which exists, with the platform's name in their paths. What
    /// is there already is never left half replaced.
    Tree(fn(&Report, Option<&str>, &Path) -> Result<()>),
}

impl Format {
    /// Returns true if it makes a tree of files instead of one stream.
    pub fn is_tree(&self) -> bool {
        matches!(self.writer, Writer::Tree(_))
    }

    /// Writes the report as one stream.
    pub fn write(&self, report: &Report, out: &mut dyn Write) -> Result<()> {
        let name = self.name;
        match self.writer {
            Writer::Stream(write) => write(report, out),
            Writer::Tree(_) => {
                bail!("--format {name} writes a tree of files: name its directory by -o")
            }
        }
    }
}

const RESULTS: &[Part] = &[Part::Merged, Part::Matrix, Part::Comparisons];

const fn stream(
    name: &'static str,
    about: &'static str,
    takes: &'static [Part],
    write: fn(&Report, &mut dyn Write) -> Result<()>,
) -> Format {
    Format {
        name,
        about,
        takes,
        writer: Writer::Stream(write),
    }
}

/// All formats, in the order in which the help lists them.
pub static ALL: [Format; 10] = [
    stream(
        "text",
        "aligned tables for a terminal",
        RESULTS,
        markup::write_text,
    ),
    stream(
        "md",
        "Markdown with tables, for forges and wikis",
        RESULTS,
        markup::write_markdown,
    ),
    stream(
        "rst",
        "reStructuredText with grid tables, as in TF-A's docs/perf up to v2.14",
        RESULTS,
        markup::write_rst,
    ),
    stream(
        "csv",
        "one line a figure, for spreadsheets and data frames",
        &[],
        csv::write,
    ),
    stream(
        "json",
        "everything, in a versioned schema",
        RESULTS,
        json::write,
    ),
    stream(
        "html",
        "one page with tables and charts, for browsers and print",
        &[Part::Merged, Part::Comparisons],
        html::write,
    ),
    stream(
        "junit",
        "JUnit's XML: a test case a scenario, figures as properties",
        &[Part::Comparisons],
        junit::write,
    ),
    stream(
        "perfetto",
        "time lines of the shown samples, for ui.perfetto.dev",
        &[],
        perfetto::write,
    ),
    stream(
        "dt",
        "a device tree's idle-states node, of the worst that was measured",
        &[],
        dt::write,
    ),
    Format {
        name: "tfa-docs",
        about: "data files of TF-A's docs/perf, below the directory -o; --platform names the folder",
        takes: &[Part::Comparisons, Part::Platform],
        writer: Writer::Tree(tfa_docs::write_tree),
    },
];

/// Returns the format that is called `name`.
pub fn by_name(name: &str) -> Option<&'static Format> {
    ALL.iter().find(|format| format.name == name)
}
