//! Firmware Image Packages: the file that TF-A's boot stages load from.
//!
//! ```text
//! 0x00  u32 0xaa640001, u32 serial number, u64 flags      header
//! 0x10  UUID, u64 offset, u64 size, u64 flags             an entry an image
//! ....  nil UUID, u64 end of the package, u64 0, u64 0    terminator
//! ....  the images
//! ```
//!
//! Little-endian. The reader trusts nothing: it refuses an offset, a size or an order that
//! firmware cannot use, and its error names the entry and its offset in the file. The writer
//! makes the same bytes of the same input, and fiptool's of fiptool's.

use anyhow::{Context, Result, bail};
use uuid::Uuid;

use crate::board::image_kinds::{KINDS, label};

const MAGIC: u32 = 0xaa64_0001;
/// fiptool's serial number; any but 0 will do.
const SERIAL: u32 = 0x1234_5678;
const HEADER_SIZE: u64 = 16;
const ENTRY_SIZE: u64 = 40;
/// More entries than any package has; TF-A knows some 40 kinds.
const ENTRIES_MAX: usize = 256;

/// More than a boot flash holds. A stray section in an ELF can make `objcopy`
/// write a gigabyte, and that is no firmware image.
pub const IMAGE_MAX: usize = 128 << 20;
/// The largest package that is read, in bytes: more than boards have flash.
pub const PACKAGE_MAX: usize = 4 * IMAGE_MAX;

/// A package.
#[derive(Clone, Debug)]
pub struct Fip {
    /// The header's serial number.
    pub serial: u32,
    /// The header's flags; bits 47:32 are the platform's.
    pub flags: u64,
    /// The images, in the order in which they were read or added.
    pub images: Vec<Image>,
    /// Alignment of each image and of the package's end when it is written.
    align: u64,
    /// Number of the first images that were put in by [`Fip::put`].
    put: usize,
}

/// One image of a package.
#[derive(Clone, Debug)]
pub struct Image {
    /// The kind of image.
    pub uuid: Uuid,
    /// The entry's flags.
    pub flags: u64,
    /// The offset in the file that it was read from; 0 if it is new.
    pub offset: u64,
    /// The content of the file.
    pub data: Vec<u8>,
}

impl Default for Fip {
    fn default() -> Self {
        Self {
            serial: SERIAL,
            flags: 0,
            images: Vec::new(),
            align: 1,
            put: 0,
        }
    }
}

impl Fip {
    /// Reads `file`. Bytes after the package do no harm and are a warning.
    pub fn read(file: &[u8]) -> Result<(Self, Option<String>)> {
        let (serial, flags) = header(file)?;
        let (entries, end) = list(file)?;
        if entries.is_empty() {
            bail!("offset {HEADER_SIZE:#x}: the package has no entries");
        }
        let at = |index: usize| HEADER_SIZE + ENTRY_SIZE * index as u64;
        let list_end = at(entries.len() + 1);
        let mut fip = Self {
            serial,
            flags,
            ..Self::default()
        };
        for (index, entry) in entries.iter().enumerate() {
            let image = fip.read_image(entry, list_end, file);
            let place = || {
                format!(
                    "entry {index} ({}) at offset {:#x}",
                    label(entry.0),
                    at(index)
                )
            };
            fip.images.push(image.with_context(place)?);
        }
        let last = fip.images.iter().map(Image::end).max().unwrap_or_default();
        let end = check_end(end, last, file.len() as u64)
            .with_context(|| format!("offset {:#x}: the terminator", at(entries.len())))?;
        let after = file.len() as u64 - end;
        let warning = format!("{after} bytes follow the package's end at {end:#x}");
        Ok((fip, (after > 0).then_some(warning)))
    }

    /// Reads the image of an entry, which is checked by itself, then against those before it.
    fn read_image(&self, entry: &Entry, list_end: u64, file: &[u8]) -> Result<Image> {
        let (uuid, [offset, size, flags]) = *entry;
        if size == 0 {
            bail!("its size is 0");
        }
        let Some(end) = offset.checked_add(size) else {
            bail!("{offset:#x} + {size:#x} wraps round 64 bits");
        };
        if offset < list_end {
            bail!(
                "its data at {offset:#x} overlaps the list of entries, which ends at {list_end:#x}"
            );
        }
        let Some(data) = file.get(offset as usize..end as usize) else {
            bail!(
                "its data ends at {end:#x}, and the file at {:#x}",
                file.len()
            );
        };
        for (index, earlier) in self.images.iter().enumerate() {
            if earlier.uuid == uuid {
                bail!("entry {index} has the same UUID");
            }
            if offset < earlier.end() && earlier.offset < end {
                let label = label(earlier.uuid);
                bail!("its data {offset:#x}..{end:#x} overlaps that of entry {index} ({label})");
            }
        }
        Ok(Image {
            uuid,
            flags,
            offset,
            data: data.to_vec(),
        })
    }

    /// Returns the bytes of the image `uuid`.
    pub fn get(&self, uuid: Uuid) -> Option<&[u8]> {
        let image = self.images.iter().find(|image| image.uuid == uuid)?;
        Some(&image.data)
    }

