//! What a cell of a lab says of itself.

use anyhow::Result;
use serde::{Deserialize, Serialize};

/// Whether a name may have this character.
pub fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.+".contains(c)
}

/// Refuses a name of a firmware that cannot be part of a folder's.
pub fn check_name(name: &str) -> Result<String, String> {
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) || name.starts_with('.') {
        return Err("a name has up to 64 letters, digits, '-', '_', '.' and '+'".to_owned());
    }
    Ok(name.to_owned())
}

/// What `cell.json` is called by, in its key `schema`.
pub const SCHEMA: &str = "psci-bench-lab-cell";

/// The file that makes a folder a cell.
pub const MARK: &str = "cell.json";

/// The folder of what an engine gives.
pub const RESULTS: &str = "results";

/// Who a cell's results belong to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// [`SCHEMA`].
    pub schema: String,
    /// 1; another one means something else.
    pub version: u32,
    /// The engine's word.
    pub engine: String,
    /// The board's folder in `platforms`.
    pub board: String,
    /// What the user calls the firmware.
    pub firmware: String,
    /// On how many CPUs the payload runs.
    pub cpus: u32,
    /// How long a job may take.
    pub minutes: u32,
    /// Whether the job fails where something is skipped; absent: it does not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deny_skipped: bool,
}
