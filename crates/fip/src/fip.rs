//! Firmware Image Packages (FIPs), the files that TF-A boot stages load images from.
//!
//! A FIP consists of a [`FipHeader`], an [`FipEntry`] for each image, a terminating entry, and the
//! images. The terminating entry is zero except for its offset, which marks the end of the package.
//!
//! All fields are little-endian. The reader trusts nothing: it reports each offset, size or
//! ordering that firmware cannot handle, together with the entry and its file offset. The writer is
//! deterministic, and reproduces packages made by fiptool byte for byte.

use anyhow::{Context, Result, bail};
use boards::image_kinds::{IMAGE_KINDS, label};
use uuid::Uuid;
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

const MAGIC: u32 = 0xaa64_0001;
/// The serial number that fiptool writes; any value except 0 is valid.
const SERIAL: u32 = 0x1234_5678;
const HEADER_SIZE: u64 = size_of::<FipHeader>() as u64;
const ENTRY_SIZE: u64 = size_of::<FipEntry>() as u64;
/// An upper bound on the number of entries; TF-A has about 40 kinds of images.
const ENTRIES_MAX: usize = 256;

/// The maximum size of an image, in bytes: more than any boot flash can hold. A stray section in an
/// ELF file can make `objcopy` write a gigabyte-sized file, which cannot be a firmware image.
pub const IMAGE_MAX: usize = 128 << 20;
/// The maximum size of a package, in bytes: larger than the flash on any board.
pub const PACKAGE_MAX: usize = 4 * IMAGE_MAX;

/// The header of a package.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct FipHeader {
    magic: U32,
    serial: U32,
    flags: U64,
}

/// The entry for an image in a package.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct FipEntry {
    uuid: [u8; 16],
    offset: U64,
    size: U64,
    flags: U64,
}

impl FipEntry {
    fn new(uuid: Uuid, offset: u64, size: u64, flags: u64) -> Self {
        Self {
            uuid: uuid.into_bytes(),
            offset: offset.into(),
            size: size.into(),
            flags: flags.into(),
        }
    }

    fn uuid(&self) -> Uuid {
        Uuid::from_bytes(self.uuid)
    }
}

/// A Firmware Image Package: the fields of its header, and its images.
#[derive(Clone, Debug)]
pub struct Fip {
    /// The header serial number of the file it was read from. [`Fip::build`] writes fiptool's.
    pub serial: u32,
    /// The header flags; bits 47:32 are platform-specific.
    pub flags: u64,
    /// The images, in the order they were read or added.
    pub images: Vec<Image>,
    /// The alignment, in bytes, of each image and of the end of the package when it is written.
    align: u64,
    /// The number of images at the start of the list that [`Fip::put`] inserted.
    put: usize,
}

/// An image in a package.
#[derive(Clone, Debug)]
pub struct Image {
    /// Identifies the kind of image; see [`boards::image_kinds`].
    pub uuid: Uuid,
    /// The entry's flags.
    pub flags: u64,
    /// The image's offset in the file it was read from; 0 if it is new.
    pub offset: u64,
    /// The bytes of the image.
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

/// A package read from a file, valid or not.
#[derive(Debug)]
pub struct Inspected {
    /// The images and header fields that could be read.
    pub fip: Fip,
    /// The faults that firmware cannot handle, one sentence each, including the location.
    pub faults: Vec<String>,
    /// A warning about trailing bytes, if there are any; they are harmless.
    pub rest: Option<String>,
}

impl Fip {
    /// Reads `file`. Trailing bytes are harmless and only cause a warning.
    ///
    /// # Errors
    /// Returns an error if the FIP is malformed.
    pub fn read(file: &[u8]) -> Result<(Self, Option<String>)> {
        let Inspected { fip, faults, rest } = Self::inspect(file)?;
        match faults.into_iter().next() {
            Some(fault) => bail!(fault),
            None => Ok((fip, rest)),
        }
    }

