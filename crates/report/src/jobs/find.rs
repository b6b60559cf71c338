//! Finds jobs: cells in folders at any depth, with the files that contain their results.
//!
//! Links are followed, but each folder and file is counted only once. A path that cannot be read is
//! reported, because it may hide a failed cell.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context, Result, ensure};

use super::cell::{MARK, RESULTS};
use crate::log::untrusted_text::plain;

/// The jobs found at the given paths, whose files have not been read yet.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub(super) cells: Vec<JobFolder>,
    /// The files named by the user that are not part of a cell, in order.
    pub(super) files: Vec<PathBuf>,
    /// Paths that could not be read.
    pub unread: Vec<String>,
    /// The real paths of everything visited, because links can give a folder several paths.
    seen: HashSet<PathBuf>,
}

/// A job folder, as written by `cargo xtask lab`.
#[derive(Clone, Debug)]
pub(super) struct JobFolder {
    pub(super) dir: PathBuf,
    /// The files to read from its results folder.
    pub(super) files: Vec<PathBuf>,
    pub(super) lacks: Vec<String>,
}

/// Finds the jobs at `paths`, each of which is a folder with cells or a single file.
pub fn find(paths: &[PathBuf]) -> Result<Found> {
    let mut found = Found::default();
    let (dirs, files): (Vec<&PathBuf>, _) = paths.iter().partition(|path| path.is_dir());
    for path in dirs {
        let at = path.display();
        fs::read_dir(path).with_context(|| at.to_string())?;
        let is_known = found.seen.contains(&fs::canonicalize(path)?);
        let count = found.cells.len();
        found.look_at(path, None).with_context(|| at.to_string())?;
        ensure!(
            is_known || found.cells.len() > count,
            "{at}: no {MARK} here or below; pass a folder written by cargo xtask lab"
        );
    }
    for path in files {
        let at = path.display();
        let identity = fs::canonicalize(path).with_context(|| at.to_string())?;
        ensure!(
            path.is_file(),
            "{at}: neither a file nor a folder with cells"
        );
        if found.seen.insert(identity) {
            found.files.push(path.clone());
        }
    }
    found.cells.sort_by(|a, b| a.dir.cmp(&b.dir));
    for cell in &mut found.cells {
        cell.files.sort();
        if cell.files.is_empty() && cell.lacks.is_empty() {
            let results = named(&cell.dir.join(RESULTS));
            cell.lacks.push(format!("{results} is empty"));
        }
    }
    Ok(found)
}

pub(super) fn named(path: &Path) -> String {
    plain(&path.display().to_string())
}

fn is_read(path: &Path) -> bool {
    let Some(ending) = path.extension().map(OsStr::to_ascii_lowercase) else {
        return false;
    };
    let known = ["xml", "yaml", "yml", "log", "txt"];
    let is_known = known.iter().any(|known| ending == *known);
    is_known && !path.ends_with("description.yaml")
}

impl Found {
    /// Returns all files to read.
    pub fn inputs(&self) -> impl Iterator<Item = PathBuf> {
        let marks = self.cells.iter().map(|cell| cell.dir.join(MARK));
        let files = self.cells.iter().flat_map(|cell| &cell.files);
        marks.chain(files.chain(&self.files).cloned())
    }

    /// Returns the cells' results folders.
    pub fn results(&self) -> impl Iterator<Item = PathBuf> {
        self.cells.iter().map(|cell| cell.dir.join(RESULTS))
    }

    /// Visits a path and everything below it, except for names that start with a dot. `cell` is the
    /// index of the cell whose results contain the path.
    fn look_at(&mut self, path: &Path, cell: Option<usize>) -> io::Result<()> {
        if !self.seen.insert(fs::canonicalize(path)?) {
            return Ok(());
        }
        if !fs::metadata(path)?.is_dir() {
            self.take_file(path, cell);
            return Ok(());
        }
        let has_mark = path.join(MARK).symlink_metadata().is_ok();
        let own = (has_mark && cell.is_none()).then(|| {
            let (dir, files, lacks) = (path.to_path_buf(), Vec::new(), Vec::new());
            self.cells.push(JobFolder { dir, files, lacks });
            self.cells.len() - 1
        });
        let entries = fs::read_dir(path)?.map(|it| Ok(it?.path()));
        let mut paths = entries.collect::<io::Result<Vec<PathBuf>>>()?;
        // Links come last, so that targets are found under their real names.
        paths.sort_by_cached_key(|path| (path.is_symlink(), path.clone()));
        for path in paths {
            let name = path.file_name().expect("a folder entry");
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let cell = cell.or(own.filter(|_| name == RESULTS));
            if let Err(error) = self.look_at(&path, cell) {
                let why = format!("{}: not read: {error}", named(&path));
                self.lacks(cell).push(why);
            }
        }
        Ok(())
    }

