//! The check that bytes are a flattened device tree, in one pass.
//!
//! Names may be longer than the 31 characters that the Devicetree
//! Specification v0.4 allows (sections 2.2.1 and 2.2.4): Linux's trees have
//! many such names. Depth is bounded, and with it the time that later walks
//! take: each costs at most [`DEPTH_MAX`] passes over the structure block, and
//! padding after the blocks (QEMU's trees have a MiB) is never looked at.

use super::error::{BoardError, Result};
use super::fdt::{
    BEGIN_NODE, END, END_NODE, Fdt, NOP, OFF_DT_STRINGS, OFF_DT_STRUCT, OFF_MEM_RSVMAP, PROP,
    RESERVATION_SIZE, word,
};
use crate::image::TREE_MAX;

/// Deepest nesting of nodes, the root included; real trees stay under ten.
const DEPTH_MAX: usize = 16;
/// Longest name of a node or property, in bytes.
const NAME_MAX: usize = 255;

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
        return Err(BoardError::new(message));
    };
    if magic != MAGIC {
        let message = format_args!("magic {magic:#010x}, expected 0xd00dfeed");
        return Err(BoardError::new(message));
    }
    if size as usize > TREE_MAX {
        let message = format_args!("totalsize {size} exceeds {TREE_MAX} bytes");
        return Err(BoardError::new(message));
    }
    Ok(size as usize)
}

/// Checks the tree that `tree` begins with (sections 5.2 to 5.5).
pub(crate) fn open(tree: &[u8]) -> Result<Fdt<'_>> {
    let (size, have) = (total_size(tree)?, tree.len());
    let Some(blob) = tree.get(..size) else {
        let message = format_args!("truncated: {have} of {size} bytes");
        return Err(BoardError::new(message));
    };
    let (strings, at) = (&[][..], 4);
    let mut check = Check { blob, strings, at };
    let version = check.field(20);
    if size >= HEADER_SIZE && (version < VERSION || check.field(24) > VERSION) {
        let message = format_args!("format version {version}, expected 17");
        return Err(BoardError::new(message));
    }
    match check.all() {
        Ok(()) => Ok(Fdt::checked(blob)),
        Err(what) => Err(BoardError::new(format_args!(
            "offset {:#x}: {what}",
            check.at
        ))),
    }
}

/// The check under way.
struct Check<'t> {
    /// The bytes that the checked block must lie in.
    blob: &'t [u8],
    strings: &'t [u8],
    /// Offset of the bytes that are checked; after a failure, of the wrong ones.
    at: usize,
}

const NO_END: &str = "the structure block has no end";
const MISPLACED: &str = "an unknown token, or one that is not allowed here";

/// The outcome of a check, with the reason for a failure.
type Checked = Result<(), &'static str>;

impl<'t> Check<'t> {
    fn field(&self, at: usize) -> usize {
        word(self.blob, at).map_or(0, |value| value as usize)
    }

    /// Checks everything but the header's first words.
    fn all(&mut self) -> Checked {
        const OUTSIDE: &str = "the block is outside the tree";
        if self.blob.len() < HEADER_SIZE {
            return Err("totalsize is less than the header's size");
        }
        let (structure_size, strings_size) = (self.field(36), self.field(32));
        let structure = self.block(OFF_DT_STRUCT, structure_size).ok_or(OUTSIDE)?;
        self.strings = self.block(OFF_DT_STRINGS, strings_size).ok_or(OUTSIDE)?;
        self.block(OFF_MEM_RSVMAP, 0).ok_or(OUTSIDE)?;
        let reservations = self.field(OFF_MEM_RSVMAP);
        let begin = self.field(OFF_DT_STRUCT);
        if !begin.is_multiple_of(4) {
            self.at = OFF_DT_STRUCT;
            return Err("the structure block is not aligned");
        }
        self.at = reservations;
        self.reservations()?;
        // The structure may use nothing after its own block.
        self.blob = self.blob.get(..begin + structure.len()).unwrap_or_default();
        self.at = begin;
        self.structure()
    }

    /// Returns the block whose offset is in the field at `field_at`; `None` unless the
    /// block begins after the header and ends in the blob.
    fn block(&mut self, field_at: usize, length: usize) -> Option<&'t [u8]> {
        self.at = field_at;
        let from = self.field(field_at);
        let block = self.blob.get(from..)?.get(..length)?;
        (from >= HEADER_SIZE).then_some(block)
    }

    /// Checks that the memory reservations are terminated.
    fn reservations(&mut self) -> Checked {
        let rest = self.blob.get(self.at..).unwrap_or_default();
        let mut entries = rest.chunks_exact(RESERVATION_SIZE);
        let is_last = |entry: &[u8]| entry.iter().all(|byte| *byte == 0);
        let (count, last) = (entries.len(), entries.position(is_last));
        self.at += last.unwrap_or(count) * RESERVATION_SIZE;
        last.map(|_| ())
            .ok_or("the memory reservations have no end")
    }

    fn structure(&mut self) -> Checked {
        // Properties come before a node's children (section 5.4.2).
        let (mut depth, mut property_allowed, mut root_seen) = (0usize, false, false);
        loop {
            match word(self.blob, self.at).ok_or(NO_END)? {
                BEGIN_NODE if depth == 0 && root_seen => return Err(MISPLACED),
                BEGIN_NODE if depth == DEPTH_MAX => return Err("nodes are nested too deeply"),
                BEGIN_NODE => {
                    self.at += 4;
                    self.node_name(depth == 0)?;
                    (root_seen, property_allowed) = (true, true);
                    depth += 1;
                    continue;
                }
                END_NODE if depth == 0 => return Err(MISPLACED),
                END_NODE => {
                    depth -= 1;
                    property_allowed = false;
                }
                PROP if property_allowed => {
                    self.at += 4;
                    self.property()?;
                    continue;
                }
                // The structure block begins with the root (section 5.4.2).
                NOP if root_seen => {}
                END if depth == 0 && root_seen => return Ok(()),
                _ => return Err(MISPLACED),
            }
            self.at += 4;
        }
    }

    fn node_name(&mut self, root: bool) -> Checked {
        let rest = self.blob.get(self.at..).unwrap_or_default();
        let name = name(rest).filter(|n| root == n.is_empty() && n.iter().all(|b| *b != b'/'));
        let name = name.ok_or("a node's name is not acceptable")?;
        self.at = (self.at + name.len() + 1).next_multiple_of(4);
        Ok(())
    }

    fn property(&mut self) -> Checked {
        let at = self.at;
        let length = word(self.blob, at).ok_or(NO_END)? as usize;
        self.at += 4;
        let name_at = word(self.blob, self.at).ok_or(NO_END)? as usize;
        let found = self.strings.get(name_at..).and_then(name);
        if found.is_none_or(<[u8]>::is_empty) {
            return Err("a property's name is not acceptable");
        }
        let end = at + 8 + length;
        if end > self.blob.len() {
            self.at = at;
            return Err("a property's value has no end");
        }
        self.at = end.next_multiple_of(4);
        Ok(())
    }
}

/// Returns the NUL-terminated ASCII name that `bytes` begin with.
fn name(bytes: &[u8]) -> Option<&[u8]> {
    let window = bytes.get(..=NAME_MAX).unwrap_or(bytes);
    let end = window.iter().position(|byte| *byte == 0)?;
    let name = window.get(..end)?;
    name.iter().all(u8::is_ascii_graphic).then_some(name)
}
