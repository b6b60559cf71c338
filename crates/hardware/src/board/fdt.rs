//! Validates flattened device trees in one pass and splits them into tokens.
//!
//! See Devicetree Specification v0.4, sections 5.2 to 5.5. Invalid bytes cause missing tokens but
//! never a panic.
//!
//! The specification limits names to 31 characters (sections 2.2.1 and 2.2.4), but many names in
//! Linux device trees are longer, so longer names are accepted. The nesting depth is limited, so
//! later walks take at most [`DEPTH_MAX`] passes over the structure block. Padding after the
//! blocks (1 MiB in QEMU device trees) is never read.

use core::fmt;
use core::mem::offset_of;

use zerocopy::big_endian::U32;
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use crate::image::TREE_MAX;
use crate::text::format_error::{FormatError, Result};

/// The maximum nesting depth of nodes, including the root. Real trees have fewer than ten levels.
const DEPTH_MAX: usize = 16;

const MAGIC: u32 = 0xd00d_feed;
const VERSION: u32 = 17;

/// The header (section 5.2), big-endian.
#[derive(FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Header {
    magic: U32,
    total_size: U32,
    structure: U32,
    strings: U32,
    reservations: U32,
    version: U32,
    last_compatible_version: U32,
    boot_cpu: U32,
    strings_size: U32,
    structure_size: U32,
}

const _: () = assert!(size_of::<Header>() == 40 && offset_of!(Header, version) == 20);

/// The size in bytes of an entry in the memory reservation block (section 5.3).
const RESERVATION_SIZE: usize = 16;

/// The maximum length of a node or property name, in bytes.
const NAME_MAX: usize = 255;

/// The tokens in the structure block (section 5.4.1).
const BEGIN_NODE: u32 = 1;
const END_NODE: u32 = 2;
const PROP: u32 = 3;
const NOP: u32 = 4;
const END: u32 = 9;

/// Returns the big-endian word at an offset.
pub(crate) fn word(blob: &[u8], at: usize) -> Option<u32> {
    let cell = blob.get(at..)?.get(..4)?;
    Some(number(cell) as u32)
}

/// Returns `cells` as a big-endian number.
pub(crate) fn number(cells: &[u8]) -> u64 {
    cells
        .iter()
        .fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

/// Returns the bytes before the first `end`, or all bytes if `end` is not found.
pub(crate) fn until(bytes: &[u8], end: u8) -> &[u8] {
    let length = bytes.iter().position(|byte| *byte == end);
    length
        .and_then(|length| bytes.get(..length))
        .unwrap_or(bytes)
}

/// A device tree whose structure has been checked.
///
/// Holding a value proves that the blocks are within the blob, that all tokens up to the end token
/// are valid, and that nodes are properly nested, with properties before children. It does not
/// prove anything about the values of properties.
#[derive(Clone, Copy)]
pub(crate) struct Fdt<'t> {
    blob: &'t [u8],
    header: &'t Header,
}

impl<'t> Fdt<'t> {
    /// Returns the name at an offset, without its NUL.
    pub fn string(self, at: usize) -> Option<&'t [u8]> {
        let rest = self.blob.get(at..)?;
        let window = rest.get(..=NAME_MAX).unwrap_or(rest);
        let end = window.iter().position(|byte| *byte == 0)?;
        window.get(..end)
    }

    /// Returns the offset of the root's BEGIN_NODE.
    pub fn root(self) -> usize {
        self.header.structure.get() as usize
    }

    /// Returns the address and size of each entry in the memory reservation block.
    pub fn reservations(self) -> impl Iterator<Item = (u64, u64)> {
        let start = self.header.reservations.get() as usize;
        let block = self.blob.get(start..).unwrap_or(&[]);
        let entries = block.chunks_exact(RESERVATION_SIZE).map(|entry| {
            let (address, size) = entry.split_at(RESERVATION_SIZE / 2);
            (number(address), number(size))
        });
        entries.take_while(|entry| *entry != (0, 0))
    }

    /// Returns the token at an offset, and the offset of the next token.
    pub fn token(self, at: usize) -> Option<(Token<'t>, usize)> {
        let content = at + 4;
        let (token, end) = match word(self.blob, at)? {
            BEGIN_NODE => (Token::Begin, content + self.string(content)?.len() + 1),
            PROP => {
                let length = word(self.blob, content)? as usize;
                let name_offset = word(self.blob, content + 4)? as usize;
                let name = self.string(self.header.strings.get() as usize + name_offset)?;
                let value = content + 8;
                let end = value + length;
                (Token::Property(name, self.blob.get(value..end)?), end)
            }
            END_NODE => (Token::End, content),
            _ => return None,
        };
        let mut next = end.next_multiple_of(4);
        // NOPs can appear anywhere, because boot loaders overwrite removed nodes with them.
        while word(self.blob, next) == Some(NOP) {
            next += 4;
        }
        Some((token, next))
    }
}

