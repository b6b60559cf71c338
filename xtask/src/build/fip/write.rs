//! The writer: the same bytes for the same input, and fiptool's for fiptool's.

use std::fmt;

use super::layout::{ENTRIES_MAX, ENTRY_SIZE, HEADER_SIZE, IMAGE_MAX, MAGIC};
use super::read::Package;
use crate::board::Uuid;
use crate::board::image_kinds::{KINDS, label};

/// What fiptool writes for a serial number; any but 0 will do.
const SERIAL: u32 = 0x1234_5678;

/// A package in the making.
#[derive(Clone, Debug)]
pub struct Builder {
    images: Vec<Image>,
    align: u64,
    serial: u32,
    flags: u64,
    /// How many of the first images were put in by [`Builder::put`].
    put: usize,
}

#[derive(Clone, Debug)]
struct Image {
    uuid: Uuid,
    data: Vec<u8>,
    flags: u64,
}

/// Why a package cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteError {
    /// There is no image at all.
    Empty,
    /// The same image twice.
    Duplicate(Uuid),
    /// An image of no bytes.
    NoBytes(Uuid),
    /// An image larger than any boot flash.
    TooLarge(Uuid, usize),
    /// A UUID of zeros, which ends the list.
    Nil,
    /// Too many images.
    TooMany,
    /// An alignment that is no power of two, or is a MiB or more.
    Alignment(u64),
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "no image is given"),
            Self::Duplicate(uuid) => write!(f, "{}: given twice", label(*uuid)),
            Self::NoBytes(uuid) => write!(f, "{}: the file is empty", label(*uuid)),
            Self::TooLarge(uuid, size) => write!(
                f,
                "{}: {size} bytes are more than a boot flash holds; is it a flat binary?",
                label(*uuid)
            ),
            Self::Nil => write!(f, "a UUID of zeros ends the list and names no image"),
            Self::TooMany => write!(f, "more than {ENTRIES_MAX} images"),
            Self::Alignment(align) => {
                write!(f, "the alignment {align} is not a power of two up to a MiB")
            }
        }
    }
}

impl std::error::Error for WriteError {}

impl Default for Builder {
    fn default() -> Self {
        Self {
            images: Vec::new(),
            align: 1,
            serial: SERIAL,
            flags: 0,
            put: 0,
        }
    }
}

impl Builder {
    /// All that is in `package`, which was read from `file`: to be changed.
    ///
    /// # Errors
    /// When an image of it cannot be in a package.
    pub fn of(package: &Package, file: &[u8]) -> Result<Self, WriteError> {
        let mut builder = Self {
            serial: package.serial,
            flags: package.flags,
            ..Self::default()
        };
        for entry in &package.entries {
            let data = file.get(entry.range.clone()).unwrap_or_default();
            builder.image(entry.uuid, data.to_vec())?;
            if let Some(image) = builder.images.last_mut() {
                image.flags = entry.flags;
            }
        }
        Ok(builder)
    }

    /// The bytes of the image `uuid`, if it is there.
    #[must_use]
    pub fn get(&self, uuid: Uuid) -> Option<&[u8]> {
        let image = self.images.iter().find(|image| image.uuid == uuid)?;
        Some(&image.data)
    }

    /// Which images are there.
    pub fn uuids(&self) -> impl Iterator<Item = Uuid> {
        self.images.iter().map(|image| image.uuid)
    }

    /// Takes the image `uuid` out, and says whether it was there.
    pub fn remove(&mut self, uuid: Uuid) -> bool {
        let Some(index) = self.images.iter().position(|image| image.uuid == uuid) else {
            return false;
        };
        self.images.remove(index);
        self.put -= usize::from(index < self.put);
        true
    }

    /// Adds an image, or replaces the one that is there. As with fiptool, what
    /// no option names comes before what was in the package already.
    ///
    /// # Errors
    /// As [`Builder::image`].
    pub fn put(&mut self, uuid: Uuid, data: Vec<u8>) -> Result<&mut Self, WriteError> {
        self.remove(uuid);
        self.image(uuid, data)?;
        if let Some(image) = self.images.pop() {
            self.images.insert(self.put, image);
            self.put += 1;
        }
        Ok(self)
    }

    /// Sets the alignment in bytes of each image and of the package's end.
    ///
    /// # Errors
    /// When it is not a power of two.
    pub fn align(&mut self, align: u64) -> Result<&mut Self, WriteError> {
        if !align.is_power_of_two() || align > 1 << 20 {
            return Err(WriteError::Alignment(align));
        }
        self.align = align;
        Ok(self)
    }

    /// Sets the header's flags that are the platform's.
    pub fn platform_flags(&mut self, flags: u16) -> &mut Self {
        self.flags = self.flags & !(0xffff << 32) | u64::from(flags) << 32;
        self
    }

    /// Adds an image.
    ///
    /// # Errors
    /// When it cannot be in a package, or is already.
    pub fn image(&mut self, uuid: Uuid, data: Vec<u8>) -> Result<&mut Self, WriteError> {
        if uuid == Uuid::NIL {
            return Err(WriteError::Nil);
        }
        if data.is_empty() {
            return Err(WriteError::NoBytes(uuid));
        }
        if data.len() > IMAGE_MAX {
            return Err(WriteError::TooLarge(uuid, data.len()));
        }
        if self.get(uuid).is_some() {
            return Err(WriteError::Duplicate(uuid));
        }
        if self.images.len() == ENTRIES_MAX {
            return Err(WriteError::TooMany);
        }
        self.images.push(Image {
            uuid,
            data,
            flags: 0,
        });
        Ok(self)
    }

    /// The package. Known images come in fiptool's order, whatever the order
    /// they were added in, and the others behind them.
    ///
    /// # Errors
    /// When there is no image.
    pub fn build(&self) -> Result<Vec<u8>, WriteError> {
        if self.images.is_empty() {
            return Err(WriteError::Empty);
        }
        let mut images: Vec<_> = self.images.iter().collect();
        let place = |uuid: Uuid| KINDS.iter().position(|kind| kind.uuid == uuid);
        images.sort_by_key(|image| place(image.uuid).unwrap_or(KINDS.len()));
        let mut file = Vec::new();
        file.extend(MAGIC.to_le_bytes());
        file.extend(self.serial.to_le_bytes());
        file.extend(self.flags.to_le_bytes());
        let mut at = HEADER_SIZE + ENTRY_SIZE * (images.len() as u64 + 1);
        let mut places = Vec::new();
        for image in &images {
            at = at.next_multiple_of(self.align);
            let size = image.data.len() as u64;
            entry(&mut file, image.uuid, [at, size, image.flags]);
            places.push(at);
            at += size;
        }
        let end = at.next_multiple_of(self.align);
        entry(&mut file, Uuid::NIL, [end, 0, 0]);
        for (image, at) in images.iter().zip(places) {
            pad(&mut file, at);
            file.extend(&image.data);
        }
        pad(&mut file, end);
        Ok(file)
    }
}

fn entry(file: &mut Vec<u8>, uuid: Uuid, offset_size_flags: [u64; 3]) {
    file.extend(uuid.0);
    for value in offset_size_flags {
        file.extend(value.to_le_bytes());
    }
}

/// Images are at most [`IMAGE_MAX`] bytes, so that no offset is beyond usize.
fn pad(file: &mut Vec<u8>, to: u64) {
    file.resize(to as usize, 0);
}
