//! The places of jobs: cells below folders, and the files of their results.
//!
//! Links are followed, each folder and each file counts once, and there is no
//! depth below which nothing is looked at. What cannot be looked at is named: a
//! cell that failed there must not look as if it were not.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

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

    /// Returns the cells' folders of results.
    pub fn results(&self) -> impl Iterator<Item = PathBuf> {
        self.cells.iter().map(|cell| cell.dir.join(RESULTS))
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
    let mut cells = Vec::new();
    let mut orphans = Vec::new();
    let is_cell = |dir: &Path| dir.join(MARK).symlink_metadata().is_ok();
    walk(root, unread, &mut |path, is_dir| {
        let is_results = |dir: &Path| dir.file_name().is_some_and(|name| name == RESULTS);
        match path.parent() {
            Some(parent) if is_dir && is_results(path) && is_cell(parent) => return false,
            // A cell whose mark is gone.
            Some(parent) if !is_dir && is_results(parent) && is_read(path) && !is_cell(parent) => {
                orphans.push(parent.to_path_buf());
            }
            _ => {}
        }
        if is_dir && is_cell(path) {
            cells.push(path.to_path_buf());
        }
        true
    })?;
    orphans.sort();
    orphans.dedup();
    for dir in orphans {
        unread.push(format!(
            "{}: results, and no {MARK} beside them says whose they are",
            named(&dir)
        ));
    }
    Ok(cells)
}

fn of_cell(dir: PathBuf) -> Cell {
    let (mut files, mut lacks) = (Vec::new(), Vec::new());
    let results = dir.join(RESULTS);
    if results.symlink_metadata().is_ok() {
        let mut odd = Vec::new();
        let looked = walk(&results, &mut lacks, &mut |path, is_dir| {
            if path.file_name().is_some_and(|name| name == MARK) {
                odd.push(format!(
                    "{}: a cell within another's results is not looked at",
                    named(path)
                ));
            } else if !is_dir && is_read(path) {
                if path.is_file() {
                    files.push(path.to_path_buf());
                } else {
                    odd.push(format!("{}: this is no file", named(path)));
                }
            }
            true
        });
        lacks.extend(odd);
        if let Err(error) = looked {
            lacks.push(format!("{error:#}"));
        }
        if files.len() > FILES_MAX {
            files.clear();
            lacks.push(format!(
                "{}: more than the {FILES_MAX} files that are read of a job",
                named(&results)
            ));
        }
    }
    files.sort();
    if files.is_empty() && lacks.is_empty() {
        lacks.push(format!("there is nothing in {}", named(&results)));
    }
    Cell { dir, files, lacks }
}

/// Returns true if a file of a cell has a name of those that are read.
fn is_read(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default();
    let endings = ["xml", "yaml", "yml", "log", "txt"];
    endings
        .iter()
        .any(|known| ending.eq_ignore_ascii_case(known))
        && path
            .file_name()
            .is_some_and(|name| name != "description.yaml")
}

/// Gives `take` what is in `root` and below, `root` first, and whether it is a
/// folder; what is in one is given where `take` says so. Names that begin with
/// a dot are left out. Paths that cannot be looked at go to `unread`, too many are
/// an error.
fn walk(
    root: &Path,
    unread: &mut Vec<String>,
    take: &mut dyn FnMut(&Path, bool) -> bool,
) -> Result<()> {
    // By identity, as a link may lead back here.
    let mut seen = HashSet::new();
    let mut paths = vec![root.to_path_buf()];
    // Last, so that their targets go by their own names.
    let mut links = Vec::new();
    while let Some(path) = paths.pop().or_else(|| links.pop()) {
        let mut cannot = |error: std::io::Error| {
            unread.push(format!("{}: not looked at: {error}", named(&path)));
        };
        let looked = fs::canonicalize(&path).and_then(|it| Ok((fs::metadata(&it)?.is_dir(), it)));
        let (is_dir, identity) = match looked {
            Ok(looked) => looked,
            Err(error) => {
                cannot(error);
                continue;
            }
        };
        if !seen.insert(identity) {
            continue;
        }
        if seen.len() > ENTRIES_MAX {
            bail!(
                "{}: more than {ENTRIES_MAX} files and folders to look through",
                named(root)
            );
        }
        if !take(&path, is_dir) || !is_dir {
            continue;
        }
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) => {
                cannot(error);
                continue;
            }
        };
        for entry in entries {
            match entry {
                Ok(entry) if entry.file_name().as_encoded_bytes().starts_with(b".") => {}
                Ok(entry) => match entry.file_type() {
                    Ok(kind) if kind.is_symlink() => links.push(entry.path()),
                    _ => paths.push(entry.path()),
                },
                Err(error) => cannot(error),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn made(dir: &Path, files: &[&str]) {
        for file in files {
            let path = dir.join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, "").expect("written");
        }
    }

    fn shown(root: &Path, paths: &[PathBuf]) -> Vec<String> {
        let own = |path: &PathBuf| path.strip_prefix(root).map(|it| it.display().to_string());
        paths.iter().map(|it| own(it).expect("below")).collect()
    }

    #[test]
    fn all_of_it_and_each_once() {
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path();
        let (lab, other) = (root.join("lab"), root.join("other"));
        made(
            &lab,
            &[
                "a/cell.json",
                "a/results/uart.log",
                "a/results/1/2/3/4/5/J.XML",
                "a/results/pytest.out",
                "a/results/.x.log",
                "a/within/cell.json",
                "1/2/3/4/5/deep/cell.json",
                ".cell-a1b2c3/cell.json",
                "lost/results/uart.log",
            ],
        );
        made(&other, &["b/cell.json", "b/results/lava.yaml"]);
        symlink("../other/b", lab.join("b")).expect("made");
        symlink("a", lab.join("zz")).expect("made");
        symlink("..", lab.join("a/up")).expect("made");
        symlink("../..", lab.join("a/results/back")).expect("made");
        symlink("uart.log", lab.join("a/results/again.log")).expect("made");
        symlink("nowhere", lab.join("gone")).expect("made");
        let file = lab.join("a/results/uart.log");
        let paths = [lab.clone(), lab.join("../lab"), file];
        let found = find(&paths).expect("cells");
        let dirs: Vec<PathBuf> = found.cells.iter().map(|cell| cell.dir.clone()).collect();
        let expected = ["1/2/3/4/5/deep", "a", "a/within", "b"];
        assert_eq!(shown(&lab, &dirs), expected);
        assert_eq!(found.files, Vec::<PathBuf>::new());
        assert_eq!(found.notes.len(), 2, "{:?}", found.notes);
        let [gone, lost] = &found.unread[..] else {
            panic!("{:?}", found.unread);
        };
        assert!(gone.contains("gone: not looked at"), "{gone}");
        assert!(lost.contains("lost/results: results, and no"), "{lost}");
        let a = &found.cells[1];
        let files = shown(&lab, &a.files);
        assert!(files.contains(&"a/results/uart.log".to_owned()));
        assert!(files.contains(&"a/results/1/2/3/4/5/J.XML".to_owned()));
        assert!(
            !files
                .iter()
                .any(|it| it.contains("again") || it.contains(".x"))
        );
        let odd = a.lacks.iter().any(|it| it.contains("within another's"));
        assert!(odd, "{:?}", a.lacks);
        assert!(found.inputs().any(|it| it.ends_with("b/cell.json")));
        find(&[root.join("nothing")]).expect_err("not there");
        find(&[PathBuf::from("/dev/null")]).expect_err("no file");
    }
}
