//! Source that Debian has packaged.
//!
//! `apt` verifies what it fetches down from the archive's signature;
//! what this project is measured with is also pinned here, by the hash of its
//! description.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use super::apt::{self, Apt};
use super::ensure::ensure;
use super::need::Need;
use super::process::{self, quietly, unwatched};
use super::progress::Progress;
use super::workspace::{Workspace, once};

/// A source package.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Its name in Debian.
    pub package: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Its version; of one that is not pinned, the series.
    pub version: &'static str,
    /// SHA-256 of its `.dsc`, which has the hashes of all the rest;
    /// dpkg-source compares them. Without, it is whatever the archive has.
    pub dsc_sha256: Option<&'static str>,
    /// What else to do where it cannot be fetched.
    pub otherwise: &'static str,
    /// Whether a directory is a source tree of it.
    pub(crate) check: fn(&Path) -> Result<()>,
}

impl Source {
    /// Where its unpacked source is, or is to be.
    fn place(&self, workspace: &Workspace) -> PathBuf {
        let name = self.title.to_lowercase().replace(' ', "-");
        workspace.state().join(name).join(self.version)
    }

    /// The directory of the unpacked source, fetched if it is not there yet.
    ///
    /// # Errors
    /// When apt or the network fails; nothing is then left behind.
    pub fn fetch(&self, workspace: &Workspace) -> Result<PathBuf> {
        let place = self.place(workspace);
        once(&place, |partial| {
            ensure(workspace, &[Need::DpkgSource])?;
            let work = tempfile::tempdir_in(workspace.state())?;
            let (title, version) = (self.title, self.version);
            let progress = Progress::start(&format!("fetching the source of {title} {version}"));
            self.download(work.path(), &progress).with_context(|| {
                format!(
                    "cannot fetch Debian's source package {} {version}. Check the network and \
                     apt's proxy{}",
                    self.package, self.otherwise
                )
            })?;
            // dpkg-source makes its directory itself, and copies archives
            // beside it.
            let tree = work.path().join("tree");
            self.unpack(work.path(), &tree, &progress)?;
            Ok(fs::rename(tree, partial)?)
        })?;
        Ok(place)
    }

    fn download(&self, work: &Path, progress: &Progress) -> Result<()> {
        apt::from_any_site(|site| self.download_from(site, work, progress))
    }

    fn download_from(&self, site: &str, work: &Path, progress: &Progress) -> Result<()> {
        let apt = Apt::new(work, "deb-src", "", site, "")?;
        let run = |arguments: &[&str]| {
            let mut command = apt.command("apt-get", arguments);
            quietly(&mut command, &work.join("apt.log"), progress, apt::watch)
        };
        run(&["update"])?;
        let package = match self.dsc_sha256 {
            Some(_) => format!("{}={}", self.package, self.version),
            None => self.package.to_owned(),
        };
        run(&["source", "--download-only", "--only-source", &package])
    }

    fn unpack(&self, work: &Path, place: &Path, progress: &Progress) -> Result<()> {
        let dsc = description(work).context("apt fetched no .dsc")?;
        if let Some(pinned) = self.dsc_sha256 {
            let found = hex(&Sha256::digest(fs::read(&dsc)?));
            if found != pinned {
                let name = dsc.file_name().unwrap_or_default().display();
                bail!("{name} has the SHA-256 {found}, and not {pinned}");
            }
        }
        let mut command = process::clean("dpkg-source");
        command.arg("-x").arg(&dsc).arg(place).current_dir(work);
        quietly(&mut command, &work.join("unpack.log"), progress, unwatched)?;
        (self.check)(place)
    }
}

/// The one source package's description in `dir`.
fn description(dir: &Path) -> Option<PathBuf> {
    let files = fs::read_dir(dir).ok()?.filter_map(Result::ok);
    let mut paths = files.map(|entry| entry.path());
    paths.find(|path| path.extension().is_some_and(|ending| ending == "dsc"))
}

/// `bytes` in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
