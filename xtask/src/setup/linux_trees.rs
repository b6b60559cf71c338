//! The device trees of Linux's boards, out of Debian's kernel for arm64.
//!
//! They are what real boards say of themselves, a thousand of them, and what
//! the payload's reader is held against. The package is that of the archive's
//! current release, 90 MB, fetched once: apt itself is told that the machine
//! is of that architecture, with state of its own as for TF-A's source.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::apt::{self, Apt};
use super::process::{find, quietly};
use super::progress::Progress;
use super::workspace::{Workspace, once};

/// The package that depends on the current kernel's.
const META: &str = "linux-image-arm64";

/// The trees, and where they are from.
#[derive(Debug)]
pub struct LinuxTrees {
    /// Name and version of the package, as apt writes them.
    pub package: String,
    /// Paths of the trees, sorted.
    pub files: Vec<PathBuf>,
    /// The folder that has a folder of each maker's trees.
    pub dir: PathBuf,
}

/// Fetches the trees, if they are not there yet.
///
/// # Errors
/// When apt or the network fails; nothing is then left behind.
pub fn fetch(workspace: &Workspace) -> Result<LinuxTrees> {
    let place = workspace.state().join("linux-trees");
    once(&place, |partial| {
        let work = tempfile::tempdir_in(workspace.state())?;
        let progress = Progress::start("fetching Debian's kernel for arm64, 90 MB");
        let package = download(work.path(), &progress)
            .with_context(|| format!("cannot fetch Debian's package {META}"))?;
        unpack(work.path(), partial)?;
        files(partial).with_context(|| package.clone())?;
        Ok(fs::write(partial.join("package"), package)?)
    })?;
    let package = fs::read_to_string(place.join("package"))?;
    let (files, dir) = files(&place)?;
    Ok(LinuxTrees {
        package,
        files,
        dir,
    })
}

/// The trees below `place`, and the folder of their makers' folders.
fn files(place: &Path) -> Result<(Vec<PathBuf>, PathBuf)> {
    let mut files = Vec::new();
    collect(place, &mut files)?;
    files.sort();
    let dir = files
        .first()
        .and_then(|file| file.parent()?.parent())
        .context("there are no device trees in it")?
        .to_path_buf();
    Ok((files, dir))
}

/// Fetches the package; what is said of it is its name and version.
fn download(work: &Path, progress: &Progress) -> Result<String> {
    apt::from_any_site(|site| {
        let apt = Apt::foreign(work, site, "arm64")?;
        let mut update = apt.command("apt-get", &["update"]);
        let log = work.join("apt.log");
        quietly(&mut update, &log, progress, apt::watch)?;
        let (name, version) = apt.resolve(META)?;
        let wanted = format!("{name}={version}");
        let mut download = apt.command("apt-get", &["download", &wanted]);
        quietly(&mut download, &log, progress, apt::watch)?;
        Ok(format!("{name} {version}"))
    })
}

/// Takes the trees alone out of the package: the rest of it is ten times that.
fn unpack(work: &Path, place: &Path) -> Result<()> {
    let entries = fs::read_dir(work)?.collect::<Result<Vec<_>, _>>()?;
    let mut paths = entries.iter().map(fs::DirEntry::path);
    let package = paths
        .find(|path| path.extension().is_some_and(|ending| ending == "deb"))
        .context("apt fetched no package")?;
    for program in ["dpkg-deb", "tar"] {
        if find(program).is_none() {
            bail!("this machine has no {program}");
        }
    }
    let mut unpacked = Command::new("dpkg-deb")
        .arg("--fsys-tarfile")
        .arg(&package)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run `dpkg-deb`")?;
    let archive = unpacked.stdout.take().context("dpkg-deb has no stdout")?;
    let taken = Command::new("tar")
        .arg("-C")
        .arg(place)
        .args(["-x", "--wildcards", "*.dtb"])
        .stdin(archive)
        .status()
        .context("cannot run `tar`")?;
    let unpacked = unpacked.wait()?;
    if !unpacked.success() || !taken.success() {
        bail!("{} cannot be unpacked", package.display());
    }
    Ok(())
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|ending| ending == "dtb") {
            files.push(path);
        }
    }
    Ok(())
}
