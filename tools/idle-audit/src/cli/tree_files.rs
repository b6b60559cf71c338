//! Finds and reads device tree blobs.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use report::log::page::has_extension;

/// The files that `--tree` specifies. They have been found by name; what they contain has not been
/// checked.
#[derive(Debug, Default)]
pub struct TreeFiles {
    /// The trees: first those specified by name, then those in folders, sorted.
    pub trees: Vec<PathBuf>,
    /// The subfolders that cannot be read, and why.
    pub unreadable: Vec<(PathBuf, io::Error)>,
    /// The number of overlays in folders. They change a tree, but are not trees.
    pub overlays: usize,
}

impl TreeFiles {
    /// Finds the trees at `paths`, and those in the folders at `paths` and below them. A file in a
    /// folder is a tree if its name ends in `.dtb`, in upper or lower case.
    ///
    /// # Errors
    /// Returns an error if a folder cannot be read or has no trees.
    pub fn find(paths: &[PathBuf]) -> Result<Self> {
        let mut files = Self::default();
        for path in paths {
            if path.is_dir() {
                files.add_folder(path)?;
            } else {
                files.trees.push(path.clone());
            }
        }
        Ok(files)
    }

    fn add_folder(&mut self, top: &Path) -> Result<()> {
        let named = || format!("--tree {}", top.display());
        fs::read_dir(top).with_context(named)?;
        let first = self.trees.len();
        let overlays_before = self.overlays;
        let mut has_sources = false;
        let (mut folders, mut links) = (vec![top.to_owned()], Vec::new());
        // A folder can be reached in several ways through symbolic links, which are followed last.
        let mut visited = BTreeSet::new();
        while let Some(folder) = folders.pop().or_else(|| links.pop()) {
            if !fs::canonicalize(&folder).is_ok_and(|path| visited.insert(path)) {
                continue;
            }
            let paths = entries(&folder).unwrap_or_else(|error| {
                self.unreadable.push((folder, error));
                Vec::new()
            });
            for path in paths {
                if path.is_dir() && path.is_symlink() {
                    links.push(path);
                } else if path.is_dir() {
                    folders.push(path);
                } else if has_extension(&path, "dtb") {
                    self.trees.push(path);
                } else if has_extension(&path, "dtbo") {
                    self.overlays += 1;
                } else {
                    has_sources |= has_extension(&path, "dts");
                }
            }
        }
        let trees = self.trees.get_mut(first..).unwrap_or_default();
        trees.sort();
        if trees.is_empty() && self.unreadable.is_empty() {
            let hint = if has_sources {
                "; compile its .dts files with dtc"
            } else if self.overlays > overlays_before {
                "; apply its overlays to a tree with fdtoverlay"
            } else {
                ""
            };
            bail!("{}: contains no .dtb file{hint}", named());
        }
        Ok(())
    }
}

/// Returns the paths in a folder, sorted.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<_>>()?;
    paths.sort();
    Ok(paths)
}
