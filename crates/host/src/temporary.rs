//! Errors about temporary files.

use std::{env, io};

use anyhow::{Context, Result};

/// Adds context to errors about temporary files.
pub trait TmpdirContext<T> {
    /// Adds the environment variable and its directory to an error about a temporary file.
    fn tmpdir_context(self) -> Result<T>;
}

impl<T> TmpdirContext<T> for io::Result<T> {
    fn tmpdir_context(self) -> Result<T> {
        self.with_context(|| format!("TMPDIR {}", env::temp_dir().display()))
    }
}
