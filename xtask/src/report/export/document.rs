//! A report as blocks, which the formats for people draw.

use run::model::Scenario;
use serde::Serialize;

use super::html::Figure;
use super::table::Table;
use crate::report::log::LoggedRun;

pub(crate) type Line = (&'static str, String);

/// A part of a report, in the order of reading.
#[derive(Serialize)]
#[serde(tag = "kind", content = "it", rename_all = "lowercase")]
pub(crate) enum Block<'r> {
    /// The title of a run, a comparison, or a page of several runs.
    Title(String),
    Heading(String),
    Definitions(Vec<Line>),
    Scenario(ScenarioHeading),
    Warning(String),
    Paragraph(String),
    Table(Table),
    Remarks(Vec<String>),
    Charts(Charts<'r>),
    /// Drawings that are made already.
    #[serde(rename = "charts")]
    Drawings(Vec<Figure>),
}

#[derive(Serialize)]
pub(crate) struct ScenarioHeading {
    /// The document's only one of this name.
    pub(super) id: String,
    pub(super) text: String,
    pub(super) status: String,
    pub(super) method: &'static str,
}

/// The drawings of a scenario, made when they are written.
pub(crate) struct Charts<'r> {
    pub(super) id: String,
    pub(super) run: &'r LoggedRun,
    pub(super) scenario: &'r Scenario,
}

impl Charts<'_> {
    /// Returns ticks in the unit of tables.
    pub(super) fn value(&self, ticks: u64) -> f64 {
        let ns = self.run.ns(ticks);
        ns.map_or(ticks as f64, |ns| ns as f64 / 1000.0)
    }
}
