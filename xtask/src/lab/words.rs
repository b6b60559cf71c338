//! User-supplied strings that are written to jobs and environments.

use thiserror::Error;

/// The maximum length of a LAVA device type.
const DEVICE_TYPE_MAX: usize = 200;
/// The maximum length of a tag in the LAVA database.
const TAG_MAX: usize = 50;

/// A string that a job cannot contain.
#[derive(Debug, Error)]
pub enum JobWordError {
    /// Not a valid device type.
    #[error("LAVA accepts up to {DEVICE_TYPE_MAX} characters without '/'")]
    DeviceType,
    /// Not a valid tag.
    #[error("a LAVA tag consists of up to {TAG_MAX} letters, digits, '-' and '_'")]
    Tag,
    /// Empty, or contains a character that is not printable in YAML.
    #[error("expected non-empty printable text")]
    NotPrintable,
    /// Not a URL that the LAVA dispatcher can read.
    #[error("LAVA's dispatcher accepts http://HOST/…, https://HOST/…, scp://HOST/… and file:///…")]
    Scheme,
    /// A URL whose path would end at this character.
    #[error("a file name is appended, but LAVA ends the URL's path at {0:?}")]
    Parts(char),
}

/// Checks and returns a device type. The LAVA schema limits its length, and YAML cannot represent
/// all characters.
pub fn device_type(text: &str) -> Result<String, JobWordError> {
    if text.chars().count() > DEVICE_TYPE_MAX || text.contains('/') {
        return Err(JobWordError::DeviceType);
    }
    printable(text)
}

/// Checks and returns a tag.
pub fn tag(text: &str) -> Result<String, JobWordError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if text.is_empty() || text.len() > TAG_MAX || !text.chars().all(plain) {
        return Err(JobWordError::Tag);
    }
    Ok(text.to_owned())
}

/// Checks that a string is not blank and is printable in YAML, and returns it.
pub fn printable(text: &str) -> Result<String, JobWordError> {
    if text.trim().is_empty() || text.chars().any(is_odd) {
        return Err(JobWordError::NotPrintable);
    }
    Ok(text.to_owned())
}

/// Returns true if YAML treats `c` as not printable or as the end of a line.
pub(super) fn is_odd(c: char) -> bool {
    c.is_control() || "\u{2028}\u{2029}\u{feff}\u{fffe}\u{ffff}".contains(c)
}

/// Checks the URL of a folder for the LAVA dispatcher. File names are appended to this URL.
pub fn url(text: &str) -> Result<String, JobWordError> {
    let (scheme, rest) = text.split_once("://").ok_or(JobWordError::Scheme)?;
    let authority = rest
        .split_once('/')
        .map_or(rest, |(authority, _)| authority);
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let has_host = !host.is_empty() && !host.starts_with(':');
    let is_good = match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" | "scp" => has_host && !text.contains(char::is_whitespace),
        "file" => rest.starts_with('/'),
        _ => false,
    };
    if !is_good {
        return Err(JobWordError::Scheme);
    }
    match parts(text) {
        Some(end) => Err(JobWordError::Parts(end)),
        None => printable(text),
    }
}

/// Returns the first character that would end the path of a URL. The LAVA dispatcher does not
/// decode `%` escapes, so a path cannot contain these characters.
pub fn parts(address: &str) -> Option<char> {
    address.chars().find(|c| "?#".contains(*c))
}
