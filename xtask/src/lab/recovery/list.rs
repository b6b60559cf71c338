//! The list of files at the end of a zip, and where each of them is.
//!
//! The reader of another crate unpacks the files. This one knows what it does not
//! tell: which bytes are whose, so that all others can be kept. Numbers are those
//! of PKWARE's APPNOTE.TXT, 4.3 and 4.5.

use std::borrow::Cow;
use std::ops::Range;

use anyhow::{Context, Result, bail};
use memchr::memmem;

/// What an error begins with.
pub(super) const BROKEN: &str = "this is a broken zip";
/// The most files in it.
pub(super) const MEMBERS_MAX: usize = 10_000;
/// What a header is marked with: of a file, of a file in the list, and of the end
/// of the list; of that end and of what points to it in the larger form.
const LOCAL: &[u8] = b"PK\x03\x04";
const LISTED: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";
const END_64: &[u8] = b"PK\x06\x06";
const POINTER_64: &[u8] = b"PK\x06\x07";
/// What may come behind a file, with its sizes.
const DESCRIPTOR: &[u8] = b"PK\x07\x08";
/// The sizes of these headers, without what has a length of its own.
pub(super) const LOCAL_SIZE: usize = 30;
pub(super) const LISTED_SIZE: usize = 46;
const END_SIZE: usize = 22;
const END_64_SIZE: usize = 56;
const POINTER_64_SIZE: usize = 20;
/// The longest comment at the end.
const COMMENT_MAX: usize = u16::MAX as usize;
/// The flag of a file whose sizes come behind it.
pub(super) const SIZES_BEHIND: u16 = 1 << 3;
/// Methods of compression: none, and DEFLATE.
pub(super) const STORED: u16 = 0;
pub(super) const DEFLATED: u16 = 8;
/// The flags of what is encrypted, in one way or another.
const ENCRYPTED: u16 = 1 | 1 << 6 | 1 << 13;
/// The extra field of numbers that have no room elsewhere.
const LARGE: u16 = 1;

/// Bytes that may end early.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'b>(pub &'b [u8]);

impl<'b> Bytes<'b> {
    pub(super) fn at(self, place: usize, len: usize) -> Result<&'b [u8]> {
        let end = place.checked_add(len);
        let found = end.and_then(|end| self.0.get(place..end));
        found.with_context(|| format!("it ends within {len} bytes at {place:#x}"))
    }

    fn number<const N: usize>(self, place: usize) -> Result<[u8; N]> {
        Ok(self.at(place, N)?.try_into()?)
    }

    pub(super) fn u16(self, place: usize) -> Result<u16> {
        Ok(u16::from_le_bytes(self.number(place)?))
    }

    pub(super) fn u32(self, place: usize) -> Result<u32> {
        Ok(u32::from_le_bytes(self.number(place)?))
    }

    fn u64(self, place: usize) -> Result<u64> {
        Ok(u64::from_le_bytes(self.number(place)?))
    }

    /// A place in the file, or a length, which has to be one.
    fn place(self, place: usize) -> Result<usize> {
        Ok(usize::try_from(self.u64(place)?)?)
    }

    fn is(self, place: usize, mark: &[u8]) -> bool {
        self.at(place, mark.len()).is_ok_and(|it| it == mark)
    }
}

/// A file, as the list has it.
pub(super) struct Entry<'f> {
    /// All of its record in the list.
    pub record: Range<usize>,
    /// Its name there.
    pub name: &'f [u8],
    /// Whether it is encrypted, in one way or another.
    pub encrypted: bool,
    /// How it is compressed.
    pub method: u16,
    /// The checksum of what is unpacked.
    pub crc: u32,
    /// How many bytes it has, packed.
    pub packed: usize,
    /// How many it has unpacked.
    pub size: u64,
    /// Its own header, its bytes, and what is behind them with its sizes.
    pub extent: Range<usize>,
    /// Where the list says where that begins, if there are eight bytes for it.
    pub offset_at: Option<usize>,
}

