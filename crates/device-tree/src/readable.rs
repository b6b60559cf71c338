//! Trees for dtoolkit, which panics on some trees that the payload accepts.

use alloc::format;
use alloc::vec::Vec;

use hardware::board::{FormatError, TreeConsole, total_size};

use super::Result;

/// The header fields `off_dt_strings` and `size_dt_strings`.
const STRINGS: usize = 12;
const STRINGS_SIZE: usize = 32;

/// Checks the tree at the start of `blob` and returns a copy that dtoolkit can read. Like the
/// payload, the copy ignores the size of the strings block: names may be anywhere after its start.
///
/// # Errors
/// Returns an error if the tree is malformed or truncated.
pub fn readable(blob: &[u8]) -> Result<Vec<u8>> {
    TreeConsole::find(blob)?;
    let size = total_size(blob)?;
    let tree = blob.get(..size).ok_or_else(|| {
        let message = format!("truncated: the header specifies {size} bytes");
        FormatError::new(format_args!("{message}"))
    })?;
    let mut tree = tree.to_vec();
    if let Some(start) = tree.get(STRINGS..).and_then(<[u8]>::first_chunk) {
        let strings = (size as u32).saturating_sub(u32::from_be_bytes(*start));
        if let Some(field) = tree.get_mut(STRINGS_SIZE..STRINGS_SIZE + 4) {
            field.copy_from_slice(&strings.to_be_bytes());
        }
    }
    Ok(tree)
}
