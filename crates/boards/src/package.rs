//! The file that a board's loader takes, and what goes into it.

use serde::Deserialize;
use uuid::Uuid;

/// The kind of file that the payload goes into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PackageKind {
    /// A Firmware Image Package.
    Fip,
    /// The image itself.
    Raw,
    /// A flattened image tree, which U-Boot loads.
    Fit,
    /// A format of the vendor's, which the vendor's tool makes.
    Vendor,
}

/// An image that fiptool has no option for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackageBlob {
    /// The UUID in a FIP.
    pub uuid: Uuid,
    /// The name for people.
    pub title: String,
    /// The name of its file where it is built.
    pub file: Option<String>,
}

/// A FIP of its own that the board boots besides the one with the payload.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExtraFip {
    /// The name of the file.
    pub file: String,
    /// The images that it needs, by fiptool's options.
    #[serde(default)]
    pub requires: Vec<String>,
    /// The images that it needs and that fiptool has no option for.
    #[serde(default)]
    pub blobs: Vec<PackageBlob>,
}

/// The `[package]` table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// The kind of file.
    pub kind: PackageKind,
    /// The name of the file on the board.
    pub file: String,
    /// The place to which it goes, for people.
    pub install: String,
    /// The images that the FIP needs besides BL33, by fiptool's options.
    #[serde(default)]
    pub requires: Vec<String>,
    /// Alignment of each image in the FIP, in bytes.
    #[serde(default = "one")]
    pub align: u64,
    /// The images that the FIP needs and that fiptool has no option for.
    #[serde(default)]
    pub blobs: Vec<PackageBlob>,
    /// Further FIPs.
    #[serde(default)]
    pub parts: Vec<ExtraFip>,
    /// The vendor's tool.
    pub tool: Option<String>,
}

fn one() -> u64 {
    1
}
