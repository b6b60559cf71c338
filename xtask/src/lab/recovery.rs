//! A board's recovery image: a zip of all files on its SD card, one of which is the FIP.
//!
//! The image is the user's and is not trusted. It becomes a new zip with another FIP, into
//! which all other files are copied without being unpacked.

use std::io::{self, Cursor, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use itertools::Itertools;
use zip::read::{ArchiveOffset, Config};
use zip::{CompressionMethod, ZipArchive, ZipWriter};

#[cfg(test)]
mod tests;

/// The largest recovery image that is read, in bytes. Published ones have some 10 MB.
pub const FILE_MAX: usize = 512 << 20;
/// The largest FIP in a recovery image, in bytes.
pub const FIP_MAX: u64 = 64 << 20;
/// The most bytes of all files unpacked: the size of an SD card for such boards.
pub const UNPACKED_MAX: u64 = 2 << 30;

/// Returns whether `file` is a zip, which may be broken, or has one at its end.
pub fn is_zip(file: &[u8]) -> bool {
    file.starts_with(b"PK") || ZipArchive::new(Cursor::new(file)).is_ok()
}

type Archive<'r> = ZipArchive<Cursor<&'r [u8]>>;

/// A recovery image.
pub struct Recovery<'r> {
    archive: Archive<'r>,
    /// The FIP's name in the zip.
    member: String,
    /// The index of the FIP among the files.
    fip: usize,
}

impl<'r> Recovery<'r> {
    /// Opens `file`, in which the FIP is called `member`.
    pub fn open(file: &'r [u8], member: &str) -> Result<Self> {
        const BROKEN: &str = "this is a broken zip";
        // The crate's search for a zip after other bytes rejects some zips with 64-bit offsets.
        let archive_offset = ArchiveOffset::Known(0);
        let archive = ZipArchive::with_config(Config { archive_offset }, Cursor::new(file));
        let is_later = || ZipArchive::new(Cursor::new(file)).is_ok_and(|it| it.offset() > 0);
        if !file.starts_with(b"PK") || archive.is_err() && is_later() {
            bail!(
                "other bytes come before the zip, as in an archive that unpacks itself: give the \
                 zip alone"
            );
        }
        let mut archive = archive.context(BROKEN)?;
        archive.validate_header_consistency().context(BROKEN)?;
        let fip = find_fip(&mut archive, member)?;
        Ok(Self {
            archive,
            member: member.to_owned(),
            fip,
        })
    }

    /// Unpacks all files, to find broken ones. Returns the names of those that are neither
    /// stored nor deflated and therefore cannot be checked. Refuses more than `max` bytes.
    pub fn check_files(&mut self, max: u64) -> Result<Vec<String>> {
        let mut unchecked = Vec::new();
        let mut left = max;
        for index in 0..self.archive.len() {
            let entry = self.archive.by_index_raw(index)?;
            let (name, method) = (entry.name()?.into_owned(), entry.compression());
            let flags = entry.flags().as_u16();
            drop(entry);
            if ![CompressionMethod::Stored, CompressionMethod::Deflated].contains(&method) {
                // LZMA and imploding need these flags, and a copy is without them.
                if flags & 0b110 != 0 {
                    bail!("{name} cannot be copied as it is compressed: store or deflate it");
                }
                unchecked.push(name);
                continue;
            }
            let unpacked = self.archive.by_index(index).map_err(io::Error::from);
            // The size in the zip is not trusted.
            let read = unpacked.and_then(|it| io::copy(&mut it.take(left + 1), &mut io::sink()));
            let read = read.with_context(|| format!("{name} cannot be unpacked"))?;
            left = left.checked_sub(read).with_context(|| {
                format!("the files of the zip have more than {max} bytes, which is the limit")
            })?;
        }
        Ok(unchecked)
    }