    /// Reads `file`, and continues after faults that leave the bytes of each image well defined,
    /// because fiptool writes and repairs such packages.
    ///
    /// # Errors
    /// Returns an error if the file is not a package or does not contain all the bytes of an image.
    pub fn inspect(file: &[u8]) -> Result<Inspected> {
        let (header, rest) = header(file)?;
        let (entries, terminator) = list(file, rest)?;
        let entry_offset = |index: usize| HEADER_SIZE + ENTRY_SIZE * index as u64;
        let list_end = entry_offset(entries.len() + 1);
        let mut faults = Vec::new();
        if header.serial.get() == 0 {
            let fault = "the serial number is 0, so firmware does not accept this as a FIP";
            faults.push(format!("offset 0x4: {fault}"));
        }
        if entries.is_empty() {
            faults.push(format!(
                "offset {HEADER_SIZE:#x}: the package has no entries"
            ));
        }
        let mut fip = Self {
            serial: header.serial.get(),
            flags: header.flags.get(),
            ..Self::default()
        };
        for (index, entry) in entries.iter().enumerate() {
            let place = format!(
                "entry {index} ({}) at offset {:#x}",
                label(entry.uuid()),
                entry_offset(index)
            );
            let image = fip.read_image(entry, file).context(place.clone())?;
            let image_faults = fip.faults_of(&image, list_end);
            faults.extend(image_faults.map(|fault| format!("{place}: {fault}")));
            fip.images.push(image);
        }
        let last = fip.images.iter().map(Image::end).max().unwrap_or(list_end);
        let size = file.len() as u64;
        let place = format!("offset {:#x}: the terminator", entry_offset(entries.len()));
        let terminator_faults = faults_of_terminator(terminator, last, size);
        faults.extend(terminator_faults.map(|fault| format!("{place}: {fault}")));
        let end = terminator.offset.get();
        let after = size.saturating_sub(end);
        let is_end = (last..size).contains(&end);
        let rest =
            is_end.then(|| format!("{after} bytes follow the end of the package at {end:#x}"));
        Ok(Inspected { fip, faults, rest })
    }

    /// Reads an entry's image.
    fn read_image(&self, entry: &FipEntry, file: &[u8]) -> Result<Image> {
        let uuid = entry.uuid();
        let flags = entry.flags.get();
        let offset = entry.offset.get();
        let size = entry.size.get();
        let Some(end) = offset.checked_add(size) else {
            bail!("{offset:#x} + {size:#x} exceeds 64 bits");
        };
        let data = file.get(offset as usize..end as usize);
        // The offset of an empty image does not matter.
        let Some(data) = data.or((size == 0).then_some(&[])) else {
            bail!(
                "its data ends at {end:#x}, but the file ends at {:#x}",
                file.len()
            );
        };
        if let Some(index) = self
            .images
            .iter()
            .position(|earlier_image| earlier_image.uuid == uuid)
        {
            bail!("entry {index} has the same UUID");
        }
        Ok(Image {
            uuid,
            flags,
            offset,
            data: data.to_vec(),
        })
    }

    /// Returns the faults in an image, including overlaps with the list of entries and with earlier
    /// images.
    fn faults_of(&self, image: &Image, list_end: u64) -> impl Iterator<Item = String> {
        let offset = image.offset;
        let end = image.end();
        let is_empty = image.data.is_empty();
        let no_size = is_empty.then(|| "its size is 0".to_owned());
        let over_list = (!is_empty && offset < list_end).then(|| {
            format!(
                "its data at {offset:#x} overlaps the list of entries, which ends at {list_end:#x}"
            )
        });
        let overlaps =
            |earlier_image: &Image| offset < earlier_image.end() && earlier_image.offset < end;
        let earlier = self
            .images
            .iter()
            .position(|image| !is_empty && overlaps(image));
        let over_image = earlier.map(|index| {
            let label = label(self.images[index].uuid);
            format!("its data {offset:#x}..{end:#x} overlaps that of entry {index} ({label})")
        });
        [no_size, over_list, over_image].into_iter().flatten()
    }

    /// Returns the bytes of the image identified by `uuid`.
    pub fn get(&self, uuid: Uuid) -> Option<&[u8]> {
        let image = self.images.iter().find(|image| image.uuid == uuid)?;
        Some(&image.data)
    }

    /// Returns the alignment of all images in the file, in bytes: a power of two up to 1 MiB.
    pub fn alignment(&self) -> u64 {
        let offsets = self.images.iter().map(|image| image.offset);
        1 << offsets.map(u64::trailing_zeros).min().unwrap_or(0).min(20)
    }

    /// Removes the image identified by `uuid`; returns true if it was present.
    pub fn remove(&mut self, uuid: Uuid) -> bool {
        let Some(index) = self.images.iter().position(|image| image.uuid == uuid) else {
            return false;
        };
        self.images.remove(index);
        self.put -= usize::from(index < self.put);
        true
    }

