//! `[publish]`: what a page of results says of the board, which no log can tell.

use serde::Deserialize;

/// Facts for a page in TF-A's documentation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Publish {
    /// The board's name in the page's title.
    pub title: String,
    /// The address of its maker's page.
    pub link: Option<String>,
    /// Sentences on its CPUs and power levels.
    pub about: String,
    /// The clocks that it ran at.
    #[serde(default)]
    pub clocks: Vec<ClockDomain>,
}

/// A part of the board with a clock of its own.
#[derive(Clone, Debug, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct ClockDomain {
    /// The part's name.
    pub domain: String,
    /// The frequency in MHz.
    pub mhz: u32,
    /// A remark.
    pub note: Option<String>,
}