    /// Returns the FIP if it has at most `max` bytes.
    pub fn read_fip(&mut self, max: u64) -> Result<Vec<u8>> {
        let name = &self.member;
        let mut fip = Vec::new();
        let unpacked = self.archive.by_index(self.fip).map_err(io::Error::from);
        unpacked
            .and_then(|it| it.take(max + 1).read_to_end(&mut fip))
            .with_context(|| format!("{name} cannot be unpacked"))?;
        if fip.len() as u64 > max {
            bail!("{name} has more than {max} bytes, which is the limit");
        }
        Ok(fip)
    }

    /// Returns a zip with `fip` as the FIP, which keeps its name, date, attributes, comment and
    /// method of compression, and with copies of all other files.
    pub fn replace_fip(mut self, fip: &[u8]) -> Result<Vec<u8>> {
        let mut out = ZipWriter::new(Cursor::new(Vec::new()));
        out.set_raw_comment(self.archive.comment().into())?;
        for index in 0..self.archive.len() {
            let entry = self.archive.by_index_raw(index)?;
            if index != self.fip {
                out.raw_copy_file(entry)?;
                continue;
            }
            let options = entry.options().into_full_options();
            out.start_file(&self.member, options.with_file_comment(entry.comment()))?;
            out.write_all(fip)?;
        }
        let new = out.finish()?.into_inner();
        self.verify(&new, fip)?;
        Ok(new)
    }

    /// Refuses the zip `new` unless its FIP is `fip` and all other files are as in this one.
    fn verify(&mut self, new: &[u8], fip: &[u8]) -> Result<()> {
        let mut copy = Recovery::open(new, &self.member).context("the new zip")?;
        let read = copy.read_fip(fip.len() as u64).context("the new zip")?;
        ensure!(read == fip, "the new zip has another FIP");
        let count = self.archive.len();
        ensure!(copy.archive.len() == count, "the new zip has other files");
        for index in (0..count).filter(|index| *index != self.fip) {
            let old = read_packed(&mut self.archive, index)?;
            let new = read_packed(&mut copy.archive, index)?;
            ensure!(old == new, "the new zip has another {}", old.0);
        }
        Ok(())
    }
}

/// A file as it is compressed: its name, method, checksum and size, and data.
type Packed = (String, CompressionMethod, (u32, u64), Vec<u8>);

fn read_packed(archive: &mut Archive<'_>, index: usize) -> Result<Packed> {
    let mut entry = archive.by_index_raw(index)?;
    let mut data = Vec::new();
    entry.read_to_end(&mut data)?;
    let sizes = (entry.crc32(), entry.size());
    let name = entry.name()?.into_owned();
    Ok((name, entry.compression(), sizes, data))
}

/// Returns the index of `member`, which must be the only file that becomes the FIP on a card.
fn find_fip(archive: &mut Archive<'_>, member: &str) -> Result<usize> {
    let wanted = card_path(Path::new(member));
    let file_name = wanted.rsplit('/').next();
    let (mut found, mut similar) = (None, Vec::new());
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index)?;
        let name = entry.name()?.into_owned();
        if entry.encrypted() {
            bail!("{name:?} is encrypted: give a zip without encryption");
        }
        let Some(path) = entry.enclosed_name() else {
            bail!("{name:?} leads out of the card");
        };
        let path = card_path(&path);
        if name == member {
            found = Some(index);
        } else if path.rsplit('/').next() == file_name {
            similar.push((name, path));
        }
    }
    let Some(index) = found else {
        let names = similar.iter().take(3).map(|(name, _)| name).join(", ");
        let but = if names.is_empty() { "" } else { ", but " };
        bail!("the zip has no {member}{but}{names}");
    };
    if let Some((other, _)) = similar.iter().find(|(_, path)| *path == wanted) {
        bail!(
            "the zip has both {member} and {other}, which are one file on a FAT card: remove the \
             wrong one"
        );
    }
    Ok(index)
}

/// Returns `path` as a FAT card has it: without upper case, and without dots and blanks at
/// the end of a name.
fn card_path(path: &Path) -> String {
    path.iter()
        .map(|part| part.to_string_lossy().to_lowercase())
        .map(|part| part.trim_end_matches(['.', ' ']).to_owned())
        .join("/")
}
