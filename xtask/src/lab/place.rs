//! The folders of cells. A cell is written as a whole or not at all, and files that this
//! tool has not written stay.
//!
//! A cell is put together in a scratch folder beside its final one. The scratch folder's
//! name begins with a dot, so that no reader takes it for a cell. A cell that is replaced
//! is moved to another scratch folder first.

use std::fs;
use std::io::ErrorKind;
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
    TESTS,
    "pytest.ini",
    "recovery.zip",
    "firmware.bin",
    "payload.bin",
    "fip.bin",
];
/// The tests that pytest runs; Python keeps their bytecode in `__pycache__`.
const TESTS: &str = "test_psci_bench.py";

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
        let absolute = if dir.exists() {
            fs::canonicalize(dir)
        } else {
            std::path::absolute(dir)
        };
        let package = board.package.as_ref();
        let this = Self {
            path: absolute
                .with_context(|| format!("-o {}", dir.display()))?
                .join(names.folder()),
            force,
            loaded: package.map(|package| package.file.clone()),
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
            let known = WRITTEN.contains(&name) || self.loaded.as_deref() == Some(name);
            let ours = match entry.file_type()? {
                kind if kind.is_file() => known,
                kind if kind.is_dir() => is_bytecode(&entry.path()),
                _ => false,
            };
            if !ours {
                bail!(
                    "{} was not written by this tool, and --force would remove it: move it away",
                    entry.path().display()
                );
            }
        }
        Ok(())
    }

    /// Refuses the input `file` of `option` if it is in the cell that is replaced.
    pub fn apart(&self, option: &str, file: &Path) -> Result<()> {
        let places = (fs::canonicalize(&self.path), fs::canonicalize(file));
        if let (Ok(place), Ok(inside)) = places
            && inside.starts_with(place)
        {
            bail!(
                "{option} {}: this is in the cell that --force replaces: copy it elsewhere",
                file.display()
            );
        }
        Ok(())
    }

    fn shown(&self) -> String {
        self.path.display().to_string()
    }
}

/// Returns true if `dir` has only the bytecode that Python has made of the tests.
fn is_bytecode(dir: &Path) -> bool {
    let stem = TESTS.trim_end_matches("py");
    let ours = |name: &str| name.starts_with(stem) && name.ends_with(".pyc");
    dir.ends_with("__pycache__")
        && fs::read_dir(dir).is_ok_and(|mut all| {
            all.all(|entry| entry.is_ok_and(|it| it.file_name().to_str().is_some_and(ours)))
        })
}

/// A complete cell that is not written yet.
pub struct Ready {
    pub place: Place,
    /// Names and contents of the files; the last file makes the folder a cell.
    pub files: Vec<(String, Vec<u8>)>,
}

/// A cell in its scratch folder, which is removed unless [`Staged::keep`] is called.
struct Staged<'r> {
    place: &'r Place,
    partial: TempDir,
    /// The cell that was there before.
    old: Option<TempDir>,
    placed: bool,
}

/// Writes cells, all of them or none.
pub fn put(cells: &[Ready], stop: &AtomicBool) -> Result<()> {
    let mut staged = Vec::new();
    for cell in cells {
        staged.push(cell.stage(stop)?);
    }
    for number in 0..staged.len() {
        if let Err(error) = staged[number].commit() {
            for cell in staged.iter_mut().rev() {
                cell.undo();
            }
            return Err(error);
        }
    }
    for cell in staged {
        cell.keep();
    }
    Ok(())
}

impl Ready {
    fn stage(&self, stop: &AtomicBool) -> Result<Staged<'_>> {
        let place_is = || self.place.shown();
        let dir = self.place.path.parent().with_context(place_is)?;
        fs::create_dir_all(dir).with_context(|| format!("-o {}", dir.display()))?;
        let partial = scratch(dir)?;
        for (name, data) in &self.files {
            fs::write(partial.path().join(name), data).with_context(place_is)?;
            if stop.load(Ordering::Relaxed) {
                bail!("interrupted: nothing is written");
            }
        }
        share(partial.path()).with_context(place_is)?;
        Ok(Staged {
            place: &self.place,
            partial,
            old: None,
            placed: false,
        })
    }
}

impl Staged<'_> {
    fn commit(&mut self) -> Result<()> {
        let place = self.place.path.as_path();
        let place_is = || self.place.shown();
        // Another process may have written there since the first check.
        self.place.check_free()?;
        if place.exists() {
            let old = scratch(place.parent().with_context(place_is)?)?;
            // A rename may replace the empty scratch folder.
            fs::rename(place, old.path()).with_context(place_is)?;
            self.old = Some(old);
        }
        // A rename does not replace a folder that has files.
        match fs::rename(self.partial.path(), place) {
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists
                ) =>
            {
                bail!("{} exists now: another process has made it", place_is())
            }
            other => other.with_context(place_is)?,
        }
        self.placed = true;
        Ok(())
    }

    /// Restores the folder as it was before [`Staged::commit`].
    fn undo(&mut self) {
        if self.placed && fs::rename(&self.place.path, self.partial.path()).is_err() {
            say(&format!("warning: {} stays", self.place.shown()));
        }
        self.placed = false;
        if let Some(old) = self.old.take()
            && fs::rename(old.path(), &self.place.path).is_err()
        {
            let kept = old.keep();
            say(&format!("warning: the old cell is {}", kept.display()));
        }
    }

    fn keep(self) {
        // `commit` has renamed the folder, so nothing is left to remove.
        let _ = self.partial.keep();
        if let Some(old) = self.old {
            // Without its mark, a folder that is only partly removed is no cell.
            let _ = fs::remove_file(old.path().join(MARK));
            if let Err(error) = old.close() {
                say(&format!("warning: the old cell: {error}"));
            }
        }
    }
}

