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
    /// The clusters, in the order of `cpus.clusters`.
    #[serde(default)]
    pub clusters: Vec<PublishedCluster>,
}

/// What published tables do not say about a cluster.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedCluster {
    /// The type of its CPUs.
    pub cpu: String,
    /// The size of its second-level cache, in bytes.
    pub l2: u64,
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