    /// Returns a cell's list of unreadable paths, or the list for paths outside any cell.
    fn lacks(&mut self, cell: Option<usize>) -> &mut Vec<String> {
        match cell {
            Some(cell) => &mut self.cells[cell].lacks,
            None => &mut self.unread,
        }
    }

    fn take_file(&mut self, path: &Path, cell: Option<usize>) {
        let is_orphan = path.parent().is_some_and(|dir| dir.ends_with(RESULTS));
        let why = match cell {
            Some(_) if path.ends_with(MARK) => "a cell inside another cell's results is not read",
            _ if !is_read(path) => return,
            Some(cell) if path.is_file() => return self.cells[cell].files.push(path.to_path_buf()),
            Some(_) => "not a regular file",
            None if is_orphan => {
                "the results folder has no cell.json next to it, so its cell is unknown"
            }
            None => return,
        };
        self.lacks(cell).push(format!("{}: {why}", named(path)));
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Returns the paths relative to `root`, one per line.
    fn lines<'p>(root: &Path, paths: impl Iterator<Item = &'p PathBuf>) -> String {
        let own = |path: &Path| path.strip_prefix(root).map(|it| it.display().to_string());
        paths.map(|it| own(it).expect("below") + "\n").collect()
    }

    #[test]
    fn all_of_it_and_each_once() {
        let dir = tempfile::tempdir().expect("a directory");
        let lab = dir.path().join("lab");
        for file in [
            "a/cell.json",
            "a/results/uart.log",
            "a/results/1/2/3/4/5/J.XML",
            "a/results/1/cell.json",
            "a/results/pytest.out",
            "a/results/.x.log",
            "a/within/cell.json",
            "1/2/3/4/5/deep/cell.json",
            ".cell-a1b2c3/cell.json",
            "lost/results/uart.log",
            "../other/b/cell.json",
            "../other/b/results/lava.yaml",
            "../alone.log",
        ] {
            let path = lab.join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, "").expect("written");
        }
        for (target, link) in [
            ("../other/b", "b"),
            ("a", "zz"),
            ("..", "a/up"),
            ("../..", "a/results/back"),
            ("uart.log", "a/results/z.log"),
            ("nowhere", "gone"),
        ] {
            symlink(target, lab.join(link)).expect("made");
        }
        let (again, alone) = (lab.join("../lab"), dir.path().join("alone.log"));
        let file = lab.join("a/results/uart.log");
        let found = find(&[lab.clone(), again, file, alone.clone(), alone.clone()]);
        let found = found.expect("cells");
        let dirs = lines(&lab, found.cells.iter().map(|cell| &cell.dir));
        assert_eq!(dirs, "1/2/3/4/5/deep\na\na/within\nb\n");
        assert_eq!(found.files, [alone]);
        let unread = found.unread.join("\n");
        assert!(found.unread.len() == 2, "{unread}");
        assert!(unread.contains("gone: not read"), "{unread}");
        assert!(
            unread.contains("uart.log: the results folder has no cell.json"),
            "{unread}"
        );
        let a = &found.cells[1];
        let files = lines(&lab, a.files.iter());
        assert_eq!(files, "a/results/1/2/3/4/5/J.XML\na/results/uart.log\n");
        let within = "1/cell.json: a cell inside another";
        assert!(a.lacks.join("").contains(within), "{:?}", a.lacks);
        assert!(found.inputs().any(|it| it.ends_with("b/cell.json")));
        find(&[dir.path().join("nothing")]).expect_err("not there");
        find(&[PathBuf::from("/dev/null")]).expect_err("no file");
    }
}
