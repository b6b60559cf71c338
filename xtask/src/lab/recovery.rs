//! The recovery image for a board: a zip of all the files on its SD card, including the FIP.
//!
//! The image comes from the user and is not trusted. The new zip contains a different FIP. All the
//! other files are copied without being recompressed.

use std::io::{self, Cursor, Write};

use anyhow::{Context, Result, bail, ensure};
use zip::read::{ArchiveOffset, Config};
use zip::{ZipArchive, ZipWriter};

#[cfg(test)]
mod tests;

/// The maximum size of a recovery image, in bytes. Published images are about 10 MB.
pub const FILE_MAX: usize = 512 << 20;
/// The maximum size of the FIP in a recovery image, in bytes.
const FIP_MAX: u64 = 64 << 20;
/// The maximum total size of all unpacked files, in bytes: the capacity of the boards' SD cards.
const UNPACKED_MAX: u64 = 2 << 30;

/// Returns true if `file` starts like a zip. The zip may still be damaged.
pub fn is_zip(file: &[u8]) -> bool {
    file.starts_with(b"PK")
}

type Archive<'r> = ZipArchive<Cursor<&'r [u8]>>;

/// Returns `file`, a zip, with its FIP `member` replaced by the FIP that `make` returns. The FIP's
/// entry in the zip keeps its name, date, attributes, comment and compression method.
pub fn replace_fip(
    file: &[u8],
    member: &str,
    make: impl FnOnce(&[u8]) -> Result<Vec<u8>>,
) -> Result<Vec<u8>> {
    let mut archive = open(file)?;
    let fip = find_fip(&mut archive, member)?;
    check_files(&mut archive, UNPACKED_MAX)?;
    let new = make(&read_fip(&mut archive, fip, FIP_MAX)?)?;
    let mut out = ZipWriter::new(Cursor::new(Vec::new()));
    out.set_raw_comment(archive.comment().into())?;
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index)?;
        if index != fip {
            out.raw_copy_file(entry)?;
            continue;
        }
        let options = entry.options().into_full_options();
        out.start_file(member, options.with_file_comment(entry.comment()))?;
        out.write_all(&new)?;
    }
    Ok(out.finish()?.into_inner())
}

fn open(file: &[u8]) -> Result<Archive<'_>> {
    // The search for a zip that follows other bytes is disabled, because it makes the crate reject
    // some zips with 64-bit offsets.
    let archive_offset = ArchiveOffset::Known(0);
    let archive = ZipArchive::with_config(Config { archive_offset }, Cursor::new(file));
    let archive = archive.map_err(anyhow::Error::from).and_then(|mut it| {
        it.validate_header_consistency()?;
        Ok(it)
    });
    archive.context("the zip is damaged, or is not at the start of the file")
}

/// Unpacks all files, up to `max` bytes in total, to find damaged ones.
fn check_files(archive: &mut Archive<'_>, max: u64) -> Result<()> {
    let mut left = max;
    for index in 0..archive.len() {
        let read = unpack(archive, index, left, &mut io::sink())?;
        left = left
            .checked_sub(read)
            .with_context(|| format!("the files in the zip exceed the limit of {max} bytes"))?;
    }
    Ok(())
}

fn read_fip(archive: &mut Archive<'_>, index: usize, max: u64) -> Result<Vec<u8>> {
    let mut fip = Vec::new();
    let read = unpack(archive, index, max, &mut fip)?;
    ensure!(read <= max, "the FIP exceeds the limit of {max} bytes");
    Ok(fip)
}

/// Unpacks a file into `out`, stopping one byte past `max`. Returns the actual number of bytes,
/// because the size stated in the zip is not trusted.
fn unpack(archive: &mut Archive<'_>, index: usize, max: u64, out: &mut dyn Write) -> Result<u64> {
    let name = archive.by_index_raw(index)?.name()?.into_owned();
    let file = archive.by_index(index).map_err(io::Error::from);
    let read = file.and_then(|it| io::copy(&mut io::Read::take(it, max + 1), out));
    read.with_context(|| format!("{name} cannot be unpacked; store or deflate it instead"))
}

/// Returns the index of `member`. No other file may have the same name in a different case, because
/// a FAT card ignores case.
fn find_fip(archive: &mut Archive<'_>, member: &str) -> Result<usize> {
    let (mut found, mut other) = (None, None);
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index)?;
        let name = entry.name()?.into_owned();
        if entry.encrypted() {
            bail!("{name:?} is encrypted; use a zip without encryption");
        }
        if entry.enclosed_name().is_none() {
            bail!("the path {name:?} points outside the SD card");
        }
        if name == member {
            found = Some(index);
        } else if name.eq_ignore_ascii_case(member) {
            other = Some(name);
        }
    }
    match (found, other) {
        (Some(index), None) => Ok(index),
        (None, None) => bail!("the zip has no {member}"),
        (None, Some(other)) => bail!("the zip has {other}, but no {member}"),
        (Some(_), Some(other)) => bail!(
            "the zip contains both {member} and {other}, which are the same file on a FAT card; \
             remove the wrong one"
        ),
    }
}
