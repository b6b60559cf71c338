//! The guard in front of dtoolkit, which panics on some trees that the payload accepts.

use alloc::vec::Vec;

use dtoolkit::fdt::Fdt;
use hardware::board::{TreeConsole, whole_tree};

use super::Result;

/// The header fields `off_dt_strings` and `size_dt_strings`.
const STRINGS: usize = 12;
const STRINGS_SIZE: usize = 32;

/// A copy of a device tree that dtoolkit can read.
///
/// Holding one proves that the payload's reader accepts the structure of the tree and that dtoolkit
/// does not panic on it. It does not prove that the tree describes a board, that names are unique,
/// or that a property has the length that its binding requires.
pub struct ReadableTree(Vec<u8>);

impl ReadableTree {
    /// Checks the tree at the start of `blob` and copies it. Like the payload, the copy ignores the
    /// size of the strings block: names may be anywhere after its start.
    ///
    /// # Errors
    /// Returns an error if the tree is malformed or truncated.
    pub fn read(blob: &[u8]) -> Result<Self> {
        TreeConsole::find(blob)?;
        let mut tree = whole_tree(blob)?.to_vec();
        let size = tree.len() as u32;
        if let Some(start) = tree.get(STRINGS..).and_then(<[u8]>::first_chunk) {
            let strings = size.saturating_sub(u32::from_be_bytes(*start));
            if let Some(field) = tree.get_mut(STRINGS_SIZE..STRINGS_SIZE + 4) {
                field.copy_from_slice(&strings.to_be_bytes());
            }
        }
        Ok(Self(tree))
    }

    /// Returns the tree for dtoolkit's reader.
    pub fn fdt(&self) -> Fdt<'_> {
        Fdt::new_unchecked(&self.0)
    }
}
