//! The file that gets all bytes of a UART.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::setup::workspace::next_free;

/// A file that gets all bytes of a UART. What cannot be written does not end the run that
/// is shown meanwhile: [`Self::end`] has the error.
pub struct LogFile {
    path: PathBuf,
    /// None before the first byte.
    file: Option<io::Result<File>>,
}

impl LogFile {
    /// Opens `path` now, so that nothing of a former run stays in it.
    pub fn create(path: &Path) -> Self {
        let mut file = Self::at(path);
        file.add(b"");
        file
    }

    /// Opens `path` at the first byte, so that it stays as it is where none comes.
    pub fn at(path: &Path) -> Self {
        let path = path.to_path_buf();
        Self { path, file: None }
    }

    /// Opens a new file in `folder`, named by the next free number.
    pub fn in_next(folder: &Path) -> Result<Self> {
        let (path, file) = next_free(folder, ".log", File::create_new)?;
        let file = Some(Ok(file));
        Ok(Self { path, file })
    }

    /// Writes `bytes`, unless an earlier write failed.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let file = self.file.get_or_insert_with(|| File::create(&self.path));
        if let Ok(open) = file
            && let Err(error) = open.write_all(bytes)
        {
            *file = Err(error);
        }
    }

    /// Returns the path, or the error that kept bytes out of the file.
    pub fn end(self) -> Result<PathBuf> {
        if let Some(Err(error)) = self.file {
            let named = format!("--log {}: not all is in it", self.path.display());
            return Err(error).context(named);
        }
        Ok(self.path)
    }
}