/// The list.
pub(super) struct List<'f> {
    /// The files, in its order.
    pub entries: Vec<Entry<'f>>,
    /// Where it is.
    pub place: Range<usize>,
    /// The end in its larger form, and what points to it.
    pub end_64: Option<[usize; 2]>,
    /// The end; a comment may be behind it.
    pub end: usize,
}

/// Where `file` ends as a zip does. What is in its comment is none of it, nor is
/// what somebody has put behind.
fn end(file: &[u8]) -> Result<usize> {
    let from = file.len().saturating_sub(END_SIZE + COMMENT_MAX);
    let tail = file.get(from..).unwrap_or_default();
    let mut fitting = Vec::new();
    let mut exact = Vec::new();
    for place in memmem::find_iter(tail, END).map(|place| from + place) {
        let Ok(comment) = Bytes(file).u16(place + 20) else {
            continue;
        };
        match (place + END_SIZE + usize::from(comment)).cmp(&file.len()) {
            std::cmp::Ordering::Less => fitting.push(place),
            std::cmp::Ordering::Equal => exact.push(place),
            std::cmp::Ordering::Greater => {}
        }
    }
    match (exact.as_slice(), fitting.last()) {
        ([place], _) | ([], Some(place)) => Ok(*place),
        ([], None) => bail!("its end is missing"),
        _ => bail!("it has two ends, with a list of files each"),
    }
}

/// Whether the end of a zip is in `file`, whatever it begins with.
pub(super) fn ends_as_one(file: &[u8]) -> bool {
    end(file).is_ok()
}

impl<'f> List<'f> {
    /// Reads the list of `file`.
    pub(super) fn read(file: &'f [u8]) -> Result<Self> {
        let bytes = Bytes(file);
        let at = end(file).context(BROKEN)?;
        let disks = (bytes.u16(at + 4)?, bytes.u16(at + 6)?);
        let counts = (bytes.u16(at + 8)?, bytes.u16(at + 10)?);
        if disks != (0, 0) || counts.0 != counts.1 {
            bail!("it is one part of several");
        }
        let (mut count, mut size) = (usize::from(counts.0), bytes.u32(at + 12)? as usize);
        let mut start = bytes.u32(at + 16)? as usize;
        let end_64 = large_end(bytes, at).context(BROKEN)?;
        if let Some([large, _]) = end_64 {
            let large_ones = [
                (&mut count, u16::MAX as usize, 32),
                (&mut size, u32::MAX as usize, 40),
                (&mut start, u32::MAX as usize, 48),
            ];
            for (small, none, place) in large_ones {
                let number = bytes.place(large + place)?;
                if *small != none && *small != number {
                    bail!("{BROKEN}: its two ends contradict each other");
                }
                *small = number;
            }
        }
        if count > MEMBERS_MAX {
            bail!("{count} files are in it, more than the {MEMBERS_MAX} that are accepted");
        }
        let listed_to = end_64.map_or(at, |places| places[0]);
        match start.checked_add(size) {
            Some(end) if end == listed_to => {}
            Some(end) if end < listed_to && bytes.is(listed_to - size, LISTED) => bail!(
                "{} bytes come before the zip, as in an archive that unpacks itself: give the \
                 zip alone",
                listed_to - end
            ),
            _ => bail!("{BROKEN}: its list of files is not where its end says"),
        }
        let mut place = start;
        let mut entries = Vec::with_capacity(count);
        for number in 0..count {
            let entry = Entry::read(bytes, place, start);
            let entry = entry.with_context(|| format!("{BROKEN}: file {number} of its list"))?;
            place = entry.record.end;
            entries.push(entry);
        }
        if place != listed_to {
            bail!("{BROKEN}: its list does not end behind the {count} files that its end says");
        }
        apart(&entries).context(BROKEN)?;
        Ok(Self {
            entries,
            place: start..listed_to,
            end_64,
            end: at,
        })
    }

