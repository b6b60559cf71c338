//! Output folders that are either written completely or not at all.

use std::fs::{self, File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::{interrupt, process};

/// A file in an output folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderFile {
    /// The path within the folder, with components separated by `/`.
    pub path: String,
    /// The bytes of the file.
    pub data: Vec<u8>,
}

impl FolderFile {
    /// Returns a file with these contents.
    pub fn new(path: impl Into<String>, data: impl Into<Vec<u8>>) -> Self {
        Self {
            path: path.into(),
            data: data.into(),
        }
    }
}

/// Writes `files` to a new folder at `path`, whose parent folder is created if it does not exist.
/// Readers never see an incomplete folder.
///
/// # Errors
/// Returns an error if there is a folder at `path` that is not empty.
pub fn write_new(path: &Path, files: &[FolderFile]) -> Result<()> {
    let parent = path
        .parent()
        .context("a file system has no parent folder")?;
    fs::create_dir_all(parent)?;
    let scratch = scratch_in(parent)?;
    for file in files {
        write_file(scratch.path(), file)?;
    }
    Ok(fs::rename(scratch.path(), path)?)
}

/// Creates a temporary folder in `parent`, and removes it on drop.
fn scratch_in(parent: &Path) -> Result<TempDir> {
    // Like any new folder, an output folder may be readable by other users.
    let permissions = Permissions::from_mode(0o777);
    Ok(tempfile::Builder::new()
        .permissions(permissions)
        .prefix(".psci-bench-")
        .tempdir_in(parent)?)
}

/// An output folder. Holding a value proves that, when it was created, the folder did not exist,
/// was empty, or contained only files written by this tool. This is checked again before the folder
/// is replaced.
#[derive(Clone, Debug)]
pub struct OutputFolder {
    /// The name used for the folder in messages.
    named: String,
    /// The folder, with links resolved.
    path: PathBuf,
    parent: PathBuf,
    /// The name of the file that marks a folder as replaceable.
    mark: &'static str,
}

impl OutputFolder {
    /// Returns the output folder at `given`, the value of `option`. The folder may be replaced if
    /// it contains a file named `mark`, which is written with the other files.
    ///
    /// # Errors
    /// Returns an error if the folder contains other files, or if it cannot be created.
    pub fn new(option: &str, given: &Path, mark: &'static str) -> Result<Self> {
        let named = format!("{option} {}", given.display());
        let location = || named.clone();
        let resolved = match given.exists() {
            true => fs::canonicalize(given),
            false => std::path::absolute(given),
        };
        let path = resolved.with_context(location)?;
        let Some(parent) = path.parent().map(Path::to_path_buf) else {
            bail!("{named}: is a mount point; specify a new directory in it");
        };
        if !parent.is_dir() {
            bail!(
                "{named}: no such directory: {}; create it first",
                parent.display()
            );
        }
        let folder = Self {
            named,
            path,
            parent,
            mark,
        };
        folder.check_free()?;
        // The files take minutes to build, so an unwritable folder is rejected up front.
        folder.scratch()?;
        Ok(folder)
    }

    /// Creates a temporary folder next to the output folder, and removes it on drop.
    fn scratch(&self) -> Result<TempDir> {
        scratch_in(&self.parent).with_context(|| self.named.clone())
    }

    /// Writes the files, replacing the old ones.
    ///
    /// # Errors
    /// Returns an error if there is not enough space, or if another process has written to the
    /// folder in the meantime. In both cases, the folder is left unchanged.
    pub fn write(&self, files: &[FolderFile]) -> Result<()> {
        let write_result = self.write_beside(files);
        if write_result.as_ref().is_err_and(process::is_storage_full) {
            let bytes: usize = files.iter().map(|file| file.data.len()).sum();
            bail!(
                "{}: the file system is full, and {} MiB are needed; free up some space, or \
                 specify a directory elsewhere",
                self.named,
                bytes.div_ceil(1 << 20)
            );
        }
        write_result
    }

    fn write_beside(&self, files: &[FolderFile]) -> Result<()> {
        let scratch = self.scratch()?;
        for file in files {
            interrupt::check()?;
            write_file(scratch.path(), file).with_context(|| self.named.clone())?;
        }
        let names = files.iter().map(|file| file.path.as_str());
        let list = FolderFile::new(self.mark, names.collect::<Vec<_>>().join("\n"));
        write_file(scratch.path(), &list).with_context(|| self.named.clone())?;
        self.check_free()?;
        let location = || self.named.clone();
        if !self.is_marked() {
            return fs::rename(scratch.path(), &self.path).with_context(location);
        }
        // The old folder is removed on drop, after the new folder has been renamed.
        let old = self.scratch()?;
        let aside = old.path().join("old");
        fs::rename(&self.path, &aside).with_context(location)?;
        let renamed = fs::rename(scratch.path(), &self.path);
        if renamed.is_err() {
            fs::rename(&aside, &self.path).with_context(location)?;
        }
        renamed.with_context(location)
    }

    fn is_marked(&self) -> bool {
        self.path.join(self.mark).is_file()
    }

