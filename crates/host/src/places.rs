//! Directories and files shared by several processes, each created exactly once and never left
//! incomplete.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Creates the directory at `path` by calling `make`, unless it already exists. `make` receives an
/// empty directory to fill. Other processes that need the same directory wait.
pub fn make_once(path: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    make_unless(path, Path::is_dir, make)
}

/// Like [`make_once`], but also replaces an existing directory that is not `usable`.
pub fn make_unless(
    path: &Path,
    usable: impl Fn(&Path) -> bool,
    make: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    if usable(path) {
        return Ok(());
    }
    let sibling_path = |extension: &str| path.with_added_extension(extension);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
    }
    let lock_path = sibling_path("lock");
    let lock = File::create(&lock_path).with_context(|| lock_path.display().to_string())?;
    lock.lock().context("cannot lock the build directory")?;
    if usable(path) {
        return Ok(());
    }
    let partial = sibling_path("partial");
    let location = || partial.display().to_string();
    if partial.exists() {
        fs::remove_dir_all(&partial).with_context(location)?;
    }
    fs::create_dir(&partial).with_context(location)?;
    let make_result = make(&partial);
    if make_result.is_err() {
        // Report the error from `make`, not one from the cleanup.
        let _ = fs::remove_dir_all(&partial);
    }
    make_result?;
    if path.exists() {
        fs::remove_dir_all(path).with_context(|| path.display().to_string())?;
    }
    fs::rename(&partial, path).with_context(location)
}

/// Creates a file or directory in `folder`, named with the next unused number, by calling `make`,
/// which must fail if the path exists. Returns the new path and the result of `make`.
pub fn next_free<T>(
    folder: &Path,
    ending: &str,
    make: impl Fn(PathBuf) -> io::Result<T>,
) -> Result<(PathBuf, T)> {
    let named = || folder.display().to_string();
    fs::create_dir_all(folder).with_context(named)?;
    let mut number = 1;
    loop {
        let path = folder.join(format!("{number}{ending}"));
        match make(path.clone()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            made => return Ok((path, made.with_context(named)?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[test]
    fn no_partial_directory_is_left() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("a").join("thing");
        // A `.partial` folder left by a killed process is replaced.
        fs::create_dir_all(path.with_extension("partial").join("old")).expect("made");
        let failed = make_once(&path, |partial_folder| {
            fs::write(partial_folder.join("half"), "x")?;
            bail!("no network")
        });
        assert!(failed.is_err());
        assert!(!path.exists());
        make_once(&path, |partial_folder| {
            assert_eq!(fs::read_dir(partial_folder)?.count(), 0);
            Ok(fs::write(partial_folder.join("whole"), "x")?)
        })
        .expect("made");
        assert!(path.join("whole").is_file());
        make_once(&path, |_| bail!("made twice")).expect("there already");
    }
}
