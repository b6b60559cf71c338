//! `[publish]`: what a page of results says of the board, which no log can tell.

use serde::Deserialize;

/// Facts for a page in TF-A's documentation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Publish {
    /// The board's name in the page's title.
    pub(crate) title: String,
    /// The address of its maker's page.
    pub(crate) link: Option<String>,
    /// Sentences on its CPUs and power levels.
    pub(crate) about: String,
    /// The clocks that it ran at.
    #[serde(default)]
    pub(crate) clocks: Vec<ClockDomain>,
}

/// A part of the board with a clock of its own.
#[derive(Clone, Debug, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct ClockDomain {
    pub(crate) domain: String,
    pub(crate) mhz: u32,
    pub(crate) note: Option<String>,
}
