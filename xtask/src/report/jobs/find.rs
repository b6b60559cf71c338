//! The places of jobs: cells below folders, and the files of their results.
//!
//! Links are followed, each folder and each file counts once, at any depth. A path that
//! cannot be looked at is named: it may hide a cell that failed.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context, Result, ensure};

use super::cell::{MARK, RESULTS};
use crate::report::log::untrusted_text::plain;

/// The jobs at some paths, not read yet.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The cells, by path.
    pub(super) cells: Vec<Cell>,
    /// Files that were named and are of no such cell, in their order.
    pub(super) files: Vec<PathBuf>,
    /// Paths that could not be looked at.
    pub unread: Vec<String>,
    /// Paths that were named more than once.
    pub notes: Vec<String>,
    /// The identities of all that was looked at, as links give a folder several names.
    seen: HashSet<PathBuf>,
    /// Folders of results without a mark beside them.
    orphans: BTreeSet<PathBuf>,
}

/// A folder with a [`MARK`].
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) dir: PathBuf,
    /// The files below its folder of results that are read.
    pub(super) files: Vec<PathBuf>,
    /// Paths there that cannot be looked at.
    pub(super) lacks: Vec<String>,
}

/// Finds the jobs at `paths`, which are folders with cells and single files.
pub fn find(paths: &[PathBuf]) -> Result<Found> {
    let mut found = Found::default();
    let (dirs, files): (Vec<&PathBuf>, _) = paths.iter().partition(|path| path.is_dir());
    for path in dirs {
        let at = path.display();
        fs::read_dir(path).with_context(|| at.to_string())?;
        let identity = fs::canonicalize(path).with_context(|| at.to_string())?;
        let count = found.cells.len();
        found.look_below(path);
        if found.cells.len() == count {
            let identity_of = |cell: &Cell| fs::canonicalize(&cell.dir).unwrap_or_default();
            let mut cells = found.cells.iter().map(identity_of);
            let is_known = cells.any(|dir| dir.starts_with(&identity));
            let advice = "it is not what cargo xtask lab writes";
            ensure!(
                is_known,
                "{at}: there is no {MARK} in it or below: {advice}"
            );
            found.notes.push(again(path));
        }
    }
    for path in files {
        let at = path.display();
        let identity = fs::canonicalize(path).with_context(|| at.to_string())?;
        ensure!(
            path.is_file(),
            "{at}: this is no file, and no folder with cells"
        );
        match found.seen.insert(identity) {
            true => found.files.push(path.clone()),
            false => found.notes.push(again(path)),
        }
    }
    found.cells.sort_by(|a, b| a.dir.cmp(&b.dir));
    for cell in &mut found.cells {
        cell.files.sort();
        if cell.files.is_empty() && cell.lacks.is_empty() {
            let results = named(&cell.dir.join(RESULTS));
            cell.lacks.push(format!("there is nothing in {results}"));
        }
    }
    for dir in &found.orphans {
        let (dir, why) = (named(dir), "beside them says whose they are");
        let lack = format!("{dir}: results, and no {MARK} {why}");
        found.unread.push(lack);
    }
    Ok(found)
}

fn again(path: &Path) -> String {
    format!("{}: named more than once, and counted once", named(path))
}

/// Returns a path as a part of a sentence.
pub(super) fn named(path: &Path) -> String {
    plain(&path.display().to_string())
}

