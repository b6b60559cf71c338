//! Checks of the files that are to be written.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Result, bail};

/// An option and the file that it names.
type Named<'n, P> = (&'n str, P);

/// Refuses to write over the file that is read.
pub(super) fn apart(output: Named<'_, &Path>, input: Named<'_, Option<&Path>>) -> Result<()> {
    // By links there can be two paths to a file.
    let identity = |path: &Path| {
        let meta = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some((meta.dev(), meta.ino()))
    };
    let (option, path) = output;
    let written = identity(path);
    if written.is_some() && written == input.1.and_then(identity) {
        bail!(
            "{option} {}: this is the file that {} reads",
            path.display(),
            input.0
        );
    }
    Ok(())
}

/// Refuses what can be seen to be no place for a file.
pub(super) fn writable((option, path): Named<'_, &Path>) -> Result<()> {
    if path.is_dir() {
        bail!("{option} {}: this is a directory", path.display());
    }
    let parent = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    if let Some(dir) = parent.filter(|dir| !dir.is_dir()) {
        bail!(
            "{option} {}: there is no directory {}",
            path.display(),
            dir.display()
        );
    }
    Ok(())
}