/// Makes a folder in `dir` whose name begins with a dot.
fn scratch(dir: &Path) -> Result<TempDir> {
    let made = tempfile::Builder::new().prefix(".cell-").tempdir_in(dir);
    made.with_context(|| format!("-o {}", dir.display()))
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

    struct Lab {
        dir: TempDir,
        board: Board,
    }

    impl Lab {
        fn new() -> Self {
            let workspace = Workspace::find().expect("the repository");
            Self {
                dir: tempfile::tempdir().expect("a directory"),
                board: board::load(&workspace, "rpi4").expect("a board"),
            }
        }

        fn place(&self, firmware: &str, force: bool) -> Result<Place> {
            let names = Names {
                engine: Engine::Labgrid,
                board: "rpi4".to_owned(),
                firmware: firmware.to_owned(),
            };
            Place::of(self.dir.path(), &names, &self.board, force)
        }

        fn ready(&self, firmware: &str, force: bool, text: &str) -> Result<Ready> {
            let file = |name: &str| (name.to_owned(), text.as_bytes().to_vec());
            Ok(Ready {
                place: self.place(firmware, force)?,
                files: vec![file("kernel8.img"), file(TESTS), file(MARK)],
            })
        }

        fn put(&self, firmware: &str, force: bool, text: &str) -> Result<PathBuf> {
            let ready = self.ready(firmware, force, text)?;
            put(std::slice::from_ref(&ready), &GO)?;
            Ok(ready.place.path)
        }

        fn names(&self) -> Vec<String> {
            let all = fs::read_dir(self.dir.path()).expect("there");
            let name = |it: fs::DirEntry| it.file_name().to_string_lossy().into_owned();
            let mut all: Vec<String> = all.map(|it| name(it.expect("an entry"))).collect();
            all.sort();
            all
        }
    }

    fn text(cell: &Path) -> String {
        fs::read_to_string(cell.join("kernel8.img")).expect("there")
    }

    #[test]
    fn nothing_is_lost() {
        let lab = Lab::new();
        let cell = lab.put("v1", false, "one").expect("written");
        let refused = |force| {
            let error = lab.put("v1", force, "two").expect_err("refused");
            format!("{error:#}")
        };
        assert!(refused(false).contains("--force replaces it"));
        lab.put("v1", true, "two").expect("replaced");
        assert_eq!(text(&cell), "two");
        // Python's bytecode of the tests may be replaced, and no other file.
        fs::create_dir(cell.join("__pycache__")).expect("made");
        fs::write(cell.join("__pycache__/test_psci_bench.cpython-311.pyc"), "").expect("written");
        lab.put("v1", true, "three").expect("replaced");
        fs::create_dir(cell.join("__pycache__")).expect("made");
        for name in ["notes.txt", "__pycache__/notes.pyc"] {
            let file = cell.join(name);
            fs::write(&file, "").expect("written");
            assert!(refused(true).contains("was not written by this tool"));
            fs::remove_file(&file).expect("removed");
        }
        symlink("/dev/null", cell.join("fip.bin")).expect("made");
        assert!(refused(true).contains("fip.bin was not written by this tool"));
        fs::remove_file(cell.join("fip.bin")).expect("removed");
        fs::create_dir(cell.join(RESULTS)).expect("made");
        assert!(refused(true).contains("has results"));
        fs::remove_dir_all(&cell).expect("removed");
        fs::create_dir(&cell).expect("made");
        fs::write(cell.join("thesis"), "").expect("written");
        assert!(refused(true).contains("is no cell"));
        assert_eq!(lab.names(), ["labgrid-rpi4-v1"]);
    }

    #[test]
    fn all_or_none() {
        let lab = Lab::new();
        let one = lab.put("v1", false, "old").expect("written");
        let cells = [
            lab.ready("v1", true, "new").expect("ready"),
            lab.ready("v2", false, "new").expect("ready"),
        ];
        // Another process writes the second cell in the meantime.
        lab.put("v2", false, "theirs").expect("written");
        let error = put(&cells, &GO).expect_err("refused");
        assert!(error.to_string().contains("exists already"), "{error}");
        assert_eq!(text(&one), "old");
        assert_eq!(lab.names(), ["labgrid-rpi4-v1", "labgrid-rpi4-v2"]);
        // An interruption leaves nothing.
        let cells = [lab.ready("v3", false, "new").expect("ready")];
        let error = put(&cells, &AtomicBool::new(true)).expect_err("refused");
        assert!(error.to_string().contains("interrupted"), "{error}");
        assert_eq!(lab.names(), ["labgrid-rpi4-v1", "labgrid-rpi4-v2"]);
    }
}
