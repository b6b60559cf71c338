//! Is it a flattened device tree? One pass over the blob, once.
//!
//! Names may be longer than the 31 characters that the Devicetree
//! Specification v0.4 allows (sections 2.2.1 and 2.2.4): Linux's trees are
//! full of those. Depth is bounded, and with it the time that later walks
//! take: each costs at most [`DEPTH_MAX`] passes over the structure block, and
//! padding behind the blocks (QEMU's trees have a MiB) is never looked at.

use super::error::{BoardError, Problem};
use super::fdt::{
    BEGIN_NODE, END, END_NODE, Fdt, NOP, OFF_DT_STRINGS, OFF_DT_STRUCT, OFF_MEM_RSVMAP, PROP,
    RESERVATION_SIZE, word,
};
use crate::image::TREE_MAX;

/// Deepest nesting of nodes, the root included; real trees stay under ten.
pub(super) const DEPTH_MAX: usize = 16;
/// Longest name of a node or property, in bytes.
const NAME_MAX: usize = 255;

const MAGIC: u32 = 0xd00d_feed;
const VERSION: u32 = 17;
const HEADER_SIZE: usize = 40;

/// Size in bytes of the device tree that begins with `header`, of which the
/// first 8 bytes are enough.
///
/// # Errors
/// When it is too short, is no device tree, or is larger than
/// [`crate::image::TREE_MAX`].
pub fn total_size(header: &[u8]) -> Result<usize, BoardError<'_>> {
    let short = BoardError::tree(Problem::TooShort(header.len()));
    let magic = word(header, 0).ok_or(short)?;
    if magic != MAGIC {
        return Err(BoardError::tree(Problem::NotATree(magic)));
    }
    let size = word(header, 4).ok_or(short)?;
    if size as usize > TREE_MAX {
        return Err(BoardError::tree(Problem::TooLarge(size)));
    }
    Ok(size as usize)
}

fn malformed<'t>(offset: usize, what: &'static str) -> BoardError<'t> {
    BoardError::tree(Problem::Malformed { offset, what })
}

/// Checks the tree that `tree` begins with (sections 5.2 to 5.5).
pub(super) fn open(tree: &[u8]) -> Result<Fdt<'_>, BoardError<'_>> {
    let size = total_size(tree)?;
    let blob = tree.get(..size).ok_or_else(|| {
        BoardError::tree(Problem::Truncated {
            have: tree.len(),
            size,
        })
    })?;
    if size < HEADER_SIZE {
        return Err(malformed(4, "totalsize is less than the header's size"));
    }
    let field = |at| word(blob, at).map_or(0, |value| value as usize);
    let version = field(20);
    if version < VERSION as usize || field(24) > VERSION as usize {
        return Err(BoardError::tree(Problem::Version(version as u32)));
    }
    // Both ends of a block: it begins behind the header and ends in the blob.
    let block = |field_at: usize, length: usize| {
        let from = field(field_at);
        let to = from.checked_add(length).filter(|to| *to <= size);
        match to {
            Some(to) if from >= HEADER_SIZE => Ok((from, to)),
            _ => Err(malformed(field_at, "the block is outside the tree")),
        }
    };
    let (structure, structure_end) = block(OFF_DT_STRUCT, field(36))?;
    let (strings, strings_end) = block(OFF_DT_STRINGS, field(32))?;
    let (reservations, _) = block(OFF_MEM_RSVMAP, 0)?;
    if !structure.is_multiple_of(4) {
        return Err(malformed(
            OFF_DT_STRUCT,
            "the structure block is not aligned",
        ));
    }
    check_reservations(blob, reservations)?;
    let Some(strings) = blob.get(strings..strings_end) else {
        return Err(malformed(OFF_DT_STRINGS, "the block is outside the tree"));
    };
    Structure {
        // The structure may use nothing behind its own block.
        blob: blob.get(..structure_end).unwrap_or_default(),
        strings,
        at: structure,
    }
    .check()?;
    Ok(Fdt::checked(blob))
}

/// The list must be terminated.
fn check_reservations<'t>(blob: &'t [u8], mut at: usize) -> Result<(), BoardError<'t>> {
    loop {
        let entry = blob
            .get(at..at + RESERVATION_SIZE)
            .ok_or_else(|| malformed(at, "the memory reservations have no end"))?;
        if entry.iter().all(|byte| *byte == 0) {
            return Ok(());
        }
        at += RESERVATION_SIZE;
    }
}

struct Structure<'t> {
    blob: &'t [u8],
    strings: &'t [u8],
    at: usize,
}

impl<'t> Structure<'t> {
    fn check(mut self) -> Result<(), BoardError<'t>> {
        let mut depth = 0usize;
        // Properties come before a node's children (section 5.4.2).
        let mut property_allowed = false;
        let mut root_seen = false;
        loop {
            let at = self.at;
            match self.next_word()? {
                BEGIN_NODE => {
                    if depth == 0 && root_seen {
                        return Err(malformed(at, "a second root"));
                    }
                    if depth == DEPTH_MAX {
                        return Err(malformed(at, "nodes are nested too deeply"));
                    }
                    self.node_name(depth == 0)?;
                    root_seen = true;
                    depth += 1;
                    property_allowed = true;
                }
                END_NODE => {
                    if depth == 0 {
                        return Err(malformed(at, "the end of a node that never began"));
                    }
                    depth -= 1;
                    property_allowed = false;
                }
                PROP if property_allowed => self.property()?,
                PROP => return Err(malformed(at, "a property outside a node")),
                // The structure block begins with the root (section 5.4.2).
                NOP if root_seen => {}
                END if depth == 0 && root_seen => return Ok(()),
                END => return Err(malformed(at, "the end inside a node")),
                _ => return Err(malformed(at, "an unknown token")),
            }
        }
    }

    fn next_word(&mut self) -> Result<u32, BoardError<'t>> {
        let word = word(self.blob, self.at)
            .ok_or_else(|| malformed(self.at, "the structure block has no end"))?;
        self.at += 4;
        Ok(word)
    }

    fn node_name(&mut self, root: bool) -> Result<(), BoardError<'t>> {
        let at = self.at;
        let rest = self.blob.get(at..).unwrap_or_default();
        let name = name(rest).ok_or_else(|| malformed(at, "a node's name is not acceptable"))?;
        if root != name.is_empty() || name.contains(&b'/') {
            return Err(malformed(at, "a node's name is not acceptable"));
        }
        self.at = (at + name.len() + 1).next_multiple_of(4);
        Ok(())
    }

    fn property(&mut self) -> Result<(), BoardError<'t>> {
        let at = self.at;
        let length = self.next_word()? as usize;
        let name_at = self.next_word()? as usize;
        let found = self.strings.get(name_at..).and_then(name);
        if found.is_none_or(<[u8]>::is_empty) {
            return Err(malformed(at + 4, "a property's name is not acceptable"));
        }
        let end = self.at.checked_add(length);
        let end = end.filter(|end| *end <= self.blob.len());
        self.at = end
            .ok_or_else(|| malformed(at, "a property's value has no end"))?
            .next_multiple_of(4);
        Ok(())
    }
}

/// The NUL-terminated ASCII name that `bytes` begin with.
fn name(bytes: &[u8]) -> Option<&[u8]> {
    let window = bytes.get(..=NAME_MAX).unwrap_or(bytes);
    let end = window.iter().position(|byte| *byte == 0)?;
    let name = window.get(..end)?;
    name.iter().all(u8::is_ascii_graphic).then_some(name)
}