    /// `file` as a zip that has no comment, nor anything else behind its end: who
    /// looks for the end from behind might take something in there for it.
    pub(super) fn without_comment(&self, file: &'f [u8]) -> Cow<'f, [u8]> {
        if self.end + END_SIZE == file.len() {
            return Cow::Borrowed(file);
        }
        let mut plain = file[..self.end + END_SIZE].to_vec();
        plain[self.end + 20..].fill(0);
        Cow::Owned(plain)
    }
}

/// The end in its larger form and what points to it, before the end at `at`.
fn large_end(bytes: Bytes<'_>, at: usize) -> Result<Option<[usize; 2]>> {
    let Some(pointer) = at.checked_sub(POINTER_64_SIZE) else {
        return Ok(None);
    };
    if !bytes.is(pointer, POINTER_64) {
        return Ok(None);
    }
    let large = bytes.place(pointer + 8)?;
    let size = || bytes.place(large.checked_add(4)?).ok()?.checked_add(12);
    let end = size().and_then(|size| large.checked_add(size));
    if !bytes.is(large, END_64) || end != Some(pointer) || pointer - large < END_64_SIZE {
        bail!("its end is not where it says");
    }
    Ok(Some([large, pointer]))
}

impl<'f> Entry<'f> {
    /// Reads the record at `at` of a list that is at `list`.
    fn read(bytes: Bytes<'f>, at: usize, list: usize) -> Result<Self> {
        if !bytes.is(at, LISTED) {
            bail!("there is none at {at:#x}");
        }
        let [name, extra, comment] = [28, 30, 32].map(|place| bytes.u16(at + place));
        let (name, extra, comment) = (name?.into(), usize::from(extra?), usize::from(comment?));
        let record = LISTED_SIZE + name + extra + comment;
        bytes.at(at, record)?;
        let name = bytes.at(at + LISTED_SIZE, name)?;
        let shown = || String::from_utf8_lossy(name).into_owned();
        let mut entry = Self {
            record: at..at + record,
            name,
            encrypted: bytes.u16(at + 8)? & ENCRYPTED != 0,
            method: bytes.u16(at + 10)?,
            crc: bytes.u32(at + 16)?,
            packed: bytes.u32(at + 20)? as usize,
            size: bytes.u32(at + 24)?.into(),
            extent: 0..0,
            offset_at: None,
        };
        let mut offset = bytes.u32(at + 42)? as usize;
        let disk = bytes.u16(at + 34)?;
        let extra = at + LISTED_SIZE + name.len()..at + LISTED_SIZE + name.len() + extra;
        if let Some(large) = field(bytes, extra, LARGE) {
            // Those that have no room elsewhere, in this order.
            let mut place = large.start;
            let mut next = |has: bool| -> Result<Option<usize>> {
                let this = (has && place + 8 <= large.end).then_some(place);
                place += if this.is_some() { 8 } else { 0 };
                Ok(this)
            };
            if let Some(place) = next(entry.size == u64::from(u32::MAX))? {
                entry.size = bytes.u64(place)?;
            }
            if let Some(place) = next(entry.packed == u32::MAX as usize)? {
                entry.packed = bytes.place(place)?;
            }
            if let Some(place) = next(offset == u32::MAX as usize)? {
                offset = bytes.place(place)?;
                entry.offset_at = Some(place);
            }
        }
        if disk != 0 && disk != u16::MAX {
            bail!("{:?} is on another disk", shown());
        }
        let extent = entry.local(bytes, offset);
        entry.extent = extent.with_context(|| format!("{:?}", shown()))?;
        if entry.extent.end > list {
            bail!("{:?} does not end before the list", shown());
        }
        Ok(entry)
    }

