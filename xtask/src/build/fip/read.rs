//! The strict reader.

use std::ops::Range;

use anyhow::{Context, Result, bail};
use uuid::Uuid;

use super::layout::{ENTRIES_MAX, ENTRY_SIZE, HEADER_SIZE, MAGIC};
use crate::board::image_kinds::label;

/// One image of a package.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The kind of image.
    pub uuid: Uuid,
    /// The place of its bytes in the file.
    pub range: Range<usize>,
    /// The entry's flags.
    pub flags: u64,
}

/// A package that has passed every check.
#[derive(Clone, Debug)]
pub struct Package {
    /// The header's serial number.
    pub serial: u32,
    /// The header's flags; bits 47:32 are the platform's.
    pub flags: u64,
    /// The images, in the order of the list.
    pub entries: Vec<Entry>,
}

impl Package {
    /// Returns the bytes of the image `uuid` in `file`.
    pub fn image<'f>(&self, file: &'f [u8], uuid: Uuid) -> Option<&'f [u8]> {
        let entry = self.entries.iter().find(|entry| entry.uuid == uuid)?;
        file.get(entry.range.clone())
    }

    /// Returns the alignment in bytes that all images have: a power of two up to a MiB.
    pub fn align(&self) -> u64 {
        let starts = self.entries.iter().map(|entry| entry.range.start);
        1 << starts.map(usize::trailing_zeros).min().unwrap_or(0).min(20)
    }
}

/// An entry of the list, as it stands in the file.
struct Raw {
    at: u64,
    uuid: Uuid,
    offset: u64,
    size: u64,
    flags: u64,
}

fn bytes<const N: usize>(file: &[u8], at: u64) -> Option<[u8; N]> {
    let at = usize::try_from(at).ok()?;
    file.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn u64_at(file: &[u8], at: u64) -> Option<u64> {
    bytes(file, at).map(u64::from_le_bytes)
}

impl Raw {
    fn read(file: &[u8], at: u64) -> Option<Self> {
        Some(Self {
            at,
            uuid: Uuid::from_bytes(bytes(file, at)?),
            offset: u64_at(file, at + 16)?,
            size: u64_at(file, at + 24)?,
            flags: u64_at(file, at + 32)?,
        })
    }
}

/// Reads `file`. Bytes after the package do no harm and are a warning.
pub fn read(file: &[u8]) -> Result<(Package, Option<String>)> {
    let size = file.len();
    let (serial, flags) = header(file)?;
    let (raw, terminator) = list(file)?;
    if raw.is_empty() {
        bail!("offset {HEADER_SIZE:#x}: the package has no entries");
    }
    let list_end = terminator.at + ENTRY_SIZE;
    let mut entries: Vec<Entry> = Vec::new();
    for (index, raw) in raw.iter().enumerate() {
        let entry = entry(raw, &entries, list_end, size);
        let (label, at) = (label(raw.uuid), raw.at);
        entries.push(entry.with_context(|| format!("entry {index} ({label}) at offset {at:#x}"))?);
    }
    let last = entries.iter().map(|entry| entry.range.end).max();
    let end = end(&terminator, last.unwrap_or_default(), size)?;
    let after = size - end;
    let warning =
        (after > 0).then(|| format!("{after} bytes follow the package's end at {end:#x}"));
    let package = Package {
        serial,
        flags,
        entries,
    };
    Ok((package, warning))
}

fn header(file: &[u8]) -> Result<(u32, u64)> {
    let short = || format!("offset {:#x}: the file ends within the header", file.len());
    let magic = u32::from_le_bytes(bytes(file, 0).with_context(short)?);
    if magic != MAGIC {
        bail!("offset 0x0: no FIP: {magic:#010x} instead of {MAGIC:#010x}");
    }
    let serial = u32::from_le_bytes(bytes(file, 4).with_context(short)?);
    let flags = u64_at(file, 8).with_context(short)?;
    if serial == 0 {
        bail!("offset 0x4: the serial number is 0, which firmware takes for no FIP");
    }
    Ok((serial, flags))
}

fn list(file: &[u8]) -> Result<(Vec<Raw>, Raw)> {
    let mut entries = Vec::new();
    let mut at = HEADER_SIZE;
    loop {
        let entry = Raw::read(file, at).with_context(|| {
            let size = file.len();
            format!(
                "offset {size:#x}: the file ends within the list of entries, before its terminator"
            )
        })?;
        if entry.uuid.is_nil() {
            return Ok((entries, entry));
        }
        if entries.len() == ENTRIES_MAX {
            bail!("offset {at:#x}: more than {ENTRIES_MAX} entries");
        }
        entries.push(entry);
        at += ENTRY_SIZE;
    }
}

/// Checks an entry by itself, then against those before it.
fn entry(raw: &Raw, before: &[Entry], list_end: u64, file_size: usize) -> Result<Entry> {
    let (uuid, offset, size) = (raw.uuid, raw.offset, raw.size);
    if size == 0 {
        bail!("its size is 0");
    }
    let Some(end) = offset.checked_add(size) else {
        bail!("{offset:#x} + {size:#x} wraps round 64 bits");
    };
    if offset < list_end {
        bail!("its data at {offset:#x} overlaps the list of entries, which ends at {list_end:#x}");
    }
    if end > file_size as u64 {
        bail!("its data ends at {end:#x}, and the file at {file_size:#x}");
    }
    let range = offset as usize..end as usize;
    for (index, earlier) in before.iter().enumerate() {
        if earlier.uuid == uuid {
            bail!("entry {index} has the same UUID");
        }
        if range.start < earlier.range.end && earlier.range.start < range.end {
            let label = label(earlier.uuid);
            bail!("its data {offset:#x}..{end:#x} overlaps that of entry {index} ({label})");
        }
    }
    let flags = raw.flags;
    Ok(Entry { uuid, range, flags })
}

/// Returns the package's end, which the terminator has: not before the last byte of an
/// image, not after the file's end. (fiptool rounds it up to the alignment.)
fn end(terminator: &Raw, last: usize, file_size: usize) -> Result<usize> {
    let at = terminator.at;
    if terminator.size != 0 || terminator.flags != 0 {
        bail!("offset {at:#x}: the terminator has a size or flags");
    }
    let end = terminator.offset;
    match usize::try_from(end) {
        Ok(end) if (last..=file_size).contains(&end) => Ok(end),
        _ => bail!(
            "offset {at:#x}: the terminator says that the package ends at {end:#x}: the last \
             image ends at {last:#x}, and the file at {file_size:#x}"
        ),
    }
}
