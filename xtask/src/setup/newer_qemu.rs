//! Provides QEMU 9.2 or later. If an older version is installed, it is kept, but version 10.0 from
//! the Debian 12 backports is used instead.

use std::env;
use std::ffi::OsString;

use anyhow::{Context, Result};
use host::progress::StepProgress;

use super::apt::{self, Archive};
use super::need::qemu_version;
use super::scratch::Scratch;
use super::sealed_folder::{Unsealed, sealed_folder};
use super::workspace::Workspace;

const BACKPORTS: Archive = Archive("deb", "bookworm-backports", None);
const PACKAGES: [&str; 3] = ["qemu-system-arm", "qemu-system-common", "qemu-system-data"];
/// The first QEMU version with version 4 of the plugin interface, which lets plugins read registers
/// and memory.
const PLUGINS_READ_MEMORY: (u32, u32) = (9, 2);

/// Returns a PATH that provides QEMU 9.2 or later. Fetches QEMU if an older version is installed.
pub fn newer_qemu(workspace: &Workspace) -> Result<OsString> {
    let path = env::var_os("PATH").context("PATH is not set")?;
    if qemu_version()? >= PLUGINS_READ_MEMORY {
        return Ok(path);
    }
    let place = workspace.state().join("qemu-backports");
    sealed_folder(&place, Unsealed::Adopted, |partial| {
        let work = Scratch::new(workspace)?;
        let _progress = StepProgress::start("fetching QEMU from Debian backports, 13 MB");
        let download = [&["download"][..], &PACKAGES].concat();
        let fetched = apt::fetch(work.path(), &BACKPORTS, |apt| apt.get(&download));
        fetched
            .context("cannot fetch QEMU from Debian backports; install 9.2 or later yourself")?;
        apt::unpack(work.path(), partial)
    })?;
    let folders = [place.join("usr/bin")]
        .into_iter()
        .chain(env::split_paths(&path));
    Ok(env::join_paths(folders)?)
}
