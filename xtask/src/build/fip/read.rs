//! The strict reader.

use std::fmt;
use std::ops::Range;

use super::layout::{ENTRIES_MAX, ENTRY_SIZE, HEADER_SIZE, MAGIC};
use crate::board::Uuid;
use crate::board::image_kinds::label;

/// One image of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Which image.
    pub uuid: Uuid,
    /// Where its bytes are in the file.
    pub range: Range<usize>,
    /// The entry's flags.
    pub flags: u64,
}

/// A package that has passed every check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// The header's serial number.
    pub serial: u32,
    /// The header's flags; bits 47:32 are the platform's.
    pub flags: u64,
    /// The images, in the order of the list.
    pub entries: Vec<Entry>,
    /// The offset that the terminator gives for the package's end.
    pub end: usize,
}

impl Package {
    /// The bytes of the image `uuid` in `file`.
    #[must_use]
    pub fn image<'f>(&self, file: &'f [u8], uuid: Uuid) -> Option<&'f [u8]> {
        let entry = self.entries.iter().find(|entry| entry.uuid == uuid)?;
        file.get(entry.range.clone())
    }

    /// The alignment in bytes that all images have: a power of two up to a MiB.
    #[must_use]
    pub fn align(&self) -> u64 {
        let zeros = self.entries.iter().map(|entry| entry.range.start);
        let zeros = zeros.map(usize::trailing_zeros).min();
        1 << zeros.unwrap_or(0).min(20)
    }
}

/// Something odd that does no harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warning {
    /// So many bytes follow the package's end, which is at `at`.
    Trailing {
        /// The package's end.
        at: usize,
        /// How many follow.
        bytes: usize,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trailing { at, bytes } => {
                write!(f, "{bytes} bytes follow the package's end at {at:#x}")
            }
        }
    }
}

/// Why a file is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FipError {
    /// Something about the file as a whole.
    File {
        /// Where.
        at: u64,
        /// What.
        what: String,
    },
    /// Something about an entry.
    Entry {
        /// Its place in the list, from 0.
        index: usize,
        /// Where it is in the file.
        at: u64,
        /// What it is of.
        uuid: Uuid,
        /// What.
        what: String,
    },
}

impl fmt::Display for FipError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { at, what } => write!(f, "offset {at:#x}: {what}"),
            Self::Entry {
                index,
                at,
                uuid,
                what,
            } => write!(
                f,
                "entry {index} ({}) at offset {at:#x}: {what}",
                label(*uuid)
            ),
        }
    }
}

impl std::error::Error for FipError {}

