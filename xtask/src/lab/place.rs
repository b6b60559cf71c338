//! The folders of cells. A cell is written as a whole or not at all, and files that this
//! tool has not written stay.
//!
//! A cell is put together in a scratch folder beside its final one. The scratch folder's
//! name begins with a dot, so that no reader takes it for a cell. A cell that is replaced
//! is moved to another scratch folder first.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use super::engine::Names;
use crate::board::Board;
use crate::report::jobs::cell::{MARK, RESULTS};
use crate::setup::progress::say;

/// The files that a cell of any board may have, besides the file that the board's loader
/// takes.
const WRITTEN: [&str; 11] = [
    MARK,
    "job.yaml",
    "device.yaml",
    "device.jinja2",
    "env.yaml",
    "test_psci_bench.py",
    "pytest.ini",
    "recovery.zip",
    "firmware.bin",
    "payload.bin",
    "fip.bin",
];
/// The folder in which Python keeps the bytecode of the tests.
const BYTECODE: &str = "__pycache__";

/// The folder for a cell, whether it exists or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The absolute path.
    pub path: PathBuf,
    /// True if an existing cell is replaced.
    force: bool,
    /// The name of the file that the board's loader takes.
    loaded: Option<String>,
}

impl Place {
    /// Returns the place of a cell below `dir`. With `force`, an existing cell will be
    /// replaced.
    pub fn of(dir: &Path, names: &Names, board: &Board, force: bool) -> Result<Self> {
        let absolute = match dir.exists() {
            true => fs::canonicalize(dir),
            false => std::path::absolute(dir),
        };
        let absolute = absolute.with_context(|| format!("-o {}", dir.display()))?;
        let this = Self {
            path: absolute.join(names.folder()),
            force,
            loaded: board.package.as_ref().map(|package| package.file.clone()),
        };
        this.check_free()?;
        Ok(this)
    }

    /// Refuses an existing folder that must not be replaced.
    fn check_free(&self) -> Result<()> {
        let place = &self.path;
        let at = place.display();
        let Ok(there) = fs::symlink_metadata(place) else {
            return Ok(());
        };
        if !there.is_dir() || !place.join(MARK).is_file() {
            bail!("{at} exists, and is no cell: choose another -o or another --name");
        }
        if !self.force {
            bail!(
                "{at} exists already: --force replaces it, --name gives the new one another name"
            );
        }
        if fs::symlink_metadata(place.join(RESULTS)).is_ok() {
            bail!("{at} has results of the old cell: move or remove {at}/{RESULTS}");
        }
        for entry in fs::read_dir(place).with_context(|| at.to_string())? {
            let entry = entry.with_context(|| at.to_string())?;
            let name = entry.file_name();
            let name = name.to_str().unwrap_or_default();
            let kind = entry.file_type()?;
            let is_written = WRITTEN.contains(&name) || self.loaded.as_deref() == Some(name);
            if !(kind.is_file() && is_written || kind.is_dir() && name == BYTECODE) {
                bail!(
                    "{} was not written by this tool, and --force would remove it: move it away",
                    entry.path().display()
                );
            }
        }
        Ok(())
    }
}

/// A complete cell that is not written yet.
pub struct Ready {
    pub place: Place,
    /// Names and contents of the files; the last file makes the folder a cell.
    pub files: Vec<(String, Vec<u8>)>,
}

/// Writes cells, all of them or none.
pub fn put(cells: &[Ready], stop: &AtomicBool) -> Result<()> {
    let scratch = cells.iter().map(|cell| cell.write_to_scratch(stop));
    let scratch = scratch.collect::<Result<Vec<TempDir>>>()?;
    let mut renamed = Vec::new();
    let mut replaced = Vec::new();
    let result = cells.iter().zip(&scratch).try_for_each(|(cell, scratch)| {
        let place = &cell.place.path;
        // Another process may have written there since the first check.
        cell.place.check_free()?;
        // A rename replaces no folder that has files.
        let mut rename = |from: &Path, to: &Path| {
            renamed.push((to.to_owned(), from.to_owned()));
            let done = fs::rename(from, to).with_context(|| place.display().to_string());
            done.inspect_err(|_| drop(renamed.pop()))
        };
        if place.exists() {
            let old = scratch.path().with_extension("old");
            rename(place, &old)?;
            replaced.push(old);
        }
        rename(scratch.path(), place)
    });
    if result.is_err() {
        for (from, to) in renamed.iter().rev() {
            if let Err(error) = fs::rename(from, to) {
                let (from, to) = (from.display(), to.display());
                say(&format!(
                    "warning: {from} cannot be moved back to {to}: {error}"
                ));
            }
        }
        return result;
    }
    for old in replaced {
        // Without its mark, a folder that is only partly removed is no cell.
        let removed = fs::remove_file(old.join(MARK)).and_then(|()| fs::remove_dir_all(&old));
        if let Err(error) = removed {
            say(&format!("warning: the old cell {}: {error}", old.display()));
        }
    }
    Ok(())
}

