//! Reads a device tree source that is to be corrected, and names it as a patch would.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use host::read_file;

use crate::export::DtsSource;

/// The maximum size of a device tree source, in bytes.
const SOURCE_MAX: usize = 16 << 20;

/// Reads the source to change.
pub(super) fn read_source(path: &Path) -> Result<DtsSource> {
    let bytes = read_file::read("--dts", path, SOURCE_MAX)?;
    let text = read_file::text(bytes)
        .map_err(|line| anyhow!("--dts {}:{line}: not UTF-8", path.display()))?;
    let in_diff = path_in_repository(path).unwrap_or_else(|| path.to_owned());
    let name = in_diff.to_string_lossy();
    Ok(DtsSource {
        name: name.trim_start_matches('/').to_owned(),
        text,
    })
}

/// Returns the path relative to the root of the git repository that contains it, if there is one.
fn path_in_repository(path: &Path) -> Option<PathBuf> {
    let canonical = fs::canonicalize(path).ok()?;
    let mut folders = canonical.ancestors();
    let root = folders.find(|folder| folder.join(".git").exists())?;
    Some(canonical.strip_prefix(root).ok()?.to_owned())
}