fn bytes<const N: usize>(file: &[u8], at: u64) -> Option<[u8; N]> {
    let at = usize::try_from(at).ok()?;
    file.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn u64_at(file: &[u8], at: u64) -> Option<u64> {
    bytes(file, at).map(u64::from_le_bytes)
}

/// Reads `file`.
///
/// # Errors
/// When it is anything but a sound package.
pub fn read(file: &[u8]) -> Result<(Package, Vec<Warning>), FipError> {
    let refuse = |at: u64, what: &str| FipError::File {
        at,
        what: what.to_owned(),
    };
    let short = || refuse(file.len() as u64, "the file ends within the header");
    let magic = u32::from_le_bytes(bytes(file, 0).ok_or_else(short)?);
    if magic != MAGIC {
        return Err(refuse(
            0,
            &format!("no FIP: {magic:#010x} instead of {MAGIC:#010x}"),
        ));
    }
    let serial = u32::from_le_bytes(bytes(file, 4).ok_or_else(short)?);
    let flags = u64_at(file, 8).ok_or_else(short)?;
    if serial == 0 {
        return Err(refuse(
            4,
            "the serial number is 0, which firmware takes for no FIP",
        ));
    }
    let mut raw = Vec::new();
    let mut at = HEADER_SIZE;
    let terminator = loop {
        let (Some(uuid), Some(offset), Some(size), Some(flags)) = (
            bytes(file, at).map(Uuid),
            u64_at(file, at + 16),
            u64_at(file, at + 24),
            u64_at(file, at + 32),
        ) else {
            let what = "the file ends within the list of entries, before its terminator";
            return Err(refuse(file.len() as u64, what));
        };
        if uuid == Uuid::NIL {
            break Raw {
                at,
                uuid,
                offset,
                size,
                flags,
            };
        }
        if raw.len() == ENTRIES_MAX {
            return Err(refuse(at, &format!("more than {ENTRIES_MAX} entries")));
        }
        raw.push(Raw {
            at,
            uuid,
            offset,
            size,
            flags,
        });
        at += ENTRY_SIZE;
    };
    if raw.is_empty() {
        return Err(refuse(HEADER_SIZE, "the package has no entries"));
    }
    let list_end = terminator.at + ENTRY_SIZE;
    let entries = check(&raw, list_end, file.len())?;
    let last = entries.iter().map(|entry| entry.range.end).max();
    let end = end(&terminator, last.unwrap_or_default(), file.len())?;
    let mut warnings = Vec::new();
    if end < file.len() {
        let bytes = file.len() - end;
        warnings.push(Warning::Trailing { at: end, bytes });
    }
    let package = Package {
        serial,
        flags,
        entries,
        end,
    };
    Ok((package, warnings))
}

struct Raw {
    at: u64,
    uuid: Uuid,
    offset: u64,
    size: u64,
    flags: u64,
}

/// Checks entries one by one, then against one another.
fn check(raw: &[Raw], list_end: u64, file_size: usize) -> Result<Vec<Entry>, FipError> {
    let mut entries: Vec<Entry> = Vec::new();
    for (index, entry) in raw.iter().enumerate() {
        let refuse = |what: String| FipError::Entry {
            index,
            at: entry.at,
            uuid: entry.uuid,
            what,
        };
        let (offset, size) = (entry.offset, entry.size);
        if size == 0 {
            return Err(refuse("its size is 0".into()));
        }
        let Some(end) = offset.checked_add(size) else {
            return Err(refuse(format!(
                "{offset:#x} + {size:#x} wraps round 64 bits"
            )));
        };
        if offset < list_end {
            return Err(refuse(format!(
                "its data at {offset:#x} overlaps the list of entries, which ends at {list_end:#x}"
            )));
        }
        let (Ok(from), Ok(to)) = (usize::try_from(offset), usize::try_from(end)) else {
            return Err(refuse(format!(
                "its data ends at {end:#x}, behind any file"
            )));
        };
        if to > file_size {
            return Err(refuse(format!(
                "its data ends at {end:#x}, and the file at {file_size:#x}"
            )));
        }
        for (other, earlier) in entries.iter().enumerate() {
            if earlier.uuid == entry.uuid {
                return Err(refuse(format!("entry {other} has the same UUID")));
            }
            if from < earlier.range.end && earlier.range.start < to {
                return Err(refuse(format!(
                    "its data {from:#x}..{to:#x} overlaps that of entry {other} ({})",
                    label(earlier.uuid)
                )));
            }
        }
        entries.push(Entry {
            uuid: entry.uuid,
            range: from..to,
            flags: entry.flags,
        });
    }
    Ok(entries)
}

/// The package's end as the terminator has it: not before the last byte of an
/// image, not behind the file's end. (fiptool rounds it up to the alignment.)
fn end(terminator: &Raw, last: usize, file_size: usize) -> Result<usize, FipError> {
    let refuse = |what: String| FipError::File {
        at: terminator.at,
        what,
    };
    if terminator.size != 0 || terminator.flags != 0 {
        return Err(refuse("the terminator has a size or flags".into()));
    }
    let end = terminator.offset;
    match usize::try_from(end) {
        Ok(end) if end >= last && end <= file_size => Ok(end),
        _ => Err(refuse(format!(
            "the terminator says that the package ends at {end:#x}: the last image ends at \
             {last:#x}, and the file at {file_size:#x}"
        ))),
    }
}