impl Ready {
    /// Writes the files to a folder beside the cell's final one. The folder's name begins
    /// with a dot.
    fn write_to_scratch(&self, stop: &AtomicBool) -> Result<TempDir> {
        let place = &self.place.path;
        let dir = place.parent().unwrap_or(place);
        let named = || format!("-o {}", dir.display());
        fs::create_dir_all(dir).with_context(named)?;
        let scratch = tempfile::Builder::new().prefix(".cell-").tempdir_in(dir);
        let scratch = scratch.with_context(named)?;
        for (name, data) in &self.files {
            fs::write(scratch.path().join(name), data).with_context(named)?;
            if stop.load(Ordering::Relaxed) {
                bail!("interrupted: nothing is written");
            }
        }
        share(scratch.path()).with_context(named)?;
        Ok(scratch)
    }
}

/// Gives `dir`, which only its owner can read, the permissions of any new folder.
fn share(dir: &Path) -> Result<()> {
    let fresh = dir.join("new");
    fs::create_dir(&fresh)?;
    let usual = fs::metadata(&fresh)?.permissions();
    fs::remove_dir(&fresh)?;
    Ok(fs::set_permissions(dir, usual)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board;
    use crate::lab::engine::Engine;
    use crate::setup::workspace::Workspace;
    use std::os::unix::fs::symlink;

    static GO: AtomicBool = AtomicBool::new(false);

    struct Lab(TempDir);

    impl Lab {
        fn ready(&self, firmware: &str, force: bool, text: &str) -> Result<Ready> {
            let workspace = Workspace::find().expect("the repository");
            let board = board::load(&workspace, "rpi4").expect("a board");
            let names = Names {
                engine: Engine::Labgrid,
                board: "rpi4".to_owned(),
                firmware: firmware.to_owned(),
            };
            let file = |name: &str| (name.to_owned(), text.as_bytes().to_vec());
            Ok(Ready {
                place: Place::of(self.0.path(), &names, &board, force)?,
                files: vec![file("kernel8.img"), file(MARK)],
            })
        }

        fn put(&self, firmware: &str, force: bool, text: &str) -> Result<()> {
            put(&[self.ready(firmware, force, text)?], &GO)
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
        assert!(refused(false).contains("--force replaces it"));
        fs::create_dir(cell.join(BYTECODE)).expect("made");
        lab.put("v1", true, "two").expect("replaced");
        assert_eq!(lab.text(), "two");
        fs::write(cell.join("notes.txt"), "").expect("written");
        assert!(refused(true).contains("was not written by this tool"));
        fs::remove_file(cell.join("notes.txt")).expect("removed");
        symlink("/dev/null", cell.join("fip.bin")).expect("made");
        assert!(refused(true).contains("fip.bin was not written by this tool"));
        fs::create_dir(cell.join(RESULTS)).expect("made");
        assert!(refused(true).contains("has results"));
        fs::remove_file(cell.join(MARK)).expect("removed");
        assert!(refused(true).contains("is no cell"));
        assert_eq!(lab.names(), ["labgrid-rpi4-v1"]);
    }

    #[test]
    fn all_cells_are_written_or_none() {
        let lab = Lab(tempfile::tempdir().expect("a directory"));
        lab.put("v1", false, "old").expect("written");
        let ready = |firmware, force| lab.ready(firmware, force, "new").expect("ready");
        let cells = [ready("v1", true), ready("v2", false)];
        // Another process writes the second cell in the meantime.
        lab.put("v2", false, "theirs").expect("written");
        let error = put(&cells, &GO).expect_err("refused");
        assert!(error.to_string().contains("exists already"), "{error}");
        assert_eq!(lab.text(), "old");
        let stop = AtomicBool::new(true);
        let error = put(&[ready("v3", false)], &stop).expect_err("refused");
        assert!(error.to_string().contains("interrupted"), "{error}");
        assert_eq!(lab.names(), ["labgrid-rpi4-v1", "labgrid-rpi4-v2"]);
    }
}
