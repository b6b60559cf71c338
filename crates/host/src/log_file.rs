//! The file to which the full UART output is written.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::places::next_free;

/// A file to which the full UART output is written. The file is locked while in use, because two
/// runs written to the same file would look like one. A write error does not end the run in
/// progress; [`Self::end`] returns the error.
pub struct LogFile {
    path: PathBuf,
    file: io::Result<File>,
    /// True while the file still has its old contents.
    has_old: bool,
}

impl LogFile {
    /// Opens `path` and empties it immediately, so that nothing from a previous run remains.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened, or if another run is writing to it.
    pub fn create(path: &Path) -> Result<Self> {
        let Self {
            path,
            file,
            has_old,
        } = Self::at(path)?;
        let named = || format!("--log {}: cannot write this file", path.display());
        let file = Ok(file.with_context(named)?);
        let mut log = Self {
            path,
            file,
            has_old,
        };
        log.add(b"");
        Ok(log)
    }

    /// Opens `path` and empties it when the first byte is written. If nothing is written, the file
    /// stays unchanged.
    ///
    /// # Errors
    /// Returns an error if another run is writing to it.
    pub fn at(path: &Path) -> Result<Self> {
        let mut options = OpenOptions::new();
        let opened = options.write(true).create(true).truncate(false).open(path);
        if let Ok(file) = &opened {
            lock(file, path)?;
        }
        Ok(Self {
            path: path.to_path_buf(),
            file: opened,
            has_old: true,
        })
    }

    /// Creates a file in `folder`, named with the next unused number.
    pub fn in_next(folder: &Path) -> Result<Self> {
        let (path, file) = next_free(folder, ".log", File::create_new)?;
        lock(&file, &path)?;
        Ok(Self {
            path,
            file: Ok(file),
            has_old: false,
        })
    }

    /// Writes `bytes`, unless an earlier write failed.
    pub fn add(&mut self, bytes: &[u8]) {
        let Ok(file) = &mut self.file else {
            return;
        };
        let emptied = if std::mem::take(&mut self.has_old) && is_regular(file) {
            file.set_len(0)
        } else {
            Ok(())
        };
        if let Err(error) = emptied.and_then(|()| file.write_all(bytes)) {
            self.file = Err(error);
        }
    }

    /// Returns the path, or the first write error.
    pub fn end(self) -> Result<PathBuf> {
        if let Err(error) = self.file {
            let named = format!("--log {}: the file is incomplete", self.path.display());
            return Err(error).context(named);
        }
        Ok(self.path)
    }
}

/// Locks `file` until it is closed. Several runs may write to a device such as /dev/null, and a log
/// is written even if the file system does not support locks.
fn lock(file: &File, path: &Path) -> Result<()> {
    if is_regular(file) && matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        bail!(
            "--log {}: another run is writing to this file; wait for that run to end, or specify \
             another file",
            path.display()
        );
    }
    Ok(())
}

fn is_regular(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn log_of_another_run_is_rejected_and_unchanged() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("run.log");
        fs::write(&path, "a previous run that was longer").expect("written");
        let mut first = LogFile::create(&path).expect("free");
        first.add(b"first");
        for open in [LogFile::create, LogFile::at] {
            let error = open(&path).err().expect("refused").to_string();
            assert!(error.contains("another run is writing"), "{error}");
        }
        first.add(b" and second");
        first.end().expect("written");
        assert_eq!(fs::read(&path).expect("there"), b"first and second");
        LogFile::at(&path).expect("free").end().expect("nothing");
        assert_eq!(fs::read(&path).expect("there"), b"first and second");
        let mut next = LogFile::at(&path).expect("free");
        next.add(b"next");
        next.end().expect("written");
        assert_eq!(fs::read(&path).expect("there"), b"next");
        let name = dir.path().join("gone").join("run.log");
        let error = LogFile::create(&name).err().expect("no folder").to_string();
        assert!(error.contains("cannot write this file"), "{error}");
        let null = Path::new("/dev/null");
        let both = [null, null].map(|path| LogFile::create(path).expect("a device"));
        both.into_iter()
            .for_each(|log| drop(log.end().expect("written")));
    }
}
