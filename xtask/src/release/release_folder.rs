//! The folder that a release is written to. It is written completely or not at all.

use std::fs::{self, File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use host::{interrupt, process};
use tempfile::TempDir;

use super::release_file::ReleaseFile;

/// A folder for a release; it is empty, or does not exist yet.
#[derive(Clone, Debug)]
pub struct ReleaseFolder {
    /// How messages name the folder.
    named: String,
    /// The folder, with links resolved.
    path: PathBuf,
    /// The folder that contains it.
    parent: PathBuf,
}

impl ReleaseFolder {
    /// Returns the folder `given` by `option`.
    ///
    /// # Errors
    /// Returns an error if it contains files, or if no folder can be made there.
    pub fn new(option: &str, given: &Path) -> Result<Self> {
        let named = format!("{option} {}", given.display());
        let at = || named.clone();
        let path = match given.exists() {
            true => fs::canonicalize(given),
            false => std::path::absolute(given),
        };
        let path = path.with_context(at)?;
        let Some(parent) = path.parent().map(Path::to_path_buf) else {
            bail!("{named}: this is a file system; name a new directory in it");
        };
        if !parent.is_dir() {
            let parent = parent.display();
            bail!("{named}: there is no directory {parent}; create it first");
        }
        check_free(&named, &path, &parent)?;
        let folder = Self {
            named,
            path,
            parent,
        };
        // A release takes minutes to build, so a folder that cannot be written is found first.
        folder.scratch()?;
        Ok(folder)
    }

    /// Creates a folder beside this one. It is removed when it is dropped.
    fn scratch(&self) -> Result<TempDir> {
        // Others may read the folder, like any new one.
        let mut builder = tempfile::Builder::new();
        let builder = builder.permissions(Permissions::from_mode(0o777));
        let scratch = builder.prefix(".release-").tempdir_in(&self.parent);
        scratch.with_context(|| self.named.clone())
    }

    /// Writes the release.
    ///
    /// # Errors
    /// Returns an error if there is not enough space, or if another process has written to the
    /// folder meanwhile. The folder is then unchanged.
    pub fn write(&self, files: &[ReleaseFile]) -> Result<()> {
        let written = self.write_beside(files);
        if written.as_ref().is_err_and(process::is_storage_full) {
            let size: usize = files.iter().map(|file| file.data.len()).sum();
            let size = size.div_ceil(1 << 20);
            bail!(
                "{}: the file system is full; a release takes {size} MiB: make room, or name a \
                 directory elsewhere",
                self.named
            );
        }
        written
    }

    fn write_beside(&self, files: &[ReleaseFile]) -> Result<()> {
        let scratch = self.scratch()?;
        for file in files {
            interrupt::check()?;
            write_file(scratch.path(), file).with_context(|| self.named.clone())?;
        }
        check_free(&self.named, &self.path, &self.parent)?;
        fs::rename(scratch.path(), &self.path).with_context(|| self.named.clone())
    }
}

/// Rejects a folder that is in use.
fn check_free(named: &str, path: &Path, parent: &Path) -> Result<()> {
    let Ok(there) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    if !there.is_dir() {
        bail!("{named}: this exists and is not a directory; name a new directory");
    }
    let at = || named.to_owned();
    let mut entries = fs::read_dir(path).with_context(at)?;
    if entries.next().is_some() {
        bail!("{named}: this directory is not empty; name a new one, or remove it first");
    }
    let around = fs::metadata(parent).with_context(at)?;
    if there.dev() != around.dev() {
        bail!("{named}: this is a file system; name a new directory in it");
    }
    Ok(())
}

/// Writes `file` below `folder`.
fn write_file(folder: &Path, file: &ReleaseFile) -> Result<()> {
    let path = folder.join(&file.path);
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let mut out = File::create(&path)?;
    if file.is_program {
        let mode = out.metadata()?.permissions().mode();
        // Whoever may read it may run it.
        let executable = Permissions::from_mode(mode | (mode & 0o444) >> 2);
        out.set_permissions(executable)?;
    }
    out.write_all(&file.data)?;
    Ok(out.sync_all()?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn files() -> [ReleaseFile; 2] {
        let program = ReleaseFile {
            is_program: true,
            ..ReleaseFile::new("program", "#!/bin/sh\n")
        };
        [ReleaseFile::new("boards/juno/bl33.bin", "image"), program]
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a directory");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = names.map(|it| it.display().to_string()).collect();
        names.sort();
        names
    }

    #[test]
    fn new_and_empty_folders_are_filled() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(dir.path().join("empty")).expect("made");
        symlink("empty", dir.path().join("link")).expect("linked");
        for name in ["new", "link"] {
            let path = dir.path().join(name);
            let folder = ReleaseFolder::new("-o", &path).expect("free");
            folder.write(&files()).expect("written");
            assert_eq!(names(&path), ["boards", "program"]);
            let image = fs::read(path.join("boards/juno/bl33.bin")).expect("a file");
            assert_eq!(image, b"image");
            let mode = fs::metadata(path.join("program")).expect("a file").mode();
            assert_eq!(mode & 0o500, 0o500);
            let error = folder.write(&files()).expect_err("no longer empty");
            assert!(error.to_string().contains("is not empty"), "{error}");
        }
        assert_eq!(names(dir.path()), ["empty", "link", "new"]);
        assert!(dir.path().join("link").is_symlink());
    }

    #[test]
    fn folders_in_use_are_refused_and_unchanged() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(dir.path().join("full")).expect("made");
        fs::write(dir.path().join("full/mine"), "").expect("written");
        symlink("nowhere", dir.path().join("broken")).expect("linked");
        for (name, expected) in [
            ("full", "this directory is not empty"),
            ("full/mine", "is not a directory"),
            ("broken", "is not a directory"),
            ("absent/new", "there is no directory"),
            ("full/mine/new", "there is no directory"),
        ] {
            let path = dir.path().join(name);
            let error = ReleaseFolder::new("-o", &path).expect_err(name).to_string();
            assert!(
                error.starts_with("-o ") && error.contains(expected),
                "{error}"
            );
        }
        for path in ["/", "/proc"] {
            ReleaseFolder::new("-o", Path::new(path)).expect_err(path);
        }
        assert_eq!(names(dir.path()), ["broken", "full"]);
    }
}
