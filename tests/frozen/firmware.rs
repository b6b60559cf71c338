//! The firmware that frozen figures were measured with. The figures count firmware instructions, so
//! they differ if TF-A is built with a different compiler.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::common::workspace;
use crate::machine::Machine;

/// The file that describes the firmware, in each folder of frozen figures.
pub const DESCRIPTION: &str = "firmware.json";

/// The tools that built the firmware, and hashes of the result.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct FirmwareFingerprint {
    /// The first lines of the compiler's and the linker's version output.
    pub toolchain: [String; 2],
    /// The SHA-256 hashes of `bl31.bin` with the GICv2 driver and with the GICv3 driver.
    pub bl31: [String; 2],
}

/// A folder of frozen figures.
#[derive(Debug)]
pub struct Frozen {
    pub folder: PathBuf,
    pub firmware: FirmwareFingerprint,
}

impl Frozen {
    pub fn read(folder: PathBuf) -> Self {
        let text = fs::read(folder.join(DESCRIPTION)).expect("a description of the firmware");
        let firmware = serde_json::from_slice(&text).expect("a firmware");
        Self { folder, firmware }
    }

    /// Returns the `RT_INSTR` lines for one machine.
    pub fn lines(&self, machine: &Machine) -> String {
        let path = self.folder.join(machine.file());
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

/// Returns all folders of frozen figures.
pub fn read_all() -> Vec<Frozen> {
    let folder = workspace().root.join("tests/data/frozen");
    let entries = fs::read_dir(folder).expect("the folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .filter(|path| path.is_dir())
        .map(Frozen::read)
        .collect()
}

/// Returns the figures for `firmware`. If there are no figures for the same BL31, returns those for
/// the same toolchain. Such figures were measured before a source change, but source changes must
/// not affect the figures.
pub fn find<'f>(frozen: &'f [Frozen], firmware: &FirmwareFingerprint) -> Option<&'f Frozen> {
    let by_hash = frozen
        .iter()
        .find(|frozen_set| frozen_set.firmware.bl31 == firmware.bl31);
    by_hash.or_else(|| {
        let mut all = frozen.iter();
        all.find(|frozen_set| frozen_set.firmware.toolchain == firmware.toolchain)
    })
}

/// Writes the description of `firmware` next to the figures measured with it.
pub fn write(folder: &Path, firmware: &FirmwareFingerprint) {
    let text = serde_json::to_string_pretty(firmware).expect("JSON") + "\n";
    fs::write(folder.join(DESCRIPTION), text).expect("written");
}

#[test]
fn firmware_is_known_by_its_bl31_or_its_toolchain() {
    let words = |words: [&str; 2]| words.map(str::to_owned);
    let firmware = |toolchain, bl31| FirmwareFingerprint {
        toolchain: words(toolchain),
        bl31: words(bl31),
    };
    let frozen = [
        (["gcc 12", "ld 2.40"], ["2a", "3a"]),
        (["gcc 14", "ld 2.44"], ["2b", "3b"]),
    ]
    .map(|(toolchain, bl31)| Frozen {
        folder: PathBuf::from(toolchain[0]),
        firmware: firmware(toolchain, bl31),
    });
    for (toolchain, bl31, expected) in [
        (["gcc 14", "ld 2.44"], ["2b", "3b"], Some("gcc 14")),
        (["gcc 15", "ld 2.45"], ["2b", "3b"], Some("gcc 14")),
        (["gcc 14", "ld 2.44"], ["2c", "3c"], Some("gcc 14")),
        (["gcc 12", "ld 2.40"], ["2b", "3b"], Some("gcc 14")),
        (["gcc 14", "ld 2.45"], ["2c", "3b"], None),
    ] {
        let found = find(&frozen, &firmware(toolchain, bl31));
        let folder = found.map(|frozen_set| frozen_set.folder.to_str().expect("a name"));
        assert_eq!(folder, expected, "{toolchain:?} {bl31:?}");
    }
}
