//! Device trees of boards supported by Linux, from the Debian kernel for arm64.
//!
//! Tests run the payload's parser on the device trees of these thousand or so real boards. The
//! package (90 MB) is the current version in the release archive, and is fetched once.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::apt::{self, Apt};
use super::scratch::Scratch;
use super::sealed_folder::sealed_folder;
use super::workspace::Workspace;

/// The package that depends on the current kernel package.
pub const META: &str = "linux-image-arm64";

/// The trees and their origin.
#[derive(Debug)]
pub struct LinuxTrees {
    /// The package name and version, as printed by apt.
    pub package: String,
    /// Paths of the trees, sorted.
    pub files: Vec<PathBuf>,
    /// The folder that contains one folder of trees for each vendor.
    pub dir: PathBuf,
}

/// Fetches the trees unless they are already present.
pub fn fetch(workspace: &Workspace) -> Result<LinuxTrees> {
    let folder = workspace.state().join("linux-trees");
    sealed_folder(&folder, |partial_folder| {
        let root = Scratch::new(workspace)?;
        let what = "fetching the Debian kernel for arm64, 90 MB";
        let get = |apt: &Apt<'_>| apt.download_dependency(META);
        let package = apt::fetch_into(root.path(), workspace, what, &apt::ARM64, get)
            .with_context(|| format!("cannot fetch the Debian package {META}"))?;
        // Keep only the trees, because the rest of the package is ten times their size.
        let (_, trees) = files(root.path()).with_context(|| package.clone())?;
        fs::rename(trees, partial_folder.join("trees"))?;
        Ok(fs::write(partial_folder.join("package"), package)?)
    })?;
    let package = fs::read_to_string(folder.join("package"))?;
    let (files, dir) = files(&folder)?;
    Ok(LinuxTrees {
        package,
        files,
        dir,
    })
}

/// Returns the trees below `folder`, sorted, and the folder that contains the vendor folders.
fn files(folder: &Path) -> Result<(Vec<PathBuf>, PathBuf)> {
    let mut files = Vec::new();
    let mut dirs = vec![folder.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir)? {
            let path = entry?.path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|extension| extension == "dtb") {
                files.push(path);
            }
        }
    }
    files.sort();
    let dir = files
        .first()
        .and_then(|file| file.parent()?.parent())
        .context("the package contains no device trees")?
        .to_path_buf();
    Ok((files, dir))
}
