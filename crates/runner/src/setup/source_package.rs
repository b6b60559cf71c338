//! Source code from Debian source packages.
//!
//! `apt` verifies everything that it fetches, starting from the archive signature. The source of
//! the firmware under test is also pinned here, by the hash of its description.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use host::hex::hex;
use host::process;
use host::progress::StepProgress;
use sha2::{Digest, Sha256};

use super::apt::{self, Archive};
use super::install::ensure;
use super::need::Need;
use super::scratch::Scratch;
use super::sealed_folder::sealed_folder;
use super::workspace::Workspace;

/// A Debian source package that commands build from or read.
#[derive(Clone, Copy, Debug)]
pub struct SourcePackage {
    /// The name of the Debian source package.
    pub package: &'static str,
    /// The name in messages and help.
    pub title: &'static str,
    /// The Debian release that contains the package.
    pub(crate) suite: &'static str,
    /// The version or, if the package is not pinned, the series.
    pub version: &'static str,
    /// The SHA-256 of the `.dsc` file, which contains the hashes of all the other files.
    /// dpkg-source checks those hashes. If None, any version in the archive is accepted.
    pub dsc_sha256: Option<&'static str>,
    /// An alternative to suggest at the end of the error message if the source cannot be fetched,
    /// or an empty string.
    pub otherwise: &'static str,
    /// Rejects a directory that is not a source tree of this package.
    pub(crate) check: fn(&Path) -> Result<()>,
}

impl SourcePackage {
    /// Returns the directory for the unpacked source.
    fn place(&self, workspace: &Workspace) -> PathBuf {
        let name = self.title.to_lowercase().replace(' ', "-");
        workspace.state().join(name).join(self.version)
    }

    /// Returns true if the source exists, in which case no tools are needed to fetch it.
    pub fn is_there(&self, workspace: &Workspace) -> bool {
        self.place(workspace).is_dir()
    }

    /// Returns the directory that contains the unpacked source. Fetches the source if it does not
    /// exist yet.
    pub fn fetch(&self, workspace: &Workspace) -> Result<PathBuf> {
        let package = self.package;
        let title = self.title;
        let version = self.version;
        let folder = self.place(workspace);
        sealed_folder(&folder, |partial_folder| {
            let work = Scratch::new(workspace)?;
            let _progress =
                StepProgress::start(&format!("fetching the source of {title} {version}"));
            let pinned = self.dsc_sha256.map(|_| format!("{package}={version}"));
            let wanted = pinned.as_deref().unwrap_or(package);
            let source = ["source", "--download-only", "--only-source", wanted];
            let archive = Archive {
                kind: "deb-src",
                ..Archive::packages(self.suite)
            };
            let fetched = apt::fetch(work.path(), &archive, |apt| apt.get(&source));
            fetched.with_context(|| {
                format!(
                    "cannot fetch the Debian source package {package} {version}. Check the network \
                     and the apt proxy{}",
                    self.otherwise
                )
            })?;
            ensure(workspace, &[Need::DpkgSource])?;
            // dpkg-source creates the source directory itself, and copies archives next to it.
            let tree = work.path().join("tree");
            self.unpack(work.path(), &tree)?;
            Ok(fs::rename(tree, partial_folder)?)
        })?;
        Ok(folder)
    }

    fn unpack(&self, work: &Path, tree: &Path) -> Result<()> {
        let files = fs::read_dir(work)?.filter_map(Result::ok);
        let mut paths = files.map(|entry| entry.path());
        let dsc = paths
            .find(|path| path.extension().is_some_and(|extension| extension == "dsc"))
            .context("apt did not fetch a .dsc file")?;
        if let Some(pinned) = self.dsc_sha256 {
            let actual = hex(&Sha256::digest(fs::read(&dsc)?));
            if actual != pinned {
                let name = dsc.file_name().expect("a file in the folder").display();
                bail!("{name} has SHA-256 {actual}, not {pinned}");
            }
        }
        let mut command = process::minimal_command("dpkg-source");
        command.arg("-x").arg(&dsc).arg(tree).current_dir(work);
        process::run_quietly(&mut command, &work.with_file_name("dpkg-source.log"))?;
        (self.check)(tree)
    }
}
