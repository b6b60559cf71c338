//! The file that marks a folder as a cell.

use serde::Serialize;
use thiserror::Error;

/// The name of the file.
pub const MARK: &str = "cell.json";

/// The contents of the file, which `docs/ci/lab.sh` reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mark {
    /// The engine name.
    pub engine: String,
    /// The board's folder in `platforms`.
    pub board: String,
    /// The user's name for the firmware.
    pub firmware: String,
    /// A job's time limit, in minutes.
    pub minutes: u32,
    /// True if the job fails when anything is skipped.
    pub deny_skipped: bool,
}

/// A firmware name that cannot be part of a folder name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected up to 64 letters, digits, '-', '_', '.' and '+'")]
pub struct BadName;

/// Returns `name` if it can be part of a folder name.
///
/// # Errors
/// Returns an error if a character is not [plain](is_plain), if the name starts with a dot, or if
/// its length is out of range.
pub fn check_name(name: &str) -> Result<String, BadName> {
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) || name.starts_with('.') {
        return Err(BadName);
    }
    Ok(name.to_owned())
}

/// Returns true if a name may contain the character.
pub fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.+".contains(c)
}
