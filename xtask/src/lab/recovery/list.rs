//! The list of files at the end of a zip: which bytes are its records, so that
//! all others can be kept. Numbers are those of PKWARE's APPNOTE.TXT, 4.3 and 4.5.
//! All else is read by another crate.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use anyhow::{Context, Result, bail};
use memchr::memmem;

/// The first words of an error.
pub(super) const BROKEN: &str = "this is a broken zip";
/// The most files in it.
const MEMBERS_MAX: usize = 10_000;
/// The marks of a record in the list, of its end, of that in its larger form, and
/// of the pointer to that.
const LISTED: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";
const END_64: &[u8] = b"PK\x06\x06";
const POINTER_64: &[u8] = b"PK\x06\x07";
/// The sizes of these, without what has a length of its own.
pub(super) const LISTED_SIZE: usize = 46;
const END_SIZE: usize = 22;
const POINTER_64_SIZE: usize = 20;
/// The longest comment at the end.
const COMMENT_MAX: usize = u16::MAX as usize;
/// The flags of an encrypted file, in one way or another.
const ENCRYPTED: u16 = 1 | 1 << 6 | 1 << 13;

/// Bytes that may end early.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'b>(pub &'b [u8]);

impl<'b> Bytes<'b> {
    pub(super) fn at(self, place: usize, len: usize) -> Result<&'b [u8]> {
        let end = place.checked_add(len);
        let found = end.and_then(|end| self.0.get(place..end));
        found.with_context(|| format!("it ends within {len} bytes at {place:#x}"))
    }

    pub(super) fn u16(self, place: usize) -> Result<u16> {
        Ok(u16::from_le_bytes(self.at(place, 2)?.try_into()?))
    }

    pub(super) fn u32(self, place: usize) -> Result<u32> {
        Ok(u32::from_le_bytes(self.at(place, 4)?.try_into()?))
    }

    fn u64(self, place: usize) -> Result<u64> {
        Ok(u64::from_le_bytes(self.at(place, 8)?.try_into()?))
    }

    fn is(self, place: usize, mark: &[u8]) -> bool {
        self.at(place, mark.len()).is_ok_and(|it| it == mark)
    }
}

/// A record in the list.
pub(super) struct Record<'f> {
    pub place: Range<usize>,
    pub name: &'f [u8],
    pub flags: u16,
    pub method: u16,
}

impl<'f> Record<'f> {
    fn read(bytes: Bytes<'f>, at: usize) -> Result<Self> {
        if !bytes.is(at, LISTED) {
            bail!("there is none at {at:#x}");
        }
        let length = |place: usize| Ok::<_, anyhow::Error>(usize::from(bytes.u16(at + place)?));
        let (name, others) = (length(28)?, length(30)? + length(32)?);
        let size = LISTED_SIZE + name + others;
        bytes.at(at, size)?;
        Ok(Self {
            place: at..at + size,
            name: bytes.at(at + LISTED_SIZE, name)?,
            flags: bytes.u16(at + 8)?,
            method: bytes.u16(at + 10)?,
        })
    }

    pub(super) fn is_encrypted(&self) -> bool {
        self.flags & ENCRYPTED != 0
    }

    pub(super) fn shown(&self) -> Cow<'f, str> {
        String::from_utf8_lossy(self.name)
    }
}

/// The list.
pub(super) struct List<'f> {
    pub records: Vec<Record<'f>>,
    pub place: Range<usize>,
    /// The place of the end in its larger form, and of the pointer to it.
    pub end_64: Option<[usize; 2]>,
    /// The place of the end; a comment may be after it.
    pub end: usize,
}