    /// Where the file is, of which the header at `at` says the same as the list.
    fn local(&self, bytes: Bytes<'_>, at: usize) -> Result<Range<usize>> {
        bytes.at(at, LOCAL_SIZE).context("its header")?;
        if !bytes.is(at, LOCAL) {
            bail!("there is no header at {at:#x}");
        }
        let (name, extra) = (bytes.u16(at + 26)?.into(), usize::from(bytes.u16(at + 28)?));
        let name = bytes.at(at + LOCAL_SIZE, name)?;
        if name != self.name {
            let name = String::from_utf8_lossy(name);
            bail!("its own header calls it {name:?}");
        }
        let data = at + LOCAL_SIZE + name.len() + extra;
        bytes.at(data, self.packed).context("its data")?;
        let end = data + self.packed;
        if bytes.u16(at + 8)? != self.method {
            bail!("its own header has another method of compression");
        }
        if bytes.u16(at + 6)? & SIZES_BEHIND != 0 {
            let behind = self.descriptor(bytes, end);
            return Ok(at..end + behind.context("its sizes are not behind it")?);
        }
        let agrees = |place, listed: u64| -> Result<bool> {
            let own = bytes.u32(at + place)?;
            Ok(own == u32::MAX || u64::from(own) == listed)
        };
        if !agrees(14, self.crc.into())?
            || !agrees(18, self.packed as u64)?
            || !agrees(22, self.size)?
        {
            bail!("its own header has another size or checksum");
        }
        Ok(at..end)
    }

    /// How long that is what comes behind the data, at `at`: it has one of four
    /// forms.
    fn descriptor(&self, bytes: Bytes<'_>, at: usize) -> Option<usize> {
        let mark = if bytes.is(at, DESCRIPTOR) { 4 } else { 0 };
        for mark in [mark, 0] {
            let sizes = at + mark + 4;
            if !bytes.u32(at + mark).is_ok_and(|it| it == self.crc) {
                continue;
            }
            let listed = (self.packed as u64, self.size);
            let small = [sizes, sizes + 4].map(|place| bytes.u32(place).ok().map(u64::from));
            let large = [sizes, sizes + 8].map(|place| bytes.u64(place).ok());
            for (found, len) in [(large, 16), (small, 8)] {
                if found == [Some(listed.0), Some(listed.1)] {
                    return Some(mark + 4 + len);
                }
            }
        }
        None
    }
}

/// Where the data of the extra field `id` are among `extra`, which may not have
/// the form of fields.
fn field(bytes: Bytes<'_>, extra: Range<usize>, id: u16) -> Option<Range<usize>> {
    fields(bytes, extra)
        .find(|(found, _)| *found == id)
        .map(|(_, data)| data)
}

/// The extra fields among `extra`, as long as they have that form.
fn fields(
    bytes: Bytes<'_>,
    extra: Range<usize>,
) -> impl Iterator<Item = (u16, Range<usize>)> + use<'_> {
    let mut place = extra.start;
    std::iter::from_fn(move || {
        let data = place + 4;
        if data > extra.end {
            return None;
        }
        let id = bytes.u16(place).ok()?;
        let end = data + usize::from(bytes.u16(place + 2).ok()?);
        place = end;
        (end <= extra.end).then_some((id, data..end))
    })
}

/// `extra` without what says the sizes of a file that has others now.
pub(super) fn without_sizes(extra: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(extra.len());
    let mut from = 0;
    for (id, data) in fields(Bytes(extra), 0..extra.len()) {
        if id != LARGE {
            kept.extend(&extra[from..data.end]);
        }
        from = data.end;
    }
    kept.extend(&extra[from..]);
    kept
}

/// Refuses files that share bytes: one of them would change with the other.
fn apart(entries: &[Entry<'_>]) -> Result<()> {
    let mut extents: Vec<_> = entries.iter().map(|it| (&it.extent, it.name)).collect();
    extents.sort_by_key(|(extent, _)| extent.start);
    for pair in extents.windows(2) {
        if let [(before, one), (behind, other)] = pair
            && before.end > behind.start
        {
            bail!(
                "{:?} and {:?} have bytes in common",
                String::from_utf8_lossy(one),
                String::from_utf8_lossy(other)
            );
        }
    }
    Ok(())
}