    /// Adds an image, or replaces the existing one. Like fiptool, inserts an image whose kind has
    /// no command-line option before the images already in the package.
    pub fn put(&mut self, uuid: Uuid, data: Vec<u8>) -> Result<()> {
        if uuid.is_nil() {
            bail!("an all-zero UUID marks the end of the list and cannot identify an image");
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

    /// Sets the alignment in bytes of each image and of the end of the package.
    pub fn align(&mut self, align: u64) -> Result<()> {
        if !align.is_power_of_two() || align > 1 << 20 {
            bail!("the alignment {align} is not a power of two up to 1 MiB");
        }
        self.align = align;
        Ok(())
    }

    /// Sets the platform-specific part of the header flags.
    pub fn platform_flags(&mut self, flags: u16) {
        self.flags = self.flags & !(0xffff << 32) | u64::from(flags) << 32;
    }

    /// Builds the file. Known images come first, in fiptool order. An empty image gets no entry,
    /// and the space for its entry stays unused.
    ///
    /// # Errors
    /// Returns an error if the file would exceed [`PACKAGE_MAX`].
    pub fn build(&self) -> Result<Vec<u8>> {
        let mut images: Vec<_> = self.images.iter().collect();
        let place = |uuid: Uuid| IMAGE_KINDS.iter().position(|kind| kind.uuid == uuid);
        images.sort_by_key(|image| place(image.uuid).unwrap_or(IMAGE_KINDS.len()));
        let mut file = Vec::new();
        let header = FipHeader {
            magic: MAGIC.into(),
            serial: SERIAL.into(),
            flags: self.flags.into(),
        };
        file.extend(header.as_bytes());
        let first = HEADER_SIZE + ENTRY_SIZE * (images.len() as u64 + 1);
        images.retain(|image| !image.data.is_empty());
        let mut at = first;
        for image in &images {
            let size = image.data.len() as u64;
            at = at.next_multiple_of(self.align);
            file.extend(FipEntry::new(image.uuid, at, size, image.flags).as_bytes());
            at += size;
        }
        let end = at.next_multiple_of(self.align);
        if end > PACKAGE_MAX as u64 {
            bail!("the package would be {end} bytes; the maximum is {PACKAGE_MAX}");
        }
        file.extend(FipEntry::new(Uuid::nil(), end, 0, 0).as_bytes());
        file.resize(first as usize, 0);
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

/// Returns the header and the bytes after it.
fn header(file: &[u8]) -> Result<(&FipHeader, &[u8])> {
    let Ok((header, rest)) = FipHeader::ref_from_prefix(file) else {
        bail!("offset {:#x}: the file ends within the header", file.len());
    };
    let magic = header.magic.get();
    if magic != MAGIC {
        bail!("offset 0x0: not a FIP: {magic:#010x} instead of {MAGIC:#010x}");
    }
    Ok((header, rest))
}

/// Returns the entries in `list` and the terminator.
fn list<'f>(file: &[u8], mut list: &'f [u8]) -> Result<(Vec<&'f FipEntry>, &'f FipEntry)> {
    let mut entries = Vec::new();
    while let Ok((entry, rest)) = FipEntry::ref_from_prefix(list) {
        if entry.uuid().is_nil() {
            return Ok((entries, entry));
        }
        if entries.len() == ENTRIES_MAX {
            bail!("more than {ENTRIES_MAX} entries");
        }
        entries.push(entry);
        list = rest;
    }
    let size = file.len();
    bail!("offset {size:#x}: the file ends within the list of entries, before its terminator")
}

/// Returns the terminator's faults. The terminator's offset is the end of the package, which must
/// not be before the last byte of an image or after the end of the file. (fiptool rounds this
/// offset up to the alignment.)
fn faults_of_terminator(
    terminator: &FipEntry,
    last: u64,
    file: u64,
) -> impl Iterator<Item = String> {
    let end = terminator.offset.get();
    let has_more = terminator.size.get() != 0 || terminator.flags.get() != 0;
    let more = has_more.then(|| "its size or flags are nonzero".to_owned());
    let wrong_end = (!(last..=file).contains(&end)).then(|| {
        format!(
            "the end of the package at {end:#x} is not between the end of the last image at \
             {last:#x} and the end of the file at {file:#x}"
        )
    });
    [more, wrong_end].into_iter().flatten()
}
