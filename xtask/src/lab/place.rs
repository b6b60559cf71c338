//! Where cells go. A cell is there as a whole or not at all, and what this tool
//! has not written stays.
//!
//! A cell is put together in a folder beside its place, whose name begins with a
//! dot: such a one is no cell to anybody, whatever is in it, and whenever this
//! ends. One that is replaced is moved to such a folder before.

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

/// The files that a cell of any board may have. A board's own is what its loader
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
/// The tests that pytest runs, which Python keeps a translation of.
const TESTS: &str = "test_psci_bench.py";

/// A place for a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where it is; absolute.
    pub path: PathBuf,
    /// True if a cell that is there is replaced.
    force: bool,
    /// The name of the file that the board's loader takes.
    loaded: Option<String>,
}

impl Place {
    /// Returns the place of a cell below `dir`. A cell that is there is replaced if
    /// `force` says so.
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
        this.free()?;
        Ok(this)
    }

    /// Refuses what is there and is not to be replaced.
    fn free(&self) -> Result<()> {
        let place = &self.path;
        let at = place.display();
        let Ok(there) = fs::symlink_metadata(place) else {
            return Ok(());
        };
        if !there.is_dir() || !place.join(MARK).is_file() {
            bail!("{at} is there, and is no cell: choose another -o or another --name");
        }
        if !self.force {
            bail!(
                "{at} is there already: --force replaces it, --name gives the new one another name"
            );
        }
        if fs::symlink_metadata(place.join(RESULTS)).is_ok() {
            bail!("{at} has results, of what it was before: move or remove {at}/{RESULTS}");
        }
        for entry in fs::read_dir(place).with_context(|| at.to_string())? {
            let entry = entry.with_context(|| at.to_string())?;
            let name = entry.file_name();
            let name = name.to_str().unwrap_or_default();
            let known = WRITTEN.contains(&name) || self.loaded.as_deref() == Some(name);
            let ours = match entry.file_type()? {
                kind if kind.is_file() => known,
                kind if kind.is_dir() => is_translation(&entry.path()),
                _ => false,
            };
            if !ours {
                bail!(
                    "{} is not from here, and --force would remove it: move it away",
                    entry.path().display()
                );
            }
        }
        Ok(())
    }

    /// Refuses a file that is read, by `option`, where all is to be replaced.
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

/// Returns whether `dir` is what Python has made of the tests, and no more.
fn is_translation(dir: &Path) -> bool {
    let stem = TESTS.trim_end_matches("py");
    let ours = |name: &str| name.starts_with(stem) && name.ends_with(".pyc");
    dir.ends_with("__pycache__")
        && fs::read_dir(dir).is_ok_and(|mut all| {
            all.all(|entry| entry.is_ok_and(|it| it.file_name().to_str().is_some_and(ours)))
        })
}

/// All that a cell is to have, and a place for it.
pub struct Ready {
    pub place: Place,
    /// The files, of which the last makes it a cell.
    pub files: Vec<(String, Vec<u8>)>,
}

/// A cell that is put together, and removed unless it is kept.
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
        // The folder is for others, too.
        open(partial.path()).with_context(place_is)?;
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
        // It may be long since somebody has looked.
        self.place.free()?;
        if place.exists() {
            let old = scratch(place.parent().with_context(place_is)?)?;
            // In the place of an empty folder, which this may replace.
            fs::rename(place, old.path()).with_context(place_is)?;
            self.old = Some(old);
        }
        // A folder with something in it is not replaced by this.
        match fs::rename(self.partial.path(), place) {
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists
                ) =>
            {
                bail!("{} is there by now: another call has made it", place_is())
            }
            other => other.with_context(place_is)?,
        }
        self.placed = true;
        Ok(())
    }

    /// Restores what was there before.
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
        // It has gone to its place.
        let _ = self.partial.keep();
        if let Some(old) = self.old {
            // Half of it is no cell.
            let _ = fs::remove_file(old.path().join(MARK));
            if let Err(error) = old.close() {
                say(&format!("warning: the old cell: {error}"));
            }
        }
    }
}

/// Returns a folder in `dir` that is no cell, by its name.
fn scratch(dir: &Path) -> Result<TempDir> {
    let made = tempfile::Builder::new().prefix(".cell-").tempdir_in(dir);
    made.with_context(|| format!("-o {}", dir.display()))
}

/// Returns a scratch folder is its owner's alone; this one is for all whom a new folder
/// would be for.
fn open(dir: &Path) -> Result<()> {
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
        // Python's translation of the tests is known, and no other file.
        fs::create_dir(cell.join("__pycache__")).expect("made");
        fs::write(cell.join("__pycache__/test_psci_bench.cpython-311.pyc"), "").expect("written");
        lab.put("v1", true, "three").expect("replaced");
        fs::create_dir(cell.join("__pycache__")).expect("made");
        for name in ["notes.txt", "__pycache__/notes.pyc"] {
            let file = cell.join(name);
            fs::write(&file, "").expect("written");
            assert!(refused(true).contains("is not from here"));
            fs::remove_file(&file).expect("removed");
        }
        symlink("/dev/null", cell.join("fip.bin")).expect("made");
        assert!(refused(true).contains("fip.bin is not from here"));
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
        // Another call has been faster.
        lab.put("v2", false, "theirs").expect("written");
        let error = put(&cells, &GO).expect_err("refused");
        assert!(error.to_string().contains("is there already"), "{error}");
        assert_eq!(text(&one), "old");
        assert_eq!(lab.names(), ["labgrid-rpi4-v1", "labgrid-rpi4-v2"]);
        // One that is interrupted.
        let cells = [lab.ready("v3", false, "new").expect("ready")];
        let error = put(&cells, &AtomicBool::new(true)).expect_err("refused");
        assert!(error.to_string().contains("interrupted"), "{error}");
        assert_eq!(lab.names(), ["labgrid-rpi4-v1", "labgrid-rpi4-v2"]);
    }
}
