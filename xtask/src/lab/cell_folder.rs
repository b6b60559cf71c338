//! Writes cell folders. A cell is either written completely or not written at all, and files that
//! are not part of the new cell are kept.
//!
//! A cell is assembled in a scratch folder next to its final folder. The scratch folder name begins
//! with a dot, so readers do not mistake the folder for a cell.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use super::engine::Names;
use super::mark::MARK;

/// The folder for an engine's results.
const RESULTS: &str = "results";

/// The folder in which Python caches bytecode for the tests.
const BYTECODE: &str = "__pycache__";

/// The folder for a cell, which may not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellFolder {
    /// The absolute path.
    pub path: PathBuf,
    /// True if an existing cell may be replaced.
    force: bool,
}

impl CellFolder {
    /// Returns the folder for a cell in `dir`. With `force`, an existing cell is replaced.
    pub fn of(dir: &Path, names: &Names, force: bool) -> Result<Self> {
        let absolute = match dir.exists() {
            true => fs::canonicalize(dir),
            false => std::path::absolute(dir),
        };
        let absolute = absolute.with_context(|| format!("-o {}", dir.display()))?;
        let path = absolute.join(names.folder());
        let this = Self { path, force };
        this.check_free()?;
        Ok(this)
    }

    /// Rejects the cell if its folder exists and must not be replaced.
    fn check_free(&self) -> Result<()> {
        let place = &self.path;
        let at = place.display();
        let Ok(there) = fs::symlink_metadata(place) else {
            return Ok(());
        };
        if !there.is_dir() || !place.join(MARK).is_file() {
            bail!("{at} exists but is not a cell; choose a different -o or --name");
        }
        if !self.force {
            bail!(
                "{at} already exists; use --force to replace it, or --name to give the new cell \
                 another name"
            );
        }
        if fs::symlink_metadata(place.join(RESULTS)).is_ok() {
            bail!("{at} contains the old cell's results: move or remove {at}/{RESULTS}");
        }
        Ok(())
    }
}

/// A complete cell that has not been written yet.
pub struct Ready {
    pub place: CellFolder,
    /// The names and contents of the files. The last file marks the folder as a cell.
    pub files: Vec<(String, Vec<u8>)>,
}

/// Writes all cells, or none if any cell cannot be written.
pub fn put(cells: &[Ready]) -> Result<()> {
    let scratch = cells.iter().map(Ready::write_to_scratch);
    let scratch = scratch.collect::<Result<Vec<TempDir>>>()?;
    // Another process may have written to the folders since the first check.
    cells.iter().try_for_each(Ready::check)?;
    for (cell, scratch) in cells.iter().zip(&scratch) {
        let place = &cell.place.path;
        let named = || place.display().to_string();
        // A rename does not replace a non-empty folder.
        let old = scratch.path().with_extension("old");
        let is_there = place.exists();
        if is_there {
            fs::rename(place, &old).with_context(named)?;
        }
        fs::rename(scratch.path(), place).with_context(named)?;
        if is_there {
            fs::remove_dir_all(&old).with_context(|| old.display().to_string())?;
        }
    }
    Ok(())
}

impl Ready {
    /// Refuses to replace a folder that contains files that do not belong to the cell.
    fn check(&self) -> Result<()> {
        let place = &self.place.path;
        self.place.check_free()?;
        let named = || place.display().to_string();
        let entries = place.exists().then(|| fs::read_dir(place)).transpose();
        for entry in entries.with_context(named)?.into_iter().flatten() {
            let entry = entry.with_context(named)?;
            let (name, kind) = (entry.file_name(), entry.file_type()?);
            let is_own = kind.is_file() && self.files.iter().any(|it| name == *it.0);
            let is_bytecode = kind.is_dir() && name == BYTECODE;
            if !is_own && !is_bytecode {
                let path = entry.path();
                let path = path.display();
                bail!(
                    "{path} is not part of the new cell, and --force would remove it; move it \
                     elsewhere"
                );
            }
        }
        Ok(())
    }

