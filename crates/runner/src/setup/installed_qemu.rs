//! Checks the version of the installed QEMU. Plugins need version 9.2 or later; if the installed
//! one is older, it is kept, and 10.0 from the Debian 12 backports is fetched for them.

use std::env;
use std::ffi::OsString;
use std::process::Command;

use anyhow::{Context, Result, bail};
use boards::Version;
use host::process;

use super::apt::{self, Archive};
use super::sealed_folder::sealed_folder;
use super::workspace::Workspace;

/// The oldest usable QEMU version.
const QEMU_VERSION_MIN: Version = Version { major: 7, minor: 2 };
/// The first QEMU version with version 4 of the plugin interface, which lets plugins read registers
/// and memory.
const PLUGINS_READ_MEMORY: Version = Version { major: 9, minor: 2 };

const BACKPORTS: Archive = Archive::packages("bookworm-backports");
const PACKAGES: [&str; 3] = ["qemu-system-arm", "qemu-system-common", "qemu-system-data"];

/// Returns an error if the QEMU in PATH is too old.
pub(super) fn check_qemu() -> Result<()> {
    let version = qemu_version()?;
    if version < QEMU_VERSION_MIN {
        bail!(
            "this is QEMU {version}, but {QEMU_VERSION_MIN} or later is needed; install a \
             newer one (Debian has it in backports) and put it first in PATH"
        );
    }
    Ok(())
}

/// Returns the version of the QEMU in PATH.
pub fn qemu_version() -> Result<Version> {
    let output = process::output_once(Command::new("qemu-system-aarch64").arg("--version"))?;
    let version = parse_version(&output);
    version.with_context(|| format!("not a QEMU version: {:?}", output.trim()))
}

fn parse_version(output: &str) -> Option<Version> {
    let (_, version) = output.split_once("version ")?;
    let is_part = |letter: char| letter.is_ascii_digit() || letter == '.';
    let end = version
        .find(|letter| !is_part(letter))
        .unwrap_or(version.len());
    Version::parse(&version[..end])
}

/// Returns a PATH that provides QEMU 9.2 or later. Fetches QEMU if an older version is installed.
pub fn newer_qemu(workspace: &Workspace) -> Result<OsString> {
    let path = env::var_os("PATH").context("PATH is not set")?;
    if qemu_version()? >= PLUGINS_READ_MEMORY {
        return Ok(path);
    }
    let folder = workspace.state().join("qemu-backports");
    sealed_folder(&folder, |partial_folder| {
        let step = "fetching QEMU from Debian backports, 13 MB";
        let download = [&["download"][..], &PACKAGES].concat();
        apt::fetch_into(partial_folder, workspace, step, &BACKPORTS, |apt| {
            apt.get(&download)
        })
        .context("cannot fetch QEMU from Debian backports; install 9.2 or later yourself")
    })?;
    let folders = [folder.join("usr/bin")]
        .into_iter()
        .chain(env::split_paths(&path));
    Ok(env::join_paths(folders)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let debian = "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)\nCopyright";
        for (output, expected) in [
            (debian, Some((7, 2))),
            ("QEMU emulator version 10.0.2", Some((10, 0))),
            ("QEMU emulator version ten", None),
        ] {
            let expected = expected.map(|(major, minor)| Version { major, minor });
            assert_eq!(parse_version(output), expected);
        }
    }
}
