//! A report as a list of blocks, from which the human-readable formats are generated.

use serde::Serialize;
use suite::model::{FigureScale, Scenario};
use suite::output::Table;

use super::drawing::Chart;
use crate::log::LoggedRun;

/// A heading and the text that follows it.
pub type LabeledLine = (&'static str, String);

/// A part of a report. Parts are listed in reading order.
#[derive(Serialize)]
#[serde(tag = "kind", content = "it", rename_all = "lowercase")]
pub enum Block<'r> {
    /// The title of a run, a comparison, or a page of several runs.
    Title(String),
    /// A heading within a run.
    Heading(String),
    /// A heading above drawings. Formats without drawings omit it.
    #[serde(rename = "heading")]
    DrawingHeading(String),
    /// The result in a sentence.
    Headline(Headline),
    /// The start of a part that readers who need only the result can skip. [`Self::folded`] also
    /// returns its end. Parts can be nested. A page shows only the summary until the reader opens
    /// it.
    Folded(Folded),
    /// The end of a folded part.
    FoldedEnd,
    /// Names and their values.
    Definitions(Vec<LabeledLine>),
    /// A scenario's heading.
    Scenario(ScenarioHeading),
    /// A sentence about what makes the figures doubtful.
    Warning(String),
    /// Running text.
    Paragraph(String),
    /// A table; the format decides how it is drawn.
    Table(Table),
    /// Sentences that the text formats show as a list.
    Remarks(Vec<String>),
    /// A scenario's charts.
    Charts(Charts<'r>),
    /// Charts that have already been drawn.
    #[serde(rename = "charts")]
    Drawings(Vec<Chart>),
}

impl<'r> Block<'r> {
    /// Returns `blocks` as a folded part, or nothing if there are none.
    pub fn folded(folded: Folded, blocks: Vec<Self>) -> impl Iterator<Item = Self> + use<'r> {
        let has_blocks = !blocks.is_empty();
        let start = has_blocks.then_some(Self::Folded(folded));
        let end = has_blocks.then_some(Self::FoldedEnd);
        start.into_iter().chain(blocks).chain(end)
    }

    /// Returns the section that explains the figures, or nothing if there are no `sentences`.
    pub(super) fn explanations(sentences: Vec<String>) -> Vec<Self> {
        if sentences.is_empty() {
            return Vec::new();
        }
        let heading = "What explains the figures".to_owned();
        vec![Self::Heading(heading), Self::Remarks(sentences)]
    }
}

/// A document's result.
#[derive(Serialize)]
pub struct Headline {
    /// The result, as a sentence.
    pub text: String,
    /// Whether the result is good.
    pub tone: Tone,
}

/// Whether a result is good, which determines its color.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    /// What was expected.
    Good,
    /// A fault or a regression.
    Bad,
    /// Neither, or there is no result.
    Neutral,
}

/// A part that readers who need only the result can skip.
#[derive(Serialize)]
pub struct Folded {
    /// The line shown in its place.
    pub summary: String,
    /// True if formats in which nothing can be folded contain the part; false if they refer to
    /// `--full` instead.
    pub is_essential: bool,
}

/// A scenario's heading, with its status and method.
#[derive(Serialize)]
pub struct ScenarioHeading {
    /// An ID that is unique in the document.
    pub(crate) id: String,
    pub(crate) text: String,
    /// None if the section covers several runs.
    pub(crate) status: Option<String>,
    pub(crate) method: &'static str,
}

/// A scenario's charts, drawn when they are written.
pub struct Charts<'r> {
    pub(crate) id: String,
    pub(crate) logged: &'r LoggedRun,
    pub(crate) scenario: &'r Scenario,
}

impl Charts<'_> {
    /// Converts ticks to the unit of the tables.
    pub(crate) fn value(&self, ticks: u64) -> f64 {
        FigureScale::of_durations(self.logged.clock()).value(ticks)
    }
}