    /// Writes the files to a scratch folder next to the final cell folder.
    fn write_to_scratch(&self) -> Result<TempDir> {
        let place = &self.place.path;
        let dir = place.parent().unwrap_or(place);
        let named = || format!("-o {}", dir.display());
        fs::create_dir_all(dir).with_context(named)?;
        // Other users can read the folder, like any new folder.
        let mut builder = tempfile::Builder::new();
        let builder = builder.permissions(Permissions::from_mode(0o777));
        let scratch = builder.prefix(".cell-").tempdir_in(dir);
        let scratch = scratch.with_context(named)?;
        for (name, data) in &self.files {
            fs::write(scratch.path().join(name), data).with_context(named)?;
        }
        Ok(scratch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::engine::Engine;

    struct Lab(TempDir);

    impl Lab {
        fn ready(&self, firmware: &str, force: bool, text: &str) -> Result<Ready> {
            let names = Names {
                engine: Engine::Labgrid,
                board: "rpi4".to_owned(),
                firmware: firmware.to_owned(),
            };
            let file = |name: &str| (name.to_owned(), text.as_bytes().to_vec());
            Ok(Ready {
                place: CellFolder::of(self.0.path(), &names, force)?,
                files: vec![file("kernel8.img"), file(MARK)],
            })
        }

        fn put(&self, firmware: &str, force: bool, text: &str) -> Result<()> {
            put(&[self.ready(firmware, force, text)?])
        }

        fn text(&self) -> String {
            let file = self.0.path().join("labgrid-rpi4-v1/kernel8.img");
            fs::read_to_string(file).expect("there")
        }

        fn names(&self) -> Vec<String> {
            let all = fs::read_dir(self.0.path()).expect("there");
            let names = all.map(|it| it.expect("an entry").file_name());
            let mut names: Vec<_> = names.map(|it| it.display().to_string()).collect();
            names.sort();
            names
        }
    }

    #[test]
    fn cell_is_replaced_only_by_force_and_without_loss() {
        let lab = Lab(tempfile::tempdir().expect("a directory"));
        let cell = lab.0.path().join("labgrid-rpi4-v1");
        lab.put("v1", false, "one").expect("written");
        let refused = |force| {
            let error = lab.put("v1", force, "two").expect_err("refused");
            format!("{error:#}")
        };
        assert!(refused(false).contains("use --force to replace it"));
        fs::create_dir(cell.join(BYTECODE)).expect("made");
        lab.put("v1", true, "two").expect("replaced");
        assert_eq!(lab.text(), "two");
        fs::write(cell.join("notes.txt"), "").expect("written");
        assert!(refused(true).contains("notes.txt is not part of the new cell"));
        fs::remove_file(cell.join("notes.txt")).expect("removed");
        fs::create_dir(cell.join(RESULTS)).expect("made");
        assert!(refused(true).contains("contains the old cell's results"));
        fs::remove_file(cell.join(MARK)).expect("removed");
        assert!(refused(true).contains("is not a cell"));
        assert_eq!(lab.names(), ["labgrid-rpi4-v1"]);
    }

    #[test]
    fn all_cells_are_written_or_none() {
        let lab = Lab(tempfile::tempdir().expect("a directory"));
        lab.put("v1", false, "old").expect("written");
        let ready = |firmware, force| lab.ready(firmware, force, "new").expect("ready");
        let cells = [ready("v1", true), ready("v2", false)];
        // In the meantime, another process writes the second cell.
        lab.put("v2", false, "theirs").expect("written");
        let error = put(&cells).expect_err("refused");
        assert!(error.to_string().contains("already exists"), "{error}");
        assert_eq!(lab.text(), "old");
        assert_eq!(lab.names(), ["labgrid-rpi4-v1", "labgrid-rpi4-v2"]);
    }
}
