//! The places of jobs: cells below folders, and the files of their results.
//!
//! Links are followed, each folder and each file counts once, and there is no
//! depth below which nothing is looked at. What cannot be looked at is named: a
//! cell that failed there must not look as if it were not.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context, Result, bail};

use super::cell::{MARK, RESULTS};
use crate::report::log::untrusted_text::plain;

/// The most files of a job.
const FILES_MAX: usize = 1000;
/// The most files and folders that are looked through below one.
const ENTRIES_MAX: usize = 1_000_000;

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

impl Found {
    /// Returns all files to read.
    pub fn inputs(&self) -> impl Iterator<Item = PathBuf> {
        let of_cell = |cell: &Cell| {
            let mut files = cell.files.clone();
            files.push(cell.dir.join(MARK));
            files
        };
        let cells = self.cells.iter().flat_map(of_cell);
        cells.chain(self.files.iter().cloned())
    }
}

/// Finds the jobs at `paths`, which are folders with cells and single files.
pub fn find(paths: &[PathBuf]) -> Result<Found> {
    let mut found = Found::default();
    // By identity, as links give a folder several names.
    let mut roots = HashSet::new();
    let mut cells: HashMap<PathBuf, Cell> = HashMap::new();
    for path in paths.iter().filter(|path| path.is_dir()) {
        let at = || path.display().to_string();
        fs::read_dir(path).with_context(at)?;
        if !roots.insert(fs::canonicalize(path).with_context(at)?) {
            found.notes.push(again(path));
            continue;
        }
        let dirs = cells_below(path, &mut found.unread)?;
        if dirs.is_empty() {
            bail!(
                "{}: there is no {MARK} in it or below: it is not what cargo xtask lab writes",
                path.display()
            );
        }
        let known = cells.len();
        for dir in dirs {
            let identity = fs::canonicalize(&dir).with_context(at)?;
            cells.entry(identity).or_insert_with(|| of_cell(dir));
        }
        if cells.len() == known {
            found.notes.push(again(path));
        }
    }
    let mut seen: HashSet<PathBuf> = HashSet::new();
    for cell in cells.values() {
        let files = cell.files.iter();
        seen.extend(files.filter_map(|file| fs::canonicalize(file).ok()));
    }
    found.cells = cells.into_values().collect();
    found.cells.sort_by(|a, b| a.dir.cmp(&b.dir));
    for path in paths.iter().filter(|path| !path.is_dir()) {
        let at = || path.display().to_string();
        let identity = fs::canonicalize(path).with_context(at)?;
        if !path.is_file() {
            bail!("{}: this is no file, and no folder with cells", at());
        }
        if seen.insert(identity) {
            found.files.push(path.clone());
        } else {
            found.notes.push(again(path));
        }
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

/// Returns the cells in `root` and below that are not in another's results.
fn cells_below(root: &Path, unread: &mut Vec<String>) -> Result<Vec<PathBuf>> {
    let is_cell = |dir: &Path| dir.join(MARK).symlink_metadata().is_ok();
    let is_results = |dir: &Path| dir.file_name().is_some_and(|name| name == RESULTS);
    let is_of_cell = |dir: &Path| is_results(dir) && dir.parent().is_some_and(is_cell);
    let mut cells = Vec::new();
    let mut orphans = BTreeSet::new();
    for (path, is_dir) in walk(root, unread, |dir| !is_of_cell(dir))? {
        // Results of a cell whose mark is gone.
        let parent = path.parent().filter(|dir| !is_dir && is_results(dir));
        if let Some(dir) = parent.filter(|dir| is_read(&path) && !is_cell(dir)) {
            orphans.insert(dir.to_path_buf());
        }
        if is_dir && !is_of_cell(&path) && is_cell(&path) {
            cells.push(path);
        }
    }
    unread.extend(orphans.iter().map(|dir| {
        let dir = named(dir);
        format!("{dir}: results, and no {MARK} beside them says whose they are")
    }));
    Ok(cells)
}

fn of_cell(dir: PathBuf) -> Cell {
    let (mut files, mut lacks, mut odd) = (Vec::new(), Vec::new(), Vec::new());
    let results = dir.join(RESULTS);
    let mut all = Vec::new();
    if results.symlink_metadata().is_ok() {
        let looked = walk(&results, &mut lacks, |_| true);
        all = looked.unwrap_or_else(|error| {
            odd.push(format!("{error:#}"));
            Vec::new()
        });
    }
    for (path, is_dir) in all {
        let name = named(&path);
        if path.file_name().is_some_and(|name| name == MARK) {
            odd.push(format!(
                "{name}: a cell within another's results is not looked at"
            ));
        } else if !is_dir && is_read(&path) {
            match path.is_file() {
                true => files.push(path),
                false => odd.push(format!("{name}: this is no file")),
            }
        }
    }
    lacks.extend(odd);
    let name = named(&results);
    if files.len() > FILES_MAX {
        files.clear();
        lacks.push(format!(
            "{name}: more than the {FILES_MAX} files that are read of a job"
        ));
    }
    files.sort();
    if files.is_empty() && lacks.is_empty() {
        lacks.push(format!("there is nothing in {name}"));
    }
    Cell { dir, files, lacks }
}

/// Returns true if a file of a cell has a name of those that are read.
fn is_read(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    let endings = ["xml", "yaml", "yml", "log", "txt"];
    let is_known = endings.iter().any(|known| ending == *known);
    is_known
        && path
            .file_name()
            .is_some_and(|name| name != "description.yaml")
}

/// Returns the paths in `root` and below, `root` first, each with true for a folder. The
/// content of a folder is left out unless it is to `enter`, and so are names that begin with
/// a dot. Paths that cannot be looked at go to `unread`, too many are an error.
fn walk(
    root: &Path,
    unread: &mut Vec<String>,
    enter: impl Fn(&Path) -> bool,
) -> Result<Vec<(PathBuf, bool)>> {
    let mut all = Vec::new();
    // By identity, as a link may lead back here.
    let mut seen = HashSet::new();
    let mut paths = vec![root.to_path_buf()];
    // Last, so that their targets go by their own names.
    let mut links = Vec::new();
    while let Some(path) = paths.pop().or_else(|| links.pop()) {
        let mut look = || -> io::Result<()> {
            let identity = fs::canonicalize(&path)?;
            let is_dir = fs::metadata(&identity)?.is_dir();
            if !seen.insert(identity) {
                return Ok(());
            }
            all.push((path.clone(), is_dir));
            if !is_dir || !enter(&path) {
                return Ok(());
            }
            for entry in fs::read_dir(&path)? {
                let entry = entry?;
                if !entry.file_name().as_encoded_bytes().starts_with(b".") {
                    match entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                        true => links.push(entry.path()),
                        false => paths.push(entry.path()),
                    }
                }
            }
            Ok(())
        };
        if let Err(error) = look() {
            unread.push(format!("{}: not looked at: {error}", named(&path)));
        }
        if all.len() > ENTRIES_MAX {
            let root = named(root);
            bail!("{root}: more than {ENTRIES_MAX} files and folders to look through");
        }
    }
    Ok(all)
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
        assert!(lacks.contains("within another's"), "{lacks}");
        assert!(found.inputs().any(|it| it.ends_with("b/cell.json")));
        find(&[root.join("nothing")]).expect_err("not there");
        find(&[PathBuf::from("/dev/null")]).expect_err("no file");
    }
}
