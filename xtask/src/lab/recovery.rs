//! A board's recovery image: a zip of all that is on its SD card, of which the
//! FIP is one file.
//!
//! It is the user's: it is distrusted, and all but the FIP stays as it is, byte
//! for byte: `splice` puts the new one in, and `list` says where.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, Cursor, Read, Seek};
use std::ops::Range;

use anyhow::{Context, Result, bail};
use zip::ZipArchive;
use zip::read::{ArchiveOffset, Config, ZipFile};

use self::list::{BROKEN, Bytes, List, Record};
use self::splice::{DEFLATED, LOCAL_SIZE, SIZES_AFTER, STORED};

mod list;
mod splice;
#[cfg(test)]
mod tests;

/// The largest recovery image that is read, in bytes. Published ones have some
/// 10 MB.
pub const FILE_MAX: usize = 512 << 20;
/// The largest FIP in it, in bytes.
const FIP_MAX: u64 = 64 << 20;
/// The most bytes of all files unpacked: the size of an SD card for such boards.
const UNPACKED_MAX: u64 = 2 << 30;

/// Returns whether `file` is a zip, rather than a FIP.
pub fn is_zip(file: &[u8]) -> bool {
    // A zip with files, an empty one, and one part of a split one.
    [&b"PK\x03\x04"[..], b"PK\x05\x06", b"PK\x07\x08"]
        .iter()
        .any(|magic| file.starts_with(magic))
}

/// Returns whether `file` ends as a zip, and begins with something else.
pub fn has_zip(file: &[u8]) -> bool {
    !is_zip(file) && list::ends_as_one(file)
}

/// A recovery image.
pub struct Recovery<'r> {
    file: &'r [u8],
    list: List<'r>,
    archive: ZipArchive<Cursor<Cow<'r, [u8]>>>,
    /// The header, data, and sizes after them of each file.
    extents: Vec<Range<usize>>,
    /// The FIP's name.
    member: String,
    /// The place of the FIP among the files.
    fip: usize,
}

impl<'r> Recovery<'r> {
    /// Opens `file`, in which the FIP is called `member`.
    pub fn open(file: &'r [u8], member: &str) -> Result<Self> {
        if !is_zip(file) {
            bail!("this is no zip");
        }
        let list = List::read(file)?;
        let mut names = HashSet::new();
        if let Some(record) = list.records.iter().find(|it| !names.insert(it.name)) {
            bail!("two files in it are called {:?}", record.shown());
        }
        if let Some(record) = list.records.iter().find(|it| it.is_encrypted()) {
            let name = record.shown();
            bail!("{name:?} is encrypted: give a zip that is not");
        }
        // The zip begins where the file does: `list` has checked that.
        let archive_offset = ArchiveOffset::Known(0);
        let bytes = Cursor::new(list.without_comment(file));
        let archive = ZipArchive::with_config(Config { archive_offset }, bytes);
        let mut archive = archive.context(BROKEN)?;
        if archive.has_overlapping_entries().context(BROKEN)? {
            bail!("{BROKEN}: two files in it have bytes in common");
        }
        let extents = extents(file, &mut archive, &list).context(BROKEN)?;
        let mut this = Self {
            file,
            list,
            archive,
            extents,
            member: member.to_owned(),
            fip: 0,
        };
        this.fip = this.find()?;
        Ok(this)
    }

    /// Returns the place of the FIP, which is the only file that can become it on a
    /// card.
    fn find(&mut self) -> Result<usize> {
        let wanted = on_card(&self.member);
        let (mut found, mut same, mut others) = (None, Vec::new(), Vec::new());
        for (place, listed) in self.list.records.iter().enumerate() {
            let name = called(&self.archive.by_index_raw(place)?)?;
            // `name` is the zip crate's reading, `plain` the bytes of the list: unpackers
            // use the one or the other, so both are checked.
            let plain = listed.shown();
            if plain.split(['/', '\\']).any(|part| part == "..") {
                bail!("{plain:?} in it leads out of the card");
            }
            if name == self.member && plain == self.member {
                found = Some(place);
                continue;
            }
            let ways = [on_card(&name), on_card(&plain)];
            // Where the FIP may be, for who has it elsewhere.
            let last = |way: &String| way.rsplit('/').next() == Some("fip.bin");
            if ways.contains(&wanted) {
                same.push(name);
            } else if ways.iter().any(last) && others.len() < 3 {
                others.push(name);
            }
        }
        let member = &self.member;
        match (found, same.as_slice()) {
            (Some(place), []) => Ok(place),
            (Some(_), [other, ..]) => bail!(
                "{member} and {other} are both in it, and are one file on a FAT card: take the \
                 wrong one out"
            ),
            (None, _) => {
                same.extend(others);
                match same.is_empty() {
                    true => bail!("there is no {member} in it"),
                    false => bail!("there is no {member} in it, but {}", same.join(", ")),
                }
            }
        }
    }

    /// Unpacks all files, to see that none is broken. Returns those that are compressed in a way
    /// that is not known here: these are not checked.
    pub fn check(&mut self) -> Result<Vec<String>> {
        self.check_within(UNPACKED_MAX)
    }

