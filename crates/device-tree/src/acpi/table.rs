//! Validates a single ACPI table and reads its fields and entries (ACPI 6.5, section 5.2.6).

use alloc::string::String;
use core::fmt;

use hardware::board::FormatError;
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use super::layouts::Header;
use crate::Result;

/// Size in bytes of the header at the start of each table.
pub const HEADER_SIZE: usize = size_of::<Header>();
/// The maximum size of a table, in bytes. The largest known table is a DSDT of less than 1 MiB.
const TABLE_MAX: usize = 16 << 20;

/// Returns the little-endian number at an offset. `size` is its size in bytes, 1 to 8.
pub fn read_number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let field = bytes.get(at..)?.get(..size)?.iter().rev();
    Some(field.fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// Returns the sum of all bytes, which is 0 in a valid table.
pub fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}

/// Where a table comes from, for use in messages.
#[derive(Clone, Copy, Debug)]
pub enum TableOrigin {
    /// Physical address.
    Address(u64),
    /// File number, starting at 1.
    File(usize),
}

impl fmt::Display for TableOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => write!(f, "at {address:#x}"),
            Self::File(number) => write!(f, "file {number}"),
        }
    }
}

/// A table with a complete header, or a table entry.
///
/// Holding one proves nothing about its fields. [`Self::check`] returns one whose size and checksum
/// are right; [`Self::read`] and [`Self::entry`] stay within the bytes in any case.
#[derive(Clone, Copy, Debug)]
pub struct AcpiTable<'m> {
    signature: [u8; 4],
    origin: TableOrigin,
    /// Offset of an entry in its table, or 0 for a table.
    pub at: usize,
    /// The readable bytes. A checked table is truncated to the size in its header.
    pub bytes: &'m [u8],
}

impl<'m> AcpiTable<'m> {
    /// Wraps a table's bytes.
    ///
    /// # Panics
    /// Panics if `bytes` is shorter than a header. Callers must check the length first.
    pub fn new(bytes: &'m [u8], origin: TableOrigin) -> Self {
        let signature = *bytes.first_chunk().expect("at least a header");
        Self {
            signature,
            origin,
            at: 0,
            bytes,
        }
    }

    /// Returns the four-letter signature.
    pub fn signature(&self) -> [u8; 4] {
        self.signature
    }

    /// Validates the table and returns it truncated to its size.
    ///
    /// # Errors
    /// Returns an error if the size or checksum is wrong, or if the table cannot be read in full.
    pub fn check(self) -> Result<Self> {
        let length = self.read::<Header>(0)?.length.get() as usize;
        let have = self.bytes.len();
        if !(HEADER_SIZE..=TABLE_MAX).contains(&length) {
            let expected = format_args!("expected {HEADER_SIZE} to {TABLE_MAX}");
            return Err(self.error(4, format_args!("{length} bytes, {expected}")));
        }
        let Some(bytes) = self.bytes.get(..length) else {
            let message = format_args!("only {have} of {length} bytes can be read");
            return Err(self.error(4, message));
        };
        let sum = checksum(bytes);
        if sum != 0 {
            let message = format_args!(
                "the sum of all {length} bytes is {sum:#x}, expected 0: read the table again, or \
                 use a device tree instead"
            );
            return Err(self.error(9, message));
        }
        Ok(Self { bytes, ..self })
    }

    /// Returns the structure at an offset.
    ///
    /// # Errors
    /// Returns an error if the structure extends past the end of the table or entry.
    pub fn read<T>(&self, at: usize) -> Result<&'m T>
    where
        T: FromBytes + KnownLayout + Immutable + Unaligned,
    {
        let rest = self.bytes.get(at..).unwrap_or(&[]);
        T::ref_from_prefix(rest)
            .map(|prefix| prefix.0)
            .map_err(|_| {
                let least = at.saturating_add(size_of::<T>());
                let have = self.bytes.len();
                self.error(0, format_args!("{have} bytes, expected at least {least}"))
            })
    }

    /// Returns the entry at an offset. An entry starts with a one-byte type and a length of
    /// `length_size` bytes.
    pub fn entry(&self, at: usize, length_size: usize) -> Result<Self> {
        let rest = self.bytes.get(at..).unwrap_or(&[]);
        let length = read_number(rest, 1, length_size).unwrap_or(0) as usize;
        let entry = rest.get(..length).filter(|_| length > length_size);
        let Some(bytes) = entry else {
            let expected = format_args!("expected {} to {}", 1 + length_size, rest.len());
            return Err(self.error(at, format_args!("entry length {length}, {expected}")));
        };
        Ok(Self { at, bytes, ..*self })
    }

    /// Returns an entry's type. Its meaning depends on the table.
    pub fn kind(&self) -> u8 {
        self.bytes.first().copied().unwrap_or(0)
    }

    /// Returns the entries from an offset to the end of the table. Iteration stops after the first
    /// error.
    pub fn entries(
        self,
        mut at: usize,
        length_size: usize,
    ) -> impl Iterator<Item = Result<Self>> + use<'m> {
        core::iter::from_fn(move || {
            let entry = (at < self.bytes.len()).then(|| self.entry(at, length_size))?;
            let length = entry.as_ref().map(|entry| entry.bytes.len());
            at = at.saturating_add(length.unwrap_or(usize::MAX));
            Some(entry)
        })
    }

    /// Builds an error for an offset in the table or entry.
    #[cold]
    pub fn error(&self, at: usize, message: fmt::Arguments<'_>) -> FormatError {
        let name = String::from_utf8_lossy(&self.signature);
        let origin = self.origin;
        let offset = self.at + at;
        FormatError::new(format_args!(
            "{name} ({origin}), offset {offset:#x}: {message}"
        ))
    }
}
