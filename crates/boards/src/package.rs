//! The file that a board's loader reads and what it contains.

use serde::Deserialize;
use uuid::Uuid;

/// The type of file that contains the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PackageKind {
    /// A Firmware Image Package (FIP) that contains the payload as BL33.
    Fip,
    /// The payload image, without a container.
    Raw,
    /// A flattened image tree for U-Boot.
    Fit,
    /// A vendor-specific format, created by the vendor's tool.
    Vendor,
}

/// An image with no fiptool option.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackageBlob {
    /// The UUID that identifies the image in a FIP.
    pub uuid: Uuid,
    /// The human-readable name.
    pub title: String,
    /// The name of the file that the firmware build creates.
    pub file: Option<String>,
    /// The `fip build` option that specifies the image file, without the dashes.
    pub option: Option<String>,
}

/// An additional FIP that the board needs to boot.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FipPart {
    /// The file name on the board, in the folder of the package.
    pub file: String,
    /// The required images that have a fiptool option, listed by option.
    #[serde(default)]
    pub requires: Vec<String>,
    /// The required images that have no fiptool option.
    #[serde(default)]
    pub blobs: Vec<PackageBlob>,
}

/// The `[package]` table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// The format of the file, which decides how the file is built.
    pub kind: PackageKind,
    /// The file name on the board.
    pub file: String,
    /// The folder on the boot medium that holds this file and `parts`.
    pub folder: Option<String>,
    /// Installation instructions for the user.
    pub install: String,
    /// The images required in addition to BL33, listed by fiptool option.
    #[serde(default)]
    pub requires: Vec<String>,
    /// The alignment of each image in the FIP, in bytes.
    #[serde(default = "one")]
    pub align: u64,
    /// The required images that have no fiptool option.
    #[serde(default)]
    pub blobs: Vec<PackageBlob>,
    /// Additional FIPs.
    #[serde(default)]
    pub parts: Vec<FipPart>,
    /// The vendor's tool.
    pub tool: Option<String>,
}

impl Package {
    /// Returns the path of `file` on the board's boot medium.
    pub fn place(&self, file: &str) -> String {
        match &self.folder {
            Some(folder) => format!("{folder}/{file}"),
            None => file.to_owned(),
        }
    }
}

fn one() -> u64 {
    1
}
