//! TF-A's source: the pinned package, or the user's checkout.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::setup::progress::say;
use crate::setup::source_package::{Source, hex};
use crate::setup::workspace::Workspace;

/// TF-A, as Debian 13 has it: the upstream tag v2.12.1 without vendors' binaries.
pub const TF_A: Source = Source {
    package: "arm-trusted-firmware",
    title: "TF-A",
    version: "2.12.1+dfsg-1",
    dsc_sha256: Some("1b10c0f421eb994c23b4f7fafe18f8e6b65eb70fd4195b49e40611beafcedc26"),
    otherwise: ", or check out the tag v2.12.1 of Trusted Firmware-A and pass its directory by \
                --tf-a",
    check: |dir| version(dir).map(|_| ()),
};

/// The oldest version that the overlay platform builds on.
const OLDEST: (u32, u32) = (2, 12);
/// The newest version that the overlay platform was run on.
const NEWEST: (u32, u32) = (2, 15);

/// A source tree of TF-A.
#[derive(Clone, Debug)]
pub struct TfA {
    /// The folder.
    pub dir: PathBuf,
    /// The version, such as "2.12.1".
    pub version: String,
    /// A text that no other source has.
    pub identity: String,
}

impl TfA {
    /// Finds the user's checkout at `dir`, or else the pinned package.
    pub fn locate(workspace: &Workspace, dir: Option<&Path>) -> Result<Self> {
        if let Some(dir) = dir {
            let dir = fs::canonicalize(dir).with_context(|| format!("--tf-a {}", dir.display()))?;
            let at = || format!("--tf-a {}", dir.display());
            let version = supported(&dir).with_context(at)?;
            if let Some(doubt) = doubt(&version) {
                say(&format!("warning: {}: {doubt}", at()));
            }
            let identity = content(&dir)?;
            return Ok(Self {
                dir,
                version,
                identity,
            });
        }
        let dir = TF_A.fetch(workspace)?;
        Ok(Self {
            version: version(&dir)?,
            identity: format!("{} {}", TF_A.package, TF_A.version),
            dir,
        })
    }

    /// Refuses a source of which the own platform `qemu` does not power CPUs down.
    pub fn check_stock(&self) -> Result<()> {
        let path = self.dir.join("plat/qemu/common/qemu_pm.c");
        let hooks = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        // Up to 2.15.0 the power-down and the return from it are this assertion.
        if !hooks.contains("assert(0)") {
            return Ok(());
        }
        bail!(
            "--firmware tf-a-stock: the qemu platform of this TF-A {} parks a CPU for good in a \
             power-down; give a checkout of June 2026 or later (after 2.15.0) by --tf-a",
            self.version
        )
    }
}

/// Returns the version in `dir`'s Makefile, unless it is before [`OLDEST`].
fn supported(dir: &Path) -> Result<String> {
    let version = version(dir)?;
    if major_minor(&version) < OLDEST {
        let (major, minor) = OLDEST;
        bail!("this is TF-A {version}; versions from {major}.{minor} on can be used");
    }
    Ok(version)
}

/// Returns the warning for a version on which the overlay platform was not run.
fn doubt(version: &str) -> Option<String> {
    let (oldest, newest) = (OLDEST, NEWEST);
    (major_minor(version) > newest).then(|| {
        format!(
            "this is TF-A {version}, which the overlay platform was not tried with; it was tried \
             with {}.{} to {}.{} (platforms/qemu/tf-a/README.md). If it does not build or run, use \
             one of these",
            oldest.0, oldest.1, newest.0, newest.1
        )
    })
}

fn major_minor(version: &str) -> (u32, u32) {
    let mut numbers = version.split('.').map(|n| n.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Returns the version in `dir`'s Makefile.
pub fn version(dir: &Path) -> Result<String> {
    for file in ["Makefile", "bl31/bl31.mk", "plat/qemu/qemu/platform.mk"] {
        if !dir.join(file).is_file() {
            bail!("this is not a source tree of TF-A: there is no {file} in it");
        }
    }
    let makefile = fs::read(dir.join("Makefile"))?;
    let makefile = String::from_utf8_lossy(&makefile);
    parse_version(&makefile)
        .context("this is not a source tree of TF-A: its Makefile sets no VERSION_MAJOR and _MINOR")
}

fn parse_version(makefile: &str) -> Option<String> {
    let field = |name: &str| {
        let line = makefile.lines().find(|line| line.starts_with(name))?;
        let value = line.split_once('=')?.1.trim();
        let digits = !value.is_empty() && value.chars().all(|c| c.is_ascii_digit());
        digits.then(|| value.to_owned())
    };
    let minor = field("VERSION_MINOR")?;
    let version = format!("{}.{minor}", field("VERSION_MAJOR")?);
    Some(match field("VERSION_PATCH") {
        Some(patch) => format!("{version}.{patch}"),
        None => version,
    })
}

/// Returns a hash over the names and contents of all files that a build may read.
fn content(dir: &Path) -> Result<String> {
    let mut hash = Sha256::new();
    add(dir, dir, &mut hash)?;
    Ok(hex(&hash.finalize()))
}

/// Adds what is in `dir`, in the order of names.
pub(crate) fn add(root: &Path, dir: &Path, hash: &mut Sha256) -> Result<()> {
    let mut entries = fs::read_dir(dir)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .with_context(|| dir.display().to_string())?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let name = path.strip_prefix(root).unwrap_or(&path);
        // A build does not read these, or has written them itself.
        let top = ["build", "docs", ".git", "debian", ".pc"];
        if dir == root && top.iter().any(|skip| name == Path::new(skip)) {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() {
            add(root, &path, hash)?;
        } else if kind.is_file() {
            let data = fs::read(&path).with_context(|| path.display().to_string())?;
            hash.update(name.as_os_str().as_encoded_bytes());
            hash.update([0]);
            hash.update((data.len() as u64).to_le_bytes());
            hash.update(&data);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let lts = "VERSION_MAJOR\t\t\t:= 2\nVERSION_MINOR\t:= 12\nVERSION_PATCH := 1\n";
        for (makefile, expected) in [
            (lts, Some("2.12.1")),
            ("VERSION_MAJOR := 2\nVERSION_MINOR := 14\n", Some("2.14")),
            ("VERSION_MAJOR := two\nVERSION_MINOR := 1", None),
            ("all:\n", None),
        ] {
            assert_eq!(parse_version(makefile).as_deref(), expected);
        }
    }

    #[test]
    fn only_a_version_after_the_newest_is_doubted() {
        for version in ["2.12.1", "2.15", "2.15.3"] {
            assert_eq!(doubt(version), None, "{version}");
        }
        for version in ["2.16", "2.16.0", "3.0"] {
            let said = doubt(version).expect("a warning");
            assert!(said.starts_with(&format!("this is TF-A {version}, ")));
            assert!(said.contains("tried with 2.12 to 2.15"), "{said}");
        }
    }
}
