//! How TF-A is built from source for a board: `[firmware.NAME.stock]`.

use std::num::NonZeroU32;

use serde::Deserialize;

use super::version::Version;

/// The `fip build` options that specify an input file.
pub const INPUT_OPTIONS: [&str; 6] = [
    "scp-fw",
    "mcp-fw",
    "ddr-fw",
    "tos-fw",
    "tos-fw-extra1",
    "hw-config",
];

/// A TF-A platform, or a platform in `platforms/BOARD/tf-a/plat` that is built on top of one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Stock {
    /// `PLAT`.
    pub platform: String,
    /// The offset in QEMU flash at which BL1 looks for the FIP, in bytes. Required if QEMU emulates
    /// the board.
    pub fip_base: Option<usize>,
    /// True if BL33 is not in the FIP but is already at its load address when BL1 starts.
    #[serde(default)]
    pub preloaded: bool,
    /// Additional `NAME=value` arguments for make. `{gic}` is replaced with 2 or 3.
    #[serde(default)]
    pub variables: Vec<String>,
    /// The number of CPUs per cluster in the platform's power domain tree, if it differs from the
    /// board file's cluster size.
    /// Requires the `cpus.continues` rule.
    pub cluster: Option<NonZeroU32>,
    /// The oldest version of TF-A that can be built and measured, if that is not the oldest version
    /// that `fip build` accepts.
    pub oldest: Option<OldestVersion>,
    /// How to tell from a TF-A source tree whether the firmware powers CPUs down. If this is None,
    /// the firmware is assumed to do so.
    pub power_down: Option<PowerDownProof>,
    /// Tools and sources needed in addition to the AArch64 compiler.
    #[serde(default)]
    pub needs: Vec<BuildNeed>,
    /// The third-party images.
    #[serde(default)]
    pub inputs: Vec<BuildInput>,
    /// The files that QEMU loads into memory, in addition to BL33, on a machine that does not boot
    /// from flash.
    #[serde(default)]
    pub loads: Vec<LoadedFile>,
    /// The address at which QEMU starts the CPUs, if it is not their reset vector.
    pub starts_at: Option<u64>,
    /// A clause that explains why QEMU cannot run this platform even though it emulates the board.
    pub not_on_qemu: Option<String>,
    /// The files copied to the board, other than the one that contains the payload.
    #[serde(default)]
    pub files: Vec<BuiltFile>,
    /// The images in the FIP and the files that contain them, if TF-A's own `make fip` needs a
    /// platform-specific fiptool.
    #[serde(default)]
    pub images: Vec<BuiltImage>,
}

/// A TF-A version, and the reason why older versions do not work.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OldestVersion {
    /// The first version that works.
    pub version: Version,
    /// A clause that explains why older versions do not work.
    pub because: String,
}

/// Text in the platform's source that is present only if CPUs return from a power-down. If it is
/// missing, the device tree contains only the board file's standby states.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerDownProof {
    /// The path of the source file in TF-A.
    pub file: String,
    /// The text, which is searched for byte by byte.
    pub contains: String,
    /// The first commit that contains the text.
    pub since: String,
}

/// What a platform needs in addition to the AArch64 compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BuildNeed {
    /// `arm-none-eabi-gcc`, a compiler for the Cortex-M or Cortex-R processors on the SoC.
    ArmNoneEabi,
    /// The source of Mbed TLS, which is the user's or a Debian package.
    MbedTls,
}

/// A third-party image.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BuildInput {
    /// The option that specifies the image file, without the dashes: one of [`INPUT_OPTIONS`].
    pub option: String,
    /// The human-readable name, including the version.
    pub title: String,
    /// The make variable for the image's path, if `make` cannot build a FIP without the image.
    pub variable: Option<String>,
    /// Where the image can be downloaded: a URL, or a description if there is no stable URL.
    pub source: String,
    /// The maximum size in bytes.
    pub max_size: usize,
}

/// A file from the TF-A build and its location on the board.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuiltFile {
    /// The path in the build folder.
    pub from: String,
    /// The path in the folder that is copied to the board.
    pub to: String,
    /// A sentence that explains what to do with the file.
    pub install: String,
}

/// A file from the TF-A build and the address at which QEMU loads it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadedFile {
    /// The file name in the build folder.
    pub from: String,
    /// The physical address of the first byte.
    pub address: u64,
}

/// An image in the FIP and the file that contains it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuiltImage {
    /// The fiptool option, without the dashes.
    pub option: String,
    /// The path in the build folder.
    pub from: String,
}
