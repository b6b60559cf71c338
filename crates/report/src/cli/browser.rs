//! Opens pages in the user's browser.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The program that opens a file in its default desktop application.
const OPENER: &str = if cfg!(target_os = "macos") {
    "open"
} else {
    "xdg-open"
};

/// Creates an empty file for a page. The file is not removed, because the browser reads it later.
///
/// # Errors
/// Returns an error if the directory for temporary files is not writable.
pub(super) fn make_page() -> Result<PathBuf> {
    let mut builder = tempfile::Builder::new();
    let file = builder.prefix("psci-bench-").suffix(".html").tempfile();
    file.and_then(|file| Ok(file.keep()?.1))
        .context("--open: cannot create a temporary file; specify one with -o")
}

/// Opens `page` in the user's browser.
///
/// # Errors
/// Returns an error if `OPENER` is not installed or fails. The error includes the path to the page.
pub(super) fn open_page(page: &Path) -> Result<()> {
    let path = fs::canonicalize(page).with_context(|| format!("--open {}", page.display()))?;
    let shown = path.display();
    let status = Command::new(OPENER)
        .arg(&path)
        .stdin(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => bail!("--open: {OPENER} failed ({status}); open {shown} in a browser"),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("--open: {OPENER} is not installed; open {shown} in a browser")
        }
        Err(error) => bail!("--open: cannot run {OPENER}: {error}; open {shown} in a browser"),
    }
}
