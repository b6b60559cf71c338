//! Output folders that are written completely or not at all.

use std::fs;
use std::path::{Component, Path};

use anyhow::{Context, Result, bail};

use crate::interrupt;

/// A file in an output folder: its relative path and its contents.
pub type FolderFile = (String, Vec<u8>);

/// Rejects `folder` as an output folder unless it is absent, empty, or contains the file `mark`,
/// which only this tool writes.
pub fn check(option: &str, folder: &Path, mark: &str) -> Result<()> {
    let at = || format!("{option} {}", folder.display());
    match fs::metadata(folder) {
        Err(_) => {}
        Ok(meta) if !meta.is_dir() => bail!("{}: this is not a folder", at()),
        Ok(_) => {
            let is_empty = fs::read_dir(folder).with_context(at)?.next().is_none();
            if !is_empty && !folder.join(mark).is_file() {
                bail!(
                    "{}: this folder was not written by this tool (it has no {mark}); name a new \
                     one",
                    at()
                );
            }
        }
    }
    let parent = parent(folder);
    if !parent.is_dir() {
        bail!("{}: there is no folder {}", at(), parent.display());
    }
    Ok(())
}

/// Writes `files` to `folder`, which replaces the folder from an earlier call. An error leaves the
/// old folder as it was.
pub fn write(option: &str, folder: &Path, mark: &str, files: &[FolderFile]) -> Result<()> {
    check(option, folder, mark)?;
    let at = || format!("{option} {}", folder.display());
    // A link stays a link; its target is replaced.
    let target = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    let beside = || tempfile::tempdir_in(parent(&target));
    let new = beside().with_context(at)?;
    let filled = new.path().join("new");
    fs::create_dir(&filled).with_context(at)?;
    for (name, data) in files {
        interrupt::check()?;
        let is_below = |part| matches!(part, Component::Normal(_));
        assert!(Path::new(name).components().all(is_below), "{name}");
        let path = filled.join(name);
        fs::create_dir_all(self::parent(&path)).with_context(at)?;
        fs::write(&path, data).with_context(at)?;
    }
    fs::write(filled.join(mark), "").with_context(at)?;
    if target.exists() {
        fs::rename(&target, new.path().join("old")).with_context(at)?;
    }
    fs::rename(&filled, &target).with_context(at)
}

fn parent(path: &Path) -> &Path {
    let parent = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_from_this_tool_are_replaced() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let out = dir.path().join("out");
        let file = |text: &str| vec![("a/b".to_owned(), text.as_bytes().to_vec())];
        let written = || fs::read_to_string(out.join("a/b")).expect("readable");
        for text in ["one", "two"] {
            write("-o", &out, ".mark", &file(text)).expect("written");
            assert_eq!(written(), text);
        }
        // Nothing else is left beside it.
        assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 1);
        fs::remove_file(out.join(".mark")).expect("removed");
        let error = write("-o", &out, ".mark", &file("three")).expect_err("not ours");
        assert!(
            error.to_string().contains("was not written by this tool"),
            "{error}"
        );
        assert_eq!(written(), "two");
        let lost = dir.path().join("gone/out");
        check("-o", &lost, ".mark").expect_err("no parent");
        check("-o", &out.join("a/b"), ".mark").expect_err("a file");
    }
}