impl fmt::Debug for Fdt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fdt({} bytes)", self.blob.len())
    }
}

/// A token in the structure block. A property token includes the name and value.
pub(crate) enum Token<'t> {
    Begin,
    Property(&'t [u8], &'t [u8]),
    End,
}

/// Returns the size in bytes of the device tree that starts with `header`. Only the first 8 bytes
/// of the header are needed.
///
/// # Errors
/// Returns an error if `header` is too short or not a device tree header, or if the tree is larger
/// than [`crate::image::TREE_MAX`].
pub fn total_size(header: &[u8]) -> Result<usize> {
    let have = header.len();
    let (Some(magic), Some(size)) = (word(header, 0), word(header, 4)) else {
        let message = format_args!("{have} bytes, shorter than a header");
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

/// Returns the bytes of the device tree at the start of `bytes`, none of which have been checked
/// except the magic number and the size.
///
/// # Errors
/// Returns an error if [`total_size`] does, or if the tree is truncated.
pub fn whole_tree(bytes: &[u8]) -> Result<&[u8]> {
    let size = total_size(bytes)?;
    let truncated_tree =
        || FormatError::new(format_args!("truncated: {} of {size} bytes", bytes.len()));
    bytes.get(..size).ok_or_else(truncated_tree)
}

/// Checks the tree at the start of `tree` (sections 5.2 to 5.5).
pub(crate) fn open(tree: &[u8]) -> Result<Fdt<'_>> {
    match check(whole_tree(tree)?) {
        Ok(tree) => Ok(tree),
        Err((at, what)) => Err(FormatError::new(format_args!("offset {at:#x}: {what}"))),
    }
}

/// The result of a check. The error contains the offset of the invalid bytes and the reason.
type Checked<T> = Result<T, (usize, &'static str)>;

fn check(blob: &[u8]) -> Checked<Fdt<'_>> {
    let Ok((header, _)) = Header::ref_from_prefix(blob) else {
        let at = offset_of!(Header, total_size);
        return Err((at, "totalsize is smaller than the header"));
    };
    let tree = Fdt { blob, header };
    // Check the version and the oldest version that it is compatible with.
    if header.version.get() < VERSION || header.last_compatible_version.get() > VERSION {
        let at = offset_of!(Header, version);
        return Err((at, "the format version is not 17"));
    }
    // Each block must start after the header and end within the blob.
    let block = |field_offset, start: U32, size: u32| {
        let first = start.get() as usize;
        match first.checked_add(size as usize) {
            Some(end) if first >= size_of::<Header>() && end <= blob.len() => Ok((first, end)),
            _ => Err((field_offset, "the block is outside the tree")),
        }
    };
    let at = offset_of!(Header, structure);
    let (nodes, end) = block(at, header.structure, header.structure_size.get())?;
    let strings = offset_of!(Header, strings);
    block(strings, header.strings, header.strings_size.get())?;
    let at_reservations = offset_of!(Header, reservations);
    let (reserved, _) = block(at_reservations, header.reservations, 0)?;
    if !nodes.is_multiple_of(4) {
        return Err((at, "the structure block is not aligned"));
    }
    let reservations = blob.get(reserved..).unwrap_or(&[]);
    let is_terminator = |entry: &[u8]| entry.iter().all(|byte| *byte == 0);
    if !reservations
        .chunks_exact(RESERVATION_SIZE)
        .any(is_terminator)
    {
        return Err((reserved, "the memory reservations have no terminator"));
    }
    check_structure(tree, nodes, end)?;
    Ok(tree)
}

/// Checks the structure block up to but not including `end`.
fn check_structure(tree: Fdt<'_>, root: usize, end: usize) -> Checked<()> {
    // Properties come before a node's children (section 5.4.2).
    let mut at = root;
    let mut depth = 0usize;
    let mut property_allowed = false;
    loop {
        if at >= end {
            return Err((at, "the structure block has no end token"));
        }
        let broken = (at, "an unknown, damaged or misplaced token");
        let wrong_name = (at, "an invalid node or property name");
        let Some((token, next)) = tree.token(at) else {
            let is_end = word(tree.blob, at) == Some(END) && depth == 0 && at != root;
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
