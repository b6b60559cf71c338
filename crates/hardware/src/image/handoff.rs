//! The transfer list, which passes information from one boot stage to the next.
//!
//! See the Firmware Handoff specification (DEN0135), 1.0 and 2.0. Only the device tree in the list
//! is used.
//!
//! ```text
//! 0x00  u32 signature, u8 checksum, version, header size, alignment
//! 0x08  u32 bytes in use, u32 bytes in total, u32 flags, u32 reserved
//! ....  entries, each aligned to 8 bytes: u24 tag, u8 header size, u32 size, data
//! ```
//!
//! All numbers are little-endian. Later versions, which can have longer headers, are also accepted,
//! as the specification requires.

use core::ops::Range;

use super::parameter_block::TREE_MAX;
use crate::text::format_error::FormatError;

/// The signature at the start of a transfer list.
pub const SIGNATURE: u32 = 0x4a0f_b10b;
/// The value of X1 at handoff if X3 points to a list. Contains the signature and, in bits 39:32,
/// the version.
pub const REGISTER: u64 = 1 << 32 | SIGNATURE as u64;
/// The number of header bytes that this code reads.
pub const HEADER_SIZE: usize = 0x18;
/// The alignment of lists and entries, in bytes.
pub const ALIGN: usize = 8;

const ENTRY_HEADER: usize = 8;
const TAG_TREE: usize = 1;
/// Flag: the bytes in use sum to 0 modulo 256.
const HAS_CHECKSUM: usize = 1;

fn wrong<T>(fault: &str, at: usize) -> Result<T, FormatError> {
    Err(FormatError::new(format_args!("{fault} at offset {at:#x}")))
}

/// Returns the `size`-byte little-endian number at offset `at`, or 0 if it is outside `list`.
fn field(list: &[u8], at: usize, size: usize) -> usize {
    let bytes = list.get(at..at + size).unwrap_or(&[]);
    let number = bytes
        .iter()
        .rfold(0, |number, byte| number << 8 | u64::from(*byte));
    number as usize
}

/// Returns the number of bytes in use in the list that starts with `header`.
pub fn used_size(header: &[u8]) -> Result<usize, FormatError> {
    let header_size = field(header, 6, 1);
    let used = field(header, 8, 4);
    let total_size = field(header, 12, 4);
    for (is_wrong, fault, at) in [
        (field(header, 0, 4) != SIGNATURE as usize, "no signature", 0),
        (field(header, 5, 1) == 0, "version 0", 5),
        (header_size < HEADER_SIZE, "header too short", 6),
        (
            used < header_size || used > total_size || used > TREE_MAX,
            "invalid size",
            8,
        ),
    ] {
        if is_wrong {
            return wrong(fault, at);
        }
    }
    Ok(used)
}

/// Returns the location of the device tree in `list`, if any.
pub fn device_tree(bytes: &[u8]) -> Result<Option<Range<usize>>, FormatError> {
    let used = used_size(bytes)?;
    let Some(list) = bytes.get(..used) else {
        return wrong("invalid size", 8);
    };
    let sum = list.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    if field(list, 16, 4) & HAS_CHECKSUM != 0 && sum != 0 {
        return wrong("wrong checksum", 4);
    }
    let mut tree = None;
    let mut at = field(list, 6, 1).next_multiple_of(ALIGN);
    while at < used {
        let header = field(list, at + 3, 1);
        let size = field(list, at + 4, 4);
        let data = at + header;
        if header < ENTRY_HEADER || data > used || used - data < size {
            return wrong("entry extends past the end", at);
        }
        if field(list, at, 3) == TAG_TREE {
            if !data.is_multiple_of(ALIGN) {
                return wrong("unaligned device tree", at);
            }
            if tree.replace(data..data + size).is_some() {
                return wrong("a second device tree", at);
            }
        }
        at = (data + size).next_multiple_of(ALIGN);
    }
    Ok(tree)
}

#[cfg(test)]
mod tests;
