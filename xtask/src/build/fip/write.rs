//! The writer: the same bytes for the same input, and fiptool's for fiptool's.

use anyhow::{Result, bail};
use uuid::Uuid;

use super::layout::{ENTRIES_MAX, ENTRY_SIZE, HEADER_SIZE, MAGIC};
use super::read::Package;
use crate::board::image_kinds::{KINDS, label};

/// fiptool's serial number; any but 0 will do.
const SERIAL: u32 = 0x1234_5678;

/// A package in the making.
#[derive(Clone, Debug)]
pub struct Builder {
    images: Vec<Image>,
    align: u64,
    serial: u32,
    flags: u64,
    /// Number of the first images that were put in by [`Builder::put`].
    put: usize,
}

#[derive(Clone, Debug)]
struct Image {
    uuid: Uuid,
    data: Vec<u8>,
    flags: u64,
}

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
    /// Takes over all images of `package`, which was read from `file`.
    pub fn of(package: &Package, file: &[u8]) -> Result<Self> {
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

    /// Returns the bytes of the image `uuid`.
    pub fn get(&self, uuid: Uuid) -> Option<&[u8]> {
        let image = self.images.iter().find(|image| image.uuid == uuid)?;
        Some(&image.data)
    }

    /// Lists the images.
    pub fn uuids(&self) -> impl Iterator<Item = Uuid> {
        self.images.iter().map(|image| image.uuid)
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
    pub fn put(&mut self, uuid: Uuid, data: Vec<u8>) -> Result<&mut Self> {
        self.remove(uuid);
        self.image(uuid, data)?;
        if let Some(image) = self.images.pop() {
            self.images.insert(self.put, image);
            self.put += 1;
        }
        Ok(self)
    }

    /// Sets the alignment in bytes of each image and of the package's end.
    pub fn align(&mut self, align: u64) -> Result<&mut Self> {
        if !align.is_power_of_two() || align > 1 << 20 {
            bail!("the alignment {align} is not a power of two up to a MiB");
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
    pub fn image(&mut self, uuid: Uuid, data: Vec<u8>) -> Result<&mut Self> {
        if uuid.is_nil() {
            bail!("a UUID of zeros ends the list and names no image");
        }
        if data.is_empty() {
            bail!("{}: the file is empty", label(uuid));
        }
        if self.get(uuid).is_some() {
            bail!("{}: given twice", label(uuid));
        }
        if self.images.len() == ENTRIES_MAX {
            bail!("more than {ENTRIES_MAX} images");
        }
        let flags = 0;
        self.images.push(Image { uuid, data, flags });
        Ok(self)
    }

    /// Makes the package. Known images come in fiptool's order, and the others after them.
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
        entry(&mut file, Uuid::nil(), [end, 0, 0]);
        for (image, at) in images.iter().zip(places) {
            file.resize(at as usize, 0);
            file.extend(&image.data);
        }
        file.resize(end as usize, 0);
        Ok(file)
    }
}

fn entry(file: &mut Vec<u8>, uuid: Uuid, offset_size_flags: [u64; 3]) {
    file.extend(uuid.as_bytes());
    for value in offset_size_flags {
        file.extend(value.to_le_bytes());
    }
}
