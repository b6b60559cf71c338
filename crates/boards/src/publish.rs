//! `[publish]`: facts about the board for a page of results that no log contains.

use serde::Deserialize;

/// Facts for a page in TF-A's documentation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Publish {
    /// The board's name in the page's title.
    pub title: String,
    /// The URL of the manufacturer's page.
    pub link: Option<String>,
    /// Sentences about its CPUs and power levels.
    pub about: String,
    /// The clocks at which it ran.
    #[serde(default)]
    pub clocks: Vec<ClockDomain>,
}

/// A part of the board that has a separate clock.
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
