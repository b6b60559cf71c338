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

/// An entry of the list, as it stands in the file: offset, size and flags.
struct Raw(Uuid, [u64; 3]);

/// Reads `file`. Bytes after the package do no harm and are a warning.
pub fn read(file: &[u8]) -> Result<(Package, Option<String>)> {
    let (serial, flags) = header(file)?;
    let (raw, terminator) = list(file)?;
    if raw.is_empty() {
        bail!("offset {HEADER_SIZE:#x}: the package has no entries");
    }
    let at = |index: usize| HEADER_SIZE + ENTRY_SIZE * index as u64;
    let list_end = at(raw.len() + 1);
    let mut entries: Vec<Entry> = Vec::new();
    for (index, raw) in raw.iter().enumerate() {
        let entry = entry(raw, &entries, list_end, file.len() as u64);
        let (label, at) = (label(raw.0), at(index));
        entries.push(entry.with_context(|| format!("entry {index} ({label}) at offset {at:#x}"))?);
    }
    let last = entries.iter().map(|entry| entry.range.end).max();
    let end = end(&terminator, last.unwrap_or_default(), file.len())
        .with_context(|| format!("offset {:#x}: the terminator", at(raw.len())))?;
    let after = file.len() - end;
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
    let Some(header) = file.first_chunk() else {
        bail!("offset {:#x}: the file ends within the header", file.len());
    };
    let header = u128::from_le_bytes(*header);
    let (magic, serial, flags) = (header as u32, (header >> 32) as u32, (header >> 64) as u64);
    if magic != MAGIC {
        bail!("offset 0x0: no FIP: {magic:#010x} instead of {MAGIC:#010x}");
    }
    if serial == 0 {
        bail!("offset 0x4: the serial number is 0, which firmware takes for no FIP");
    }
    Ok((serial, flags))
}

/// Returns the entries, and the terminator.
fn list(file: &[u8]) -> Result<(Vec<Raw>, Raw)> {
    let mut entries = Vec::new();
    let (list, _) = file[HEADER_SIZE as usize..].as_chunks::<{ ENTRY_SIZE as usize }>();
    for bytes in list.iter().take(ENTRIES_MAX + 1) {
        let (uuid, numbers) = bytes.split_first_chunk().context("16 of 40 bytes")?;
        let number = |at| u64::from_le_bytes(numbers.as_chunks().0[at]);
        let entry = Raw(Uuid::from_bytes(*uuid), [0, 1, 2].map(number));
        if entry.0.is_nil() {
            return Ok((entries, entry));
        }
        entries.push(entry);
    }
    let size = file.len();
    if entries.len() > ENTRIES_MAX {
        bail!("more than {ENTRIES_MAX} entries");
    }
    bail!("offset {size:#x}: the file ends within the list of entries, before its terminator")
}

/// Checks an entry by itself, then against those before it.
fn entry(raw: &Raw, before: &[Entry], list_end: u64, file_size: u64) -> Result<Entry> {
    let Raw(uuid, [offset, size, flags]) = *raw;
    if size == 0 {
        bail!("its size is 0");
    }
    let Some(end) = offset.checked_add(size) else {
        bail!("{offset:#x} + {size:#x} wraps round 64 bits");
    };
    if offset < list_end {
        bail!("its data at {offset:#x} overlaps the list of entries, which ends at {list_end:#x}");
    }
    if end > file_size {
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
    Ok(Entry { uuid, range, flags })
}

/// Returns the package's end, which the terminator has: not before the last byte of an
/// image, not after the file's end. (fiptool rounds it up to the alignment.)
fn end(terminator: &Raw, last: usize, file_size: usize) -> Result<usize> {
    let [end, size, flags] = terminator.1;
    if size != 0 || flags != 0 {
        bail!("it has a size or flags");
    }
    match usize::try_from(end) {
        Ok(end) if (last..=file_size).contains(&end) => Ok(end),
        _ => bail!(
            "the package's end {end:#x} is not between the last image's, {last:#x}, and the \
             file's, {file_size:#x}"
        ),
    }
}
