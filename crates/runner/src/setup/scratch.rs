//! Folders that exist only during one step, below this tool's part of `target/`.

use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::workspace::Workspace;

/// A folder that is removed on drop. A lock shows other processes that the folder is in use.
pub struct Scratch {
    dir: TempDir,
    _lock: File,
}

impl Scratch {
    /// Creates the directory.
    pub fn new(workspace: &Workspace) -> Result<Self> {
        let _gate = remove_left(workspace)?;
        let dir = tempfile::tempdir_in(workspace.state())?;
        let lock = File::open(dir.path())?;
        lock.lock().context("cannot lock a folder")?;
        Ok(Self { dir, _lock: lock })
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// Removes folders left behind by killed processes. Returns the lock that must be held to create
/// a scratch folder.
pub(crate) fn remove_left(workspace: &Workspace) -> Result<File> {
    let state = workspace.state();
    let gate = fs::create_dir_all(&state)
        .and_then(|()| File::create(state.join("scratch.lock")))
        .with_context(|| state.display().to_string())?;
    gate.lock().context("cannot lock the build directory")?;
    for entry in fs::read_dir(&state)?.flatten() {
        let is_one = entry.file_name().to_string_lossy().starts_with(".tmp");
        let is_free = |dir: File| dir.try_lock().is_ok();
        if is_one && File::open(entry.path()).is_ok_and(is_free) {
            // If a folder cannot be removed, the next call will try again.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(gate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_is_removed_once_its_process_has_ended() {
        let target = tempfile::tempdir().expect("a temporary directory");
        let mut workspace = Workspace::find().expect("the repository");
        workspace.target = target.path().to_path_buf();
        let left = workspace.state().join(".tmpabc");
        fs::create_dir_all(left.join("bl31")).expect("made");
        let used = Scratch::new(&workspace).expect("made");
        assert!(!left.exists());
        drop(remove_left(&workspace).expect("removed"));
        assert!(used.path().is_dir());
        let path = used.path().to_path_buf();
        drop(used);
        assert!(!path.exists());
    }
}
