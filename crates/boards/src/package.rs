//! The file that a board's loader reads, and its contents.

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
    /// A vendor format, written by the vendor's tool.
    Vendor,
}

/// An image that has no fiptool option.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackageBlob {
    /// The UUID in a FIP.
    pub uuid: Uuid,
    /// The human-readable name.
    pub title: String,
    /// The file name in the build that creates it.
    pub file: Option<String>,
}

/// A separate FIP that the board boots in addition to the one with the payload.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FipPart {
    /// The file name.
    pub file: String,
    /// The images it requires, by their fiptool options.
    #[serde(default)]
    pub requires: Vec<String>,
    /// The images it requires that have no fiptool option.
    #[serde(default)]
    pub blobs: Vec<PackageBlob>,
}

/// The `[package]` table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// The kind of file.
    pub kind: PackageKind,
    /// The file name on the board.
    pub file: String,
    /// Where to install the file, as human-readable text.
    pub install: String,
    /// The images that the FIP requires in addition to BL33, by their fiptool options.
    #[serde(default)]
    pub requires: Vec<String>,
    /// The alignment of each image in the FIP, in bytes.
    #[serde(default = "one")]
    pub align: u64,
    /// The images that the FIP requires and that have no fiptool option.
    #[serde(default)]
    pub blobs: Vec<PackageBlob>,
    /// Additional FIPs.
    #[serde(default)]
    pub parts: Vec<FipPart>,
    /// The vendor's tool.
    pub tool: Option<String>,
}

fn one() -> u64 {
    1
}
