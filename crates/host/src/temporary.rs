//! Files in the directory for temporary ones.

use std::{env, io};

use anyhow::{Context, Result};

/// Adds the variable and its directory to an error about a temporary file.
pub fn temporary<T>(result: io::Result<T>) -> Result<T> {
    result.with_context(|| format!("TMPDIR {}", env::temp_dir().display()))
}
