//! The flattened format of a device tree that [`super::check`] has found sound.
//!
//! Devicetree Specification v0.4, sections 5.2 to 5.5. In bytes that are not
//! sound, tokens are missing; no function panics.

use core::fmt;

/// Offsets of the header's fields (section 5.2).
pub(crate) const OFF_DT_STRUCT: usize = 8;
pub(crate) const OFF_DT_STRINGS: usize = 12;
pub(crate) const OFF_MEM_RSVMAP: usize = 16;

/// Size in bytes of an entry of the memory reservation block (section 5.3).
pub(crate) const RESERVATION_SIZE: usize = 16;

/// Longest name of a node or property, in bytes.
const NAME_MAX: usize = 255;

/// The tokens of the structure block (section 5.4.1).
const BEGIN_NODE: u32 = 1;
const END_NODE: u32 = 2;
const PROP: u32 = 3;
const NOP: u32 = 4;
pub(crate) const END: u32 = 9;

/// Returns the big-endian word at an offset.
pub(crate) fn word(blob: &[u8], at: usize) -> Option<u32> {
    let cell = blob.get(at..)?.get(..4)?;
    Some(number(cell) as u32)
}

/// Returns the big-endian number in `cells`.
pub(crate) fn number(cells: &[u8]) -> u64 {
    cells.iter().fold(0, |n, byte| (n << 8) | u64::from(*byte))
}

/// Returns the bytes before the first `end`; all of them if there is none.
pub(crate) fn until(bytes: &[u8], end: u8) -> &[u8] {
    let length = bytes.iter().position(|byte| *byte == end);
    length.and_then(|n| bytes.get(..n)).unwrap_or(bytes)
}

/// The bytes of a sound tree.
#[derive(Clone, Copy)]
pub(crate) struct Fdt<'t>(&'t [u8]);

impl<'t> Fdt<'t> {
    /// Takes the tree in `blob`, for [`super::check`].
    pub fn checked(blob: &'t [u8]) -> Self {
        Self(blob)
    }

    fn field(self, at: usize) -> usize {
        word(self.0, at).map_or(0, |value| value as usize)
    }

    /// Returns the word at an offset.
    pub fn word(self, at: usize) -> Option<u32> {
        word(self.0, at)
    }

    /// Returns the name at an offset, without its NUL.
    pub fn string(self, at: usize) -> Option<&'t [u8]> {
        let rest = self.0.get(at..)?;
        let window = rest.get(..=NAME_MAX).unwrap_or(rest);
        let end = window.iter().position(|byte| *byte == 0)?;
        window.get(..end)
    }

    /// Returns the offset of the root's BEGIN_NODE.
    pub fn root(self) -> usize {
        self.field(OFF_DT_STRUCT)
    }

    /// Returns address and size of each entry of the memory reservation block.
    pub fn reservations(self) -> impl Iterator<Item = (u64, u64)> {
        let block = self.field(OFF_MEM_RSVMAP);
        let block = self.0.get(block..).unwrap_or_default();
        let entries = block.chunks_exact(RESERVATION_SIZE).map(|entry| {
            let (address, size) = entry.split_at(RESERVATION_SIZE / 2);
            (number(address), number(size))
        });
        entries.take_while(|entry| *entry != (0, 0))
    }

    /// Returns the token at an offset, and the offset of the next one.
    pub fn token(self, at: usize) -> Option<(Token<'t>, usize)> {
        let (at, token) = (at + 4, word(self.0, at)?);
        let (end, token) = match token {
            BEGIN_NODE => (at + self.string(at)?.len() + 1, Token::Begin),
            PROP => {
                let (length, name) = (word(self.0, at)? as usize, word(self.0, at + 4)? as usize);
                let name = self.string(self.field(OFF_DT_STRINGS) + name)?;
                let (at, end) = (at + 8, at + 8 + length);
                (end, Token::Property(name, self.0.get(at..end)?))
            }
            END_NODE => (at, Token::End),
            _ => return None,
        };
        let mut next = end.next_multiple_of(4);
        // A NOP belongs to no node: boot loaders overwrite removed nodes with them.
        while word(self.0, next) == Some(NOP) {
            next += 4;
        }
        Some((token, next))
    }
}

impl fmt::Debug for Fdt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fdt({} bytes)", self.0.len())
    }
}

/// A token of the structure block; a property with its name and value.
pub(crate) enum Token<'t> {
    Begin,
    Property(&'t [u8], &'t [u8]),
    End,
}
