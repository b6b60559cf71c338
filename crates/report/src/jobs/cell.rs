//! The identity of a lab cell: its board, its firmware, and the engine that produces its results.

use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use host::read_file;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Returns true if a name may contain the character.
pub fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.+".contains(c)
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

/// The value of the `schema` key in `cell.json`.
pub const SCHEMA: &str = "psci-bench-lab-cell";

/// The file that marks a folder as a cell.
pub const MARK: &str = "cell.json";

/// The folder for an engine's results.
pub const RESULTS: &str = "results";

const MARK_MAX: usize = 64 << 10;

/// A cell's mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// [`SCHEMA`].
    pub schema: String,
    /// Always 1. In other versions, the keys may have a different meaning.
    pub version: u32,
    /// The engine name.
    pub engine: String,
    /// The board's folder in `platforms`.
    pub board: String,
    /// The user's name for the firmware.
    pub firmware: String,
    /// The number of CPUs that the payload runs on, or 0 in a cell written by an older version.
    #[serde(default)]
    pub cpus: u32,
    /// A job's time limit, in minutes.
    #[serde(default)]
    pub minutes: u32,
    /// True if the job fails when anything is skipped. False if absent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deny_skipped: bool,
}

impl Mark {
    pub(super) fn read(dir: &Path) -> Result<Self> {
        let path = dir.join(MARK);
        let at = path.display();
        let mark = read_file::read("", &path, MARK_MAX)?;
        let mark: Self = serde_json::from_slice(&mark).with_context(|| at.to_string())?;
        let (schema, version) = (&mark.schema, mark.version);
        let is_known = (schema.as_str(), version) == (SCHEMA, 1);
        ensure!(
            is_known,
            "{at}: expected {SCHEMA} 1, found {schema:?} {version}"
        );
        let names = [&mark.engine, &mark.board, &mark.firmware];
        for (key, name) in ["engine", "board", "firmware"].into_iter().zip(names) {
            check_name(name).map_err(|why| anyhow!("{at}: {key} {name:?}: {why}"))?;
        }
        Ok(mark)
    }
}
