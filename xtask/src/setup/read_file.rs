//! Files of a bounded size.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// Returns the bytes of the file `path`, at most `most` of them. `what`, the option that named
/// it, stands before the path in errors.
pub fn read(what: &str, path: &Path, most: usize) -> Result<Vec<u8>> {
    let named = || format!("{what} {}", path.display());
    let file = File::open(path).with_context(named)?;
    let mut bytes = Vec::new();
    // A device has no size to look at, and may have no end.
    file.take(most as u64 + 1)
        .read_to_end(&mut bytes)
        .with_context(named)?;
    if bytes.len() > most {
        bail!("{}: more than the {most} bytes that are accepted", named());
    }
    Ok(bytes)
}
