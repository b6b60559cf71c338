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
    /// A vendor's format, written by the vendor's tool.
    Vendor,
}

/// An image for which fiptool has no option.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackageBlob {
    /// The UUID in a FIP.
    pub uuid: Uuid,
    /// The name for people to read.
    pub title: String,
    /// The name of its file in the build that makes it.
    pub file: Option<String>,
}

/// A separate FIP that the board boots in addition to the one with the payload.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FipPart {
    /// The name of the file.
    pub file: String,
    /// The images that it requires, by fiptool's options.
    #[serde(default)]
    pub requires: Vec<String>,
    /// The images that it requires and for which fiptool has no option.
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
    /// Where to install the file, as text for people.
    pub install: String,
    /// The images that the FIP requires in addition to BL33, by fiptool's options.
    #[serde(default)]
    pub requires: Vec<String>,
    /// Alignment of each image in the FIP, in bytes.
    #[serde(default = "one")]
    pub align: u64,
    /// The images that the FIP requires and for which fiptool has no option.
    #[serde(default)]
    pub blobs: Vec<PackageBlob>,
    /// Further FIPs.
    #[serde(default)]
    pub parts: Vec<FipPart>,
    /// The vendor's tool.
    pub tool: Option<String>,
}

fn one() -> u64 {
    1
}