    /// Returns the path of a file in the folder that was not written by this tool, if there is one.
    fn foreign_file(&self) -> Result<Option<PathBuf>> {
        let list = fs::read_to_string(self.path.join(self.mark))?;
        let ours = list.lines().chain([self.mark]);
        let is_ours = |path: &Path| ours.clone().any(|name| path == Path::new(name));
        let mut folders = vec![self.path.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                let path = entry.path();
                let name = path.strip_prefix(&self.path).unwrap_or(&path);
                if entry.file_type()?.is_dir() {
                    folders.push(path);
                } else if !is_ours(name) {
                    return Ok(Some(name.to_path_buf()));
                }
            }
        }
        Ok(None)
    }

    /// Rejects a folder that must not be replaced.
    fn check_free(&self) -> Result<()> {
        let Self { named, path, .. } = self;
        let Ok(there) = fs::symlink_metadata(path) else {
            return Ok(());
        };
        if !there.is_dir() {
            bail!("{named}: exists but is not a directory; specify a new directory");
        }
        let location = || named.clone();
        let mut entries = fs::read_dir(path).with_context(location)?;
        if entries.next().is_some() && !self.is_marked() {
            bail!("{named}: this directory is not empty; specify a new one, or remove it first");
        }
        if self.is_marked()
            && let Some(file) = self.foreign_file().with_context(location)?
        {
            let file = file.display();
            bail!(
                "{named}: contains {file}, which this tool did not write; move that file, or \
                 specify a new directory"
            );
        }
        let around = fs::metadata(&self.parent).with_context(location)?;
        if there.dev() != around.dev() {
            bail!("{named}: is a mount point; specify a new directory in it");
        }
        Ok(())
    }
}

/// Writes `file` to `folder`.
fn write_file(folder: &Path, file: &FolderFile) -> Result<()> {
    let path = folder.join(&file.path);
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let mut out = File::create(&path)?;
    out.write_all(&file.data)?;
    Ok(out.sync_all()?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const MARK: &str = "mark";

    fn files() -> [FolderFile; 2] {
        let page = FolderFile::new("README.md", "Copy it.\n");
        [FolderFile::new("boards/juno/bl33.bin", "image"), page]
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a directory");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name())
            .map(|name| name.display().to_string())
            .collect();
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
            let folder = OutputFolder::new("-o", &path, MARK).expect("free");
            folder.write(&files()).expect("written");
            assert_eq!(names(&path), ["README.md", "boards", MARK]);
            let image = fs::read(path.join("boards/juno/bl33.bin")).expect("a file");
            assert_eq!(image, b"image");
        }
        assert_eq!(names(dir.path()), ["empty", "link", "new"]);
        assert!(dir.path().join("link").is_symlink());
        // Another process writes to the folder before this one does.
        let path = dir.path().join("taken");
        let folder = OutputFolder::new("-o", &path, MARK).expect("free");
        fs::create_dir(&path).expect("made");
        fs::write(path.join("theirs"), "").expect("written");
        let error = folder.write(&files()).expect_err("no longer empty");
        assert!(error.to_string().contains("is not empty"), "{error}");
        assert_eq!(names(&path), ["theirs"]);
    }

    #[test]
    fn new_folder_never_replaces_files() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("a/new");
        write_new(&path, &files()).expect("written");
        assert_eq!(names(&path), ["README.md", "boards"]);
        write_new(&path, &[FolderFile::new("other", "x")]).expect_err("there are files");
        assert_eq!(names(&path), ["README.md", "boards"]);
        assert_eq!(names(&dir.path().join("a")), ["new"]);
    }

    #[test]
    fn marked_folders_are_replaced() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("out");
        for name in ["one", "two"] {
            let folder = OutputFolder::new("-o", &path, MARK).expect("free");
            let files = [FolderFile::new("a/b", name), FolderFile::new(name, name)];
            folder.write(&files).expect("written");
            assert_eq!(names(&path), ["a", MARK, name]);
        }
        assert_eq!(names(dir.path()), ["out"]);
        fs::write(path.join("a/run.log"), "").expect("written");
        let assert_refused = |expected_error: &str| {
            let error = OutputFolder::new("-o", &path, MARK).expect_err("not ours");
            assert!(error.to_string().contains(expected_error), "{error}");
        };
        assert_refused("a/run.log, which this tool");
        fs::remove_file(path.join("a/run.log")).expect("removed");
        fs::remove_file(path.join(MARK)).expect("removed");
        assert_refused("is not empty");
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
            ("absent/new", "no such directory"),
            ("full/mine/new", "no such directory"),
        ] {
            let path = dir.path().join(name);
            let error = OutputFolder::new("-o", &path, MARK)
                .expect_err(name)
                .to_string();
            assert!(
                error.starts_with("-o ") && error.contains(expected),
                "{error}"
            );
        }
        for path in ["/", "/proc"] {
            OutputFolder::new("-o", Path::new(path), MARK).expect_err(path);
        }
        assert_eq!(names(dir.path()), ["broken", "full"]);
    }
}
