//! The `[publish]` table: board details that a results page needs but logs do not contain.

use serde::Deserialize;

/// Board details for a TF-A documentation page.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Publish {
    /// The board name in the page title.
    pub title: String,
    /// The URL of the manufacturer's page.
    pub link: Option<String>,
    /// A description of the board's CPUs and power levels.
    pub about: String,
    /// The clock frequencies used for the measurements.
    #[serde(default)]
    pub clocks: Vec<ClockDomain>,
    /// The clusters, in the same order as in `cpus.clusters`.
    #[serde(default)]
    pub clusters: Vec<PublishedCluster>,
}

/// Cluster information that the published tables do not contain.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedCluster {
    /// The type of the cluster's CPUs, such as `Cortex-A53`.
    pub cpu: String,
    /// The L2 cache size in bytes.
    pub l2: u64,
}

/// A part of the SoC with its own clock, and the frequency during measurements.
#[derive(Clone, Debug, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct ClockDomain {
    /// The name of the domain.
    pub domain: String,
    /// The frequency in MHz, at which the published figures were measured.
    pub mhz: u32,
    /// A remark that the page shows in parentheses after the frequency.
    pub note: Option<String>,
}