    fn check_within(&mut self, most: u64) -> Result<Vec<String>> {
        let mut unknown = Vec::new();
        let mut left = most;
        for (place, listed) in self.list.records.iter().enumerate() {
            let name = called(&self.archive.by_index_raw(place)?)?;
            if !matches!(listed.method, STORED | DEFLATED) {
                unknown.push(name);
                continue;
            }
            let entry = self.archive.by_index(place);
            let entry = entry.with_context(|| format!("{name} cannot be unpacked"))?;
            // The size in the list is not trusted.
            let size = entry.size();
            let read = io::copy(&mut entry.take(left + 1), &mut io::sink());
            let read = read.with_context(|| format!("{name} cannot be unpacked"))?;
            left = left.checked_sub(read).with_context(|| {
                format!("it has more than the {most} bytes unpacked that are accepted")
            })?;
            if read != size {
                bail!("{name} has {read} bytes, and not the {size} that are listed");
            }
        }
        Ok(unknown)
    }

    /// Returns the FIP.
    pub fn fip(&mut self) -> Result<Vec<u8>> {
        self.fip_within(FIP_MAX)
    }

    /// Returns the FIP, if it has at most so many bytes.
    pub fn fip_within(&mut self, most: u64) -> Result<Vec<u8>> {
        let method = self.list.records[self.fip].method;
        if !matches!(method, STORED | DEFLATED) {
            bail!(
                "the FIP in it cannot be unpacked: its method of compression is {method}; have it \
                 stored or deflated"
            );
        }
        let entry = self.archive.by_index(self.fip);
        let entry = entry.context("the FIP in it cannot be unpacked")?;
        let name = called(&entry)?;
        let mut fip = Vec::new();
        // The size that it says it has is another's word.
        let read = entry.take(most + 1).read_to_end(&mut fip);
        read.with_context(|| format!("{name} cannot be unpacked"))?;
        if fip.len() as u64 > most {
            bail!("{name} has more than the {most} bytes that are accepted");
        }
        Ok(fip)
    }

    /// Returns the image with `fip` in the FIP's place, which keeps its name, its date,
    /// its attributes, and whether it is stored or deflated.
    pub fn with(self, fip: &[u8]) -> Result<Vec<u8>> {
        let new = splice::splice(self.file, &self.list, &self.extents, self.fip, fip)?;
        let mut again = Recovery::open(&new, &self.member).context("what has become of it")?;
        if again.fip_within(fip.len() as u64)? != fip {
            bail!("what has become of it has another FIP");
        }
        Ok(new)
    }
}

/// Returns the extent of each file that `list` has. The sizes after a file have
/// one of four forms: two numbers of 4 or 8 bytes, a checksum, with or without a
/// mark.
fn extents<R: Read + Seek>(
    file: &[u8],
    archive: &mut ZipArchive<R>,
    list: &List<'_>,
) -> Result<Vec<Range<usize>>> {
    let (found, listed) = (archive.len(), list.records.len());
    if found != listed {
        bail!("{listed} files are listed in it, and {found} can be found");
    }
    let mut starts = vec![list.place.start];
    let mut extents = Vec::new();
    for (place, record) in list.records.iter().enumerate() {
        let entry = archive.by_index_raw(place)?;
        if entry.central_header_start() != record.place.start as u64 {
            bail!("{:?} is listed in two ways", record.shown());
        }
        let start = usize::try_from(entry.header_start())?;
        let sizes = (entry.crc32(), entry.compressed_size(), entry.size());
        let agrees = agrees(Bytes(file), start, record, sizes);
        let has_more = agrees.with_context(|| format!("{:?}", record.shown()))?;
        let data = entry.data_start().context("a file has no data")?;
        let end = usize::try_from(data + entry.compressed_size())?;
        starts.push(start);
        extents.push((start..end, has_more));
    }
    starts.sort_unstable();
    let whole = |((extent, has_more), record): ((Range<usize>, bool), &Record<'_>)| {
        if !has_more {
            return Ok(extent);
        }
        let next = starts.iter().find(|start| **start >= extent.end);
        let next = next.copied().unwrap_or(extent.end);
        if !matches!(next - extent.end, 12 | 16 | 20 | 24) {
            bail!("{:?}: its sizes are not behind it", record.shown());
        }
        Ok(extent.start..next)
    };
    extents.into_iter().zip(&list.records).map(whole).collect()
}

/// Refuses a header at `start` that contradicts the list, where another reader
/// might read another file. Returns whether checksum and sizes are after the file.
fn agrees(
    bytes: Bytes<'_>,
    start: usize,
    record: &Record<'_>,
    (crc, packed, size): (u32, u64, u64),
) -> Result<bool> {
    let name = bytes.at(start + LOCAL_SIZE, bytes.u16(start + 26)?.into())?;
    if name != record.name {
        let name = String::from_utf8_lossy(name);
        bail!("its own header calls it {name:?}");
    }
    if bytes.u16(start + 8)? != record.method {
        bail!("its own header has another method of compression");
    }
    if bytes.u16(start + 6)? & SIZES_AFTER != 0 {
        return Ok(true);
    }
    for (place, listed) in [(14, u64::from(crc)), (18, packed), (22, size)] {
        let own = bytes.u32(start + place)?;
        // u32::MAX: an extra field has the value.
        if own != u32::MAX && u64::from(own) != listed {
            bail!("its own header has another size or checksum");
        }
    }
    Ok(false)
}

/// Returns the name of a file in it.
fn called<R: Read + ?Sized>(entry: &ZipFile<'_, R>) -> Result<String> {
    let name = entry.name().context("a file in it has a broken name")?;
    Ok(name.into_owned())
}

/// Returns `name` as it is on a FAT card: the case of
/// letters counts for nothing, nor do dots and blanks at an end, and either slash parts
/// names.
fn on_card(name: &str) -> String {
    let parts = name.split(['/', '\\']);
    let parts = parts.map(|part| part.trim_end_matches(['.', ' ']).to_lowercase());
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    parts.join("/")
}
