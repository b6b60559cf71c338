//! `[publish]`: facts about the board that are needed for a results page but not contained in any
//! log.

use serde::Deserialize;

/// Facts for a page in the TF-A documentation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Publish {
    /// The board's name in the page title.
    pub title: String,
    /// The URL of the manufacturer's page.
    pub link: Option<String>,
    /// Sentences about its CPUs and power levels.
    pub about: String,
    /// The clock frequencies at which it ran.
    #[serde(default)]
    pub clocks: Vec<ClockDomain>,
    /// The clusters, in the same order as in `cpus.clusters`.
    #[serde(default)]
    pub clusters: Vec<PublishedCluster>,
}

/// Information about a cluster that published tables do not contain.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedCluster {
    /// Its CPU type.
    pub cpu: String,
    /// The size of its second-level cache, in bytes.
    pub l2: u64,
}

/// A part of the board with a separate clock.
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
