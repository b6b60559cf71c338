//! The check that bytes are a flattened device tree, in one pass.
//!
//! Names may be longer than the 31 characters that the Devicetree
//! Specification v0.4 allows (sections 2.2.1 and 2.2.4): Linux's trees have
//! many such names. Depth is bounded, and with it the time that later walks
//! take: each costs at most [`DEPTH_MAX`] passes over the structure block, and
//! padding after the blocks (QEMU's trees have a MiB) is never looked at.

use super::fdt::{
    END, Fdt, OFF_DT_STRINGS, OFF_DT_STRUCT, OFF_MEM_RSVMAP, RESERVATION_SIZE, Token, word,
};
use crate::image::TREE_MAX;
use crate::spec::format_error::{FormatError, Result};

/// Deepest nesting of nodes, the root included; real trees stay under ten.
const DEPTH_MAX: usize = 16;

const MAGIC: u32 = 0xd00d_feed;
const VERSION: usize = 17;
const HEADER_SIZE: usize = 40;

/// Returns the size in bytes of the device tree that begins with `header`; 8 bytes of
/// the header are enough.
///
/// # Errors
/// When `header` is too short or is no device tree's, or the tree is larger than
/// [`crate::image::TREE_MAX`].
pub fn total_size(header: &[u8]) -> Result<usize> {
    let have = header.len();
    let (Some(magic), Some(size)) = (word(header, 0), word(header, 4)) else {
        let message = format_args!("{have} bytes are less than a header");
        return Err(FormatError::new(message));
    };
    if magic != MAGIC {
        let message = format_args!("magic {magic:#010x}, expected 0xd00dfeed");
        return Err(FormatError::new(message));
    }
    if size as usize > TREE_MAX {
        let message = format_args!("totalsize {size} exceeds {TREE_MAX} bytes");
        return Err(FormatError::new(message));
    }
    Ok(size as usize)
}

/// Checks the tree that `tree` begins with (sections 5.2 to 5.5).
pub(crate) fn open(tree: &[u8]) -> Result<Fdt<'_>> {
    let (size, have) = (total_size(tree)?, tree.len());
    let Some(blob) = tree.get(..size) else {
        let message = format_args!("truncated: {have} of {size} bytes");
        return Err(FormatError::new(message));
    };
    match check(blob) {
        Ok(tree) => Ok(tree),
        Err((at, what)) => Err(FormatError::new(format_args!("offset {at:#x}: {what}"))),
    }
}

/// The outcome of a check; the error is the offset of the wrong bytes and the reason.
type Checked<T> = Result<T, (usize, &'static str)>;

fn check(blob: &[u8]) -> Checked<Fdt<'_>> {
    if blob.len() < HEADER_SIZE {
        return Err((4, "totalsize is less than the header's size"));
    }
    let field = |at| word(blob, at).map_or(0, |value| value as usize);
    // The version, and the last one with which it is compatible.
    if field(20) < VERSION || field(24) > VERSION {
        return Err((20, "another version of the format than 17"));
    }
    // A block begins after the header and ends in the blob.
    let block = |at, size: usize| match field(at).checked_add(size) {
        Some(end) if field(at) >= HEADER_SIZE && end <= blob.len() => Ok((field(at), end)),
        _ => Err((at, "the block is outside the tree")),
    };
    let (nodes, end) = block(OFF_DT_STRUCT, field(36))?;
    block(OFF_DT_STRINGS, field(32))?;
    let (reserved, _) = block(OFF_MEM_RSVMAP, 0)?;
    if !nodes.is_multiple_of(4) {
        return Err((OFF_DT_STRUCT, "the structure block is not aligned"));
    }
    let entries = blob.get(reserved..).unwrap_or_default();
    let mut entries = entries.chunks_exact(RESERVATION_SIZE);
    if !entries.any(|entry| entry.iter().all(|byte| *byte == 0)) {
        return Err((reserved, "the memory reservations have no end"));
    }
    let tree = Fdt::checked(blob);
    check_structure(tree, nodes, end)?;
    Ok(tree)
}

/// Checks the structure block from its first byte to before `end`.
fn check_structure(tree: Fdt<'_>, root: usize, end: usize) -> Checked<()> {
    // Properties come before a node's children (section 5.4.2).
    let (mut at, mut depth, mut property_allowed) = (root, 0usize, false);
    loop {
        if at >= end {
            return Err((at, "the structure block has no end"));
        }
        let broken = (at, "a token that is unknown, broken or not allowed here");
        let wrong_name = (at, "the name of a node or property is not acceptable");
        let Some((token, next)) = tree.token(at) else {
            let is_end = tree.word(at) == Some(END) && depth == 0 && at != root;
            return is_end.then_some(()).ok_or(broken);
        };
        match token {
            Token::Begin if depth == DEPTH_MAX => {
                return Err((at, "nodes are nested too deeply"));
            }
            Token::Begin if (depth == 0) == (at == root) => {
                let name = tree.string(at + 4).unwrap_or_default();
                let is_name = is_graphic(name) && !name.contains(&b'/');
                if !is_name || name.is_empty() != (at == root) {
                    return Err(wrong_name);
                }
                (depth, property_allowed) = (depth + 1, true);
            }
            Token::Property(name, _) if property_allowed => {
                if !is_graphic(name) || name.is_empty() {
                    return Err(wrong_name);
                }
            }
            Token::End if depth > 0 => (depth, property_allowed) = (depth - 1, false),
            _ => return Err(broken),
        }
        at = next;
    }
}

fn is_graphic(name: &[u8]) -> bool {
    name.iter().all(u8::is_ascii_graphic)
}
