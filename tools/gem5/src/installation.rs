//! The user's gem5.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

/// The programs that may exist, the fastest first.
const PROGRAMS: [&str; 3] = ["gem5.fast", "gem5.opt", "gem5.debug"];
/// The folder that gem5's makefiles build them in, for Arm.
const BUILD: &str = "build/ARM";
/// A file that `machine.py` imports.
const DEVICES: &str = "configs/example/arm/devices.py";

/// gem5's source tree, in which gem5 has been built.
#[derive(Clone, Debug)]
pub(crate) struct Gem5 {
    /// The source tree, an absolute path.
    pub(crate) folder: PathBuf,
    /// The program.
    pub(crate) program: PathBuf,
}

impl Gem5 {
    /// Finds gem5 in `folder`.
    ///
    /// # Errors
    /// Returns an error that says what is missing.
    pub(crate) fn find(folder: Option<&Path>) -> Result<Self> {
        let Some(folder) = folder else {
            bail!(
                "--gem5 DIR is missing: the source tree of gem5, in which `scons \
                 {BUILD}/gem5.opt` has built it; see tools/gem5/README.md"
            );
        };
        let place = folder.display();
        let Ok(folder) = folder.canonicalize() else {
            bail!("--gem5 {place}: no such directory");
        };
        if !folder.join(DEVICES).is_file() {
            bail!("--gem5 {place}: not the source tree of gem5, because it has no {DEVICES}");
        }
        let mut programs = PROGRAMS
            .iter()
            .map(|program| folder.join(BUILD).join(program));
        let Some(program) = programs.find(|program| program.is_file()) else {
            bail!("--gem5 {place}: gem5 is not built; run `scons {BUILD}/gem5.opt` there");
        };
        Ok(Self { folder, program })
    }
}
