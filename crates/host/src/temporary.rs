//! Errors about temporary files.

use std::{env, io};

use anyhow::{Context, Result};

/// Adds the environment variable and its directory to an error about a temporary file.
pub fn temporary<T>(result: io::Result<T>) -> Result<T> {
    result.with_context(|| format!("TMPDIR {}", env::temp_dir().display()))
}
