//! A sentence about several tables, and the figures that support it.

use serde::Serialize;
use suite::model::Kind;

use super::suite_tables::Figure;

/// A conclusion drawn from several of a run's tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The kind.
    pub kind: Kind,
    /// The conclusion in one or more sentences.
    #[serde(rename = "text")]
    pub sentence: String,
    /// The figures on which the sentence is based.
    pub figures: Vec<Figure>,
}
