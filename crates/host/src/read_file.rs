//! Reads input files of limited size. Opening a file never blocks indefinitely.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use anyhow::{Context, Result, bail};

fn named(option: &str, path: &Path) -> String {
    format!("{option} {}", path.display())
        .trim_start()
        .to_owned()
}

/// Opens the file at `path`. Error messages start with `option`, which specified the file, and the
/// path.
pub fn open(option: &str, path: &Path) -> Result<File> {
    let named = || named(option, path);
    let kind = fs::metadata(path).with_context(named)?.file_type();
    // A process substitution is a pipe that is already open and has no path.
    if kind.is_fifo() && fs::canonicalize(path).is_ok() {
        let why = "is a named pipe, which may never have a writer; specify a file";
        bail!("{}: {why}", named());
    }
    File::open(path).with_context(named)
}

/// Opens the file at `path`, which may be of any size. Rejects devices, because they may be
/// endless.
pub fn open_finite(option: &str, path: &Path) -> Result<File> {
    let file = open(option, path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_char_device() || kind.is_block_device() {
        let why = "is a device, which may never end; specify a file, or - for stdin";
        bail!("{}: {why}", named(option, path));
    }
    Ok(file)
}

/// Returns the contents of a file that no option specifies. Errors name the path.
pub fn read_own(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| path.display().to_string())
}

/// Converts bytes to text.
///
/// # Errors
/// Returns the 1-based number of the first line that is not UTF-8.
pub fn text(bytes: Vec<u8>) -> Result<String, usize> {
    String::from_utf8(bytes).map_err(|error| {
        let sound = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        sound.iter().filter(|byte| **byte == b'\n').count() + 1
    })
}

/// Returns the contents of the file at `path`, which may be at most `limit` bytes long. Error
/// messages start with `option`, which specified the file, and the path.
pub fn read(option: &str, path: &Path, limit: usize) -> Result<Vec<u8>> {
    let file = open(option, path)?;
    let named = || named(option, path);
    let is_large = file.metadata().with_context(named)?.len() > limit as u64;
    let mut bytes = Vec::new();
    if !is_large {
        // A device has no size to check, and may be endless.
        file.take(limit as u64 + 1)
            .read_to_end(&mut bytes)
            .with_context(named)?;
    }
    if is_large || bytes.len() > limit {
        bail!("{}: larger than the limit of {limit} bytes", named());
    }
    Ok(bytes)
}