/// Returns true if a file of a cell has a name of those that are read.
fn is_read(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
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

    /// Returns the cells' folders of results.
    pub fn results(&self) -> impl Iterator<Item = PathBuf> {
        self.cells.iter().map(|cell| cell.dir.join(RESULTS))
    }

    /// Looks at all paths in `root` and below, but for names that begin with a dot.
    fn look_below(&mut self, root: &Path) {
        // With the place of the cell that has a path in its results.
        let mut paths: Vec<(PathBuf, Option<usize>)> = vec![(root.to_path_buf(), None)];
        // Last, so that their targets go by their own names.
        let mut links = Vec::new();
        while let Some((path, cell)) = paths.pop().or_else(|| links.pop()) {
            let mut look = || -> io::Result<()> {
                if !self.seen.insert(fs::canonicalize(&path)?) {
                    return Ok(());
                }
                if !fs::metadata(&path)?.is_dir() {
                    self.take_file(&path, cell);
                    return Ok(());
                }
                let has_mark = path.join(MARK).symlink_metadata().is_ok();
                let own = (has_mark && cell.is_none()).then(|| self.add_cell(&path));
                for entry in fs::read_dir(&path)? {
                    let entry = entry?;
                    let name = entry.file_name();
                    if name.as_encoded_bytes().starts_with(b".") {
                        continue;
                    }
                    let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
                    let all = if is_link { &mut links } else { &mut paths };
                    let of = cell.or(own.filter(|_| name == RESULTS));
                    all.push((entry.path(), of));
                }
                Ok(())
            };
            if let Err(error) = look() {
                let why = format!("{}: not looked at: {error}", named(&path));
                match cell {
                    Some(cell) => self.cells[cell].lacks.push(why),
                    None => self.unread.push(why),
                }
            }
        }
    }

    /// Adds a cell, and returns its place.
    fn add_cell(&mut self, dir: &Path) -> usize {
        let (dir, files, lacks) = (dir.to_path_buf(), Vec::new(), Vec::new());
        self.cells.push(Cell { dir, files, lacks });
        self.cells.len() - 1
    }

    fn take_file(&mut self, path: &Path, cell: Option<usize>) {
        let dir = path.parent().filter(|dir| dir.ends_with(RESULTS));
        match cell.map(|cell| &mut self.cells[cell]) {
            Some(cell) if path.ends_with(MARK) => {
                let why = "a cell within another's results is not looked at";
                cell.lacks.push(format!("{}: {why}", named(path)));
            }
            Some(cell) if is_read(path) => match path.is_file() {
                true => cell.files.push(path.to_path_buf()),
                false => cell.lacks.push(format!("{}: this is no file", named(path))),
            },
            None if is_read(path) => self.orphans.extend(dir.map(Path::to_path_buf)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn shown(root: &Path, paths: &[PathBuf]) -> Vec<String> {
        let own = |path: &PathBuf| path.strip_prefix(root).map(|it| it.display().to_string());
        paths.iter().map(|it| own(it).expect("below")).collect()
    }

    #[test]
    fn all_of_it_and_each_once() {
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path();
        let lab = root.join("lab");
        for file in [
            "lab/a/cell.json",
            "lab/a/results/uart.log",
            "lab/a/results/1/2/3/4/5/J.XML",
            "lab/a/results/1/cell.json",
            "lab/a/results/pytest.out",
            "lab/a/results/.x.log",
            "lab/a/within/cell.json",
            "lab/1/2/3/4/5/deep/cell.json",
            "lab/.cell-a1b2c3/cell.json",
            "lab/lost/results/uart.log",
            "other/b/cell.json",
            "other/b/results/lava.yaml",
        ] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, "").expect("written");
        }
        for (target, link) in [
            ("../other/b", "b"),
            ("a", "zz"),
            ("..", "a/up"),
            ("../..", "a/results/back"),
            ("uart.log", "a/results/again.log"),
            ("nowhere", "gone"),
        ] {
            symlink(target, lab.join(link)).expect("made");
        }
        let file = lab.join("a/results/uart.log");
        let found = find(&[lab.clone(), lab.join("../lab"), file]).expect("cells");
        let dirs: Vec<PathBuf> = found.cells.iter().map(|cell| cell.dir.clone()).collect();
        let expected = ["1/2/3/4/5/deep", "a", "a/within", "b"];
        assert_eq!(shown(&lab, &dirs), expected);
        assert_eq!(found.files, Vec::<PathBuf>::new());
        assert_eq!(found.notes.len(), 2, "{:?}", found.notes);
        let unread = found.unread.join("\n");
        assert!(found.unread.len() == 2, "{unread}");
        assert!(unread.contains("gone: not looked at"), "{unread}");
        assert!(unread.contains("lost/results: results, and no"), "{unread}");
        let a = &found.cells[1];
        let files = shown(&lab, &a.files).join("\n");
        for (file, is_read) in [
            ("a/results/uart.log", true),
            ("a/results/1/2/3/4/5/J.XML", true),
            ("again", false),
            (".x", false),
        ] {
            assert_eq!(files.contains(file), is_read, "{files}");
        }
        let lacks = a.lacks.join("\n");
        assert!(
            lacks.contains("1/cell.json: a cell within another's"),
            "{lacks}"
        );
        assert!(found.inputs().any(|it| it.ends_with("b/cell.json")));
        find(&[root.join("nothing")]).expect_err("not there");
        find(&[PathBuf::from("/dev/null")]).expect_err("no file");
    }

    #[test]
    fn a_file_named_twice_is_read_once() {
        let dir = tempfile::tempdir().expect("a directory");
        let log = dir.path().join("uart.log");
        fs::write(&log, "").expect("written");
        let found = find(&[log.clone(), log.clone()]).expect("a file");
        assert_eq!(found.files, std::slice::from_ref(&log));
        assert_eq!(found.notes, [again(&log)]);
    }
}