/// Returns the place of the end in `file`. Neither the zip's comment nor bytes that
/// somebody appended are a part of it.
fn end(file: &[u8]) -> Result<usize> {
    let from = file.len().saturating_sub(END_SIZE + COMMENT_MAX);
    let tail = file.get(from..).unwrap_or_default();
    let (mut fitting, mut exact) = (None, Vec::new());
    for place in memmem::find_iter(tail, END).map(|place| from + place) {
        let Ok(comment) = Bytes(file).u16(place + 20) else {
            continue;
        };
        match (place + END_SIZE + usize::from(comment)).cmp(&file.len()) {
            Ordering::Less => fitting = Some(place),
            Ordering::Equal => exact.push(place),
            Ordering::Greater => {}
        }
    }
    match (exact.as_slice(), fitting) {
        ([place], _) => Ok(*place),
        ([], Some(place)) => Ok(place),
        ([], None) => bail!("its end is missing"),
        _ => bail!("it has two ends, with a list of files each"),
    }
}

/// Returns whether the end of a zip is in `file`, whatever it begins with.
pub(super) fn ends_as_one(file: &[u8]) -> bool {
    end(file).is_ok()
}

impl<'f> List<'f> {
    /// Reads the list of `file`, which is the only thing in it.
    pub(super) fn read(file: &'f [u8]) -> Result<Self> {
        let bytes = Bytes(file);
        let end = end(file).context(BROKEN)?;
        let end_64 = end_64(bytes, end).context(BROKEN)?;
        let [count, size, start] = numbers(bytes, end, end_64).context(BROKEN)?;
        if count > MEMBERS_MAX {
            bail!("{count} files are in it, more than the {MEMBERS_MAX} that are accepted");
        }
        let listed_to = end_64.map_or(end, |places| places[0]);
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
        let mut records = Vec::new();
        for number in 0..count {
            let record = Record::read(bytes, place);
            let record = record.with_context(|| format!("{BROKEN}: file {number} of its list"))?;
            place = record.place.end;
            records.push(record);
        }
        if place != listed_to {
            bail!("{BROKEN}: its list does not end behind the {count} files that its end says");
        }
        let place = start..listed_to;
        Ok(Self {
            records,
            place,
            end_64,
            end,
        })
    }

    /// Returns `file` without a comment or other bytes after its end, in which a
    /// reader that begins there might find another end.
    pub(super) fn without_comment(&self, file: &'f [u8]) -> Cow<'f, [u8]> {
        if self.end + END_SIZE == file.len() {
            return Cow::Borrowed(file);
        }
        let mut plain = file[..self.end + END_SIZE].to_vec();
        plain[self.end + 20..].fill(0);
        Cow::Owned(plain)
    }
}

/// Returns the places of the end in its larger form, and of the pointer to it.
fn end_64(bytes: Bytes<'_>, end: usize) -> Result<Option<[usize; 2]>> {
    let pointer = end.checked_sub(POINTER_64_SIZE);
    let Some(pointer) = pointer.filter(|place| bytes.is(*place, POINTER_64)) else {
        return Ok(None);
    };
    let large = usize::try_from(bytes.u64(pointer + 8)?)?;
    let has_room = pointer.checked_sub(large).is_some_and(|size| size >= 56);
    if !has_room || !bytes.is(large, END_64) {
        bail!("its end is not where it says");
    }
    if bytes.u64(large + 4)? != (pointer - large - 12) as u64 {
        bail!("its end is not where it says");
    }
    Ok(Some([large, pointer]))
}

/// Returns the number of records, the size of the list and its place. Where the
/// end has a larger form, that has them, and the smaller one may not contradict.
fn numbers(bytes: Bytes<'_>, end: usize, end_64: Option<[usize; 2]>) -> Result<[usize; 3]> {
    let small = [
        (u32::from(bytes.u16(end + 10)?), u16::MAX.into(), 32),
        (bytes.u32(end + 12)?, u32::MAX, 40),
        (bytes.u32(end + 16)?, u32::MAX, 48),
    ];
    let mut numbers = small.map(|(number, _, _)| number as usize);
    for (number, (small, none, place)) in numbers.iter_mut().zip(small) {
        let Some([large, _]) = end_64 else { continue };
        let large = bytes.u64(large + place)?;
        if small != none && u64::from(small) != large {
            bail!("its two ends contradict each other");
        }
        *number = usize::try_from(large)?;
    }
    Ok(numbers)
}
