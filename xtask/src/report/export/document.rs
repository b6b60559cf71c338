//! A report as blocks, which the formats for people draw.

use super::table::Table;
use crate::report::log::LoggedRun;
use psci_bench::model::Scenario;

/// A name and its text.
pub(super) type Line = (&'static str, String);

/// A part of a report, in the order of reading.
pub(super) enum Block<'r> {
    /// The title of a run, a comparison, or a page of several runs.
    Title(String),
    Heading(String),
    /// The heading of a scenario of a run, with the places of both, from 1.
    Scenario(String, &'r Scenario, [usize; 2]),
    Definitions(Vec<Line>),
    Warning(String),
    Paragraph(String),
    Table(Table),
    Remarks(Vec<Remark>),
    /// The drawings of a scenario.
    Charts(&'r LoggedRun, &'r Scenario, [usize; 2]),
}

/// A sentence with its details.
pub(super) struct Remark {
    pub(super) text: String,
    /// The figures that it rests on; may be empty.
    pub(super) basis: String,
    /// The sentences that it stands for; may be empty.
    pub(super) each: Vec<String>,
}

impl From<String> for Remark {
    fn from(text: String) -> Self {
        Self {
            text,
            basis: String::new(),
            each: Vec::new(),
        }
    }
}

impl Remark {
    /// Returns the text with its basis.
    pub(super) fn sentence(&self) -> String {
        match self.basis.is_empty() {
            true => self.text.clone(),
            false => format!("{} Rests on {}.", self.text, self.basis),
        }
    }
}
