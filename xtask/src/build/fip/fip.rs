//! Firmware Image Packages: the file that TF-A's boot stages load from.
//!
//! ```text
//! 0x00  u32 0xaa640001, u32 serial number, u64 flags      header
//! 0x10  UUID, u64 offset, u64 size, u64 flags             an entry an image
//! ....  nil UUID, u64 end of the package, u64 0, u64 0    terminator
//! ....  the images
//! ```
//!
//! Little-endian. The reader trusts nothing: it finds each offset, size and order that
//! firmware cannot use, and names the entry and its offset in the file. The writer
//! makes the same bytes of the same input, and fiptool's of fiptool's.

use anyhow::{Context, Result, bail};
use boards::image_kinds::{IMAGE_KINDS, label};
use uuid::Uuid;

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

/// A package as it is in a file, sound or not.
#[derive(Debug)]
pub struct Inspected {
    /// The package.
    pub fip: Fip,
    /// The parts that firmware cannot use, a sentence each, with its place.
    pub faults: Vec<String>,
    /// A sentence on bytes after the package, which do no harm.
    pub rest: Option<String>,
}

impl Fip {
    /// Reads `file`. Bytes after the package do no harm and are a warning.
    ///
    /// # Errors
    /// When there is a fault.
    pub fn read(file: &[u8]) -> Result<(Self, Option<String>)> {
        let Inspected { fip, faults, rest } = Self::inspect(file)?;
        match faults.into_iter().next() {
            Some(fault) => bail!(fault),
            None => Ok((fip, rest)),
        }
    }

    /// Reads `file`, and goes on after faults that leave no doubt about the bytes of each image:
    /// fiptool makes and repairs such packages.
    ///
    /// # Errors
    /// When the file is no package, or an image's bytes are not in it.
    pub fn inspect(file: &[u8]) -> Result<Inspected> {
        let (serial, flags) = header(file)?;
        let (entries, terminator) = list(file)?;
        let at = |index: usize| HEADER_SIZE + ENTRY_SIZE * index as u64;
        let list_end = at(entries.len() + 1);
        let mut faults = Vec::new();
        if entries.is_empty() {
            faults.push(format!(
                "offset {HEADER_SIZE:#x}: the package has no entries"
            ));
        }
        let mut fip = Self {
            serial,
            flags,
            ..Self::default()
        };
        for (index, entry) in entries.iter().enumerate() {
            let place = format!(
                "entry {index} ({}) at offset {:#x}",
                label(entry.0),
                at(index)
            );
            let image = fip.read_image(entry, file).context(place.clone())?;
            let of_image = fip.faults_of(&image, list_end);
            faults.extend(of_image.map(|fault| format!("{place}: {fault}")));
            fip.images.push(image);
        }
        let last = fip.images.iter().map(Image::end).max().unwrap_or(list_end);
        let size = file.len() as u64;
        let place = format!("offset {:#x}: the terminator", at(entries.len()));
        let of_terminator = faults_of_terminator(terminator, last, size);
        faults.extend(of_terminator.map(|fault| format!("{place}: {fault}")));
        let [end, ..] = terminator;
        let after = size.saturating_sub(end);
        let is_end = (last..size).contains(&end);
        let rest = is_end.then(|| format!("{after} bytes follow the package's end at {end:#x}"));
        Ok(Inspected { fip, faults, rest })
    }

    /// Reads the image of an entry.
    fn read_image(&self, entry: &Entry, file: &[u8]) -> Result<Image> {
        let (uuid, [offset, size, flags]) = *entry;
        let Some(end) = offset.checked_add(size) else {
            bail!("{offset:#x} + {size:#x} wraps round 64 bits");
        };
        let data = file.get(offset as usize..end as usize);
        // An image of no bytes is nowhere.
        let Some(data) = data.or((size == 0).then_some(&[])) else {
            bail!(
                "its data ends at {end:#x}, and the file at {:#x}",
                file.len()
            );
        };
        if let Some(index) = self.images.iter().position(|earlier| earlier.uuid == uuid) {
            bail!("entry {index} has the same UUID");
        }
        Ok(Image {
            uuid,
            flags,
            offset,
            data: data.to_vec(),
        })
    }

    /// Returns the faults of an image, by itself and beside those before it.
    fn faults_of(&self, image: &Image, list_end: u64) -> impl Iterator<Item = String> {
        let (offset, end) = (image.offset, image.end());
        let is_empty = image.data.is_empty();
        let no_size = is_empty.then(|| "its size is 0".to_owned());
        let over_list = (!is_empty && offset < list_end).then(|| {
            format!(
                "its data at {offset:#x} overlaps the list of entries, which ends at {list_end:#x}"
            )
        });
        let overlaps = |earlier: &Image| offset < earlier.end() && earlier.offset < end;
        let earlier = self.images.iter().position(|it| !is_empty && overlaps(it));
        let over_image = earlier.map(|index| {
            let label = label(self.images[index].uuid);
            format!("its data {offset:#x}..{end:#x} overlaps that of entry {index} ({label})")
        });
        [no_size, over_list, over_image].into_iter().flatten()
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
        if let Some(empty) = self.images.iter().find(|image| image.data.is_empty()) {
            let label = label(empty.uuid);
            bail!("{label}: it has no bytes: give its file, or take it out of the package");
        }
        let mut images: Vec<_> = self.images.iter().collect();
        let place = |uuid: Uuid| IMAGE_KINDS.iter().position(|kind| kind.uuid == uuid);
        images.sort_by_key(|image| place(image.uuid).unwrap_or(IMAGE_KINDS.len()));
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
        self.offset.saturating_add(self.data.len() as u64)
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

/// Returns the faults of a terminator, whose offset is the package's end: not before the last
/// byte of an image, not after the file's end. (fiptool rounds it up to the alignment.)
fn faults_of_terminator(
    [end, size, flags]: [u64; 3],
    last: u64,
    file: u64,
) -> impl Iterator<Item = String> {
    let has_more = size != 0 || flags != 0;
    let more = has_more.then(|| "it has a size or flags".to_owned());
    let wrong_end = (!(last..=file).contains(&end)).then(|| {
        format!(
            "the package's end {end:#x} is not between the last image's, {last:#x}, and the \
             file's, {file:#x}"
        )
    });
    [more, wrong_end].into_iter().flatten()
}