    /// Returns the alignment in bytes that all images had in the file: a power of two up to a MiB.
    pub fn alignment(&self) -> u64 {
        let offsets = self.images.iter().map(|image| image.offset);
        1 << offsets.map(u64::trailing_zeros).min().unwrap_or(0).min(20)
    }

    /// Takes the image `uuid` out; returns true if it was there.
    pub fn remove(&mut self, uuid: Uuid) -> bool {
        let Some(index) = self.images.iter().position(|image| image.uuid == uuid) else {
            return false;
        };
        self.images.remove(index);
        self.put -= usize::from(index < self.put);
        true
    }

    /// Adds an image, or replaces the one that is there. As with fiptool, an image without an
    /// option comes before those that were in the package already.
    pub fn put(&mut self, uuid: Uuid, data: Vec<u8>) -> Result<()> {
        if uuid.is_nil() {
            bail!("a UUID of zeros ends the list and names no image");
        }
        if data.is_empty() {
            bail!("{}: the file is empty", label(uuid));
        }
        self.remove(uuid);
        if self.images.len() == ENTRIES_MAX {
            bail!("more than {ENTRIES_MAX} images");
        }
        let image = Image {
            uuid,
            flags: 0,
            offset: 0,
            data,
        };
        self.images.insert(self.put, image);
        self.put += 1;
        Ok(())
    }

    /// Sets the alignment in bytes of each image and of the package's end.
    pub fn align(&mut self, align: u64) -> Result<()> {
        if !align.is_power_of_two() || align > 1 << 20 {
            bail!("the alignment {align} is not a power of two up to a MiB");
        }
        self.align = align;
        Ok(())
    }

    /// Sets the header's flags that are the platform's.
    pub fn platform_flags(&mut self, flags: u16) {
        self.flags = self.flags & !(0xffff << 32) | u64::from(flags) << 32;
    }

    /// Makes the file. Known images come in fiptool's order, and the others after them.
    pub fn build(&self) -> Result<Vec<u8>> {
        if self.images.is_empty() {
            bail!("no image is given");
        }
        let mut images: Vec<_> = self.images.iter().collect();
        let place = |uuid: Uuid| KINDS.iter().position(|kind| kind.uuid == uuid);
        images.sort_by_key(|image| place(image.uuid).unwrap_or(KINDS.len()));
        let mut file = Vec::new();
        file.extend(MAGIC.to_le_bytes());
        file.extend(self.serial.to_le_bytes());
        file.extend(self.flags.to_le_bytes());
        let mut entry = |uuid: Uuid, offset_size_flags: [u64; 3]| {
            file.extend(uuid.as_bytes());
            file.extend(offset_size_flags.map(u64::to_le_bytes).as_flattened());
        };
        let mut at = HEADER_SIZE + ENTRY_SIZE * (images.len() as u64 + 1);
        for image in &images {
            let size = image.data.len() as u64;
            at = at.next_multiple_of(self.align);
            entry(image.uuid, [at, size, image.flags]);
            at += size;
        }
        let end = at.next_multiple_of(self.align);
        entry(Uuid::nil(), [end, 0, 0]);
        for image in &images {
            file.resize(file.len().next_multiple_of(self.align as usize), 0);
            file.extend(&image.data);
        }
        file.resize(end as usize, 0);
        Ok(file)
    }
}

impl Image {
    fn end(&self) -> u64 {
        self.offset + self.data.len() as u64
    }
}

/// An entry of the list, as it stands in the file: offset, size and flags.
type Entry = (Uuid, [u64; 3]);

/// Returns the serial number and the flags.
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

/// Returns the entries, and the numbers of the terminator.
fn list(file: &[u8]) -> Result<(Vec<Entry>, [u64; 3])> {
    let mut entries = Vec::new();
    let (list, _) = file[HEADER_SIZE as usize..].as_chunks::<{ ENTRY_SIZE as usize }>();
    for bytes in list.iter().take(ENTRIES_MAX + 1) {
        let (uuid, numbers) = bytes.split_first_chunk().context("16 of 40 bytes")?;
        let number = |at| u64::from_le_bytes(numbers.as_chunks().0[at]);
        let (uuid, numbers) = (Uuid::from_bytes(*uuid), [0, 1, 2].map(number));
        if uuid.is_nil() {
            return Ok((entries, numbers));
        }
        entries.push((uuid, numbers));
    }
    let size = file.len();
    if entries.len() > ENTRIES_MAX {
        bail!("more than {ENTRIES_MAX} entries");
    }
    bail!("offset {size:#x}: the file ends within the list of entries, before its terminator")
}

/// Returns the package's end, which the terminator has: not before the last byte of an
/// image, not after the file's end. (fiptool rounds it up to the alignment.)
fn check_end([end, size, flags]: [u64; 3], last: u64, file: u64) -> Result<u64> {
    if size != 0 || flags != 0 {
        bail!("it has a size or flags");
    }
    if !(last..=file).contains(&end) {
        bail!(
            "the package's end {end:#x} is not between the last image's, {last:#x}, and the \
             file's, {file:#x}"
        );
    }
    Ok(end)
}
