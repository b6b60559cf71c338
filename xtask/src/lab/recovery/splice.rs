//! One file of a zip replaced, with all else as it was, byte for byte.
//!
//! The files after it move, and the list: their places change, where a header
//! has them.

use std::io::Write;
use std::ops::Range;

use anyhow::{Context, Result, bail};
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use super::list::{Bytes, LISTED_SIZE, List};

/// Methods of compression: none, and DEFLATE.
pub(super) const STORED: u16 = 0;
pub(super) const DEFLATED: u16 = 8;
/// The size of a file's own header, without what has a length of its own.
pub(super) const LOCAL_SIZE: usize = 30;
/// The flag of a file with its sizes after it, and the flags of how well it was
/// compressed.
pub(super) const SIZES_AFTER: u16 = 1 << 3;
const LEVEL: u16 = 0b110;
/// The extra field of numbers that have no room elsewhere.
const LARGE: u16 = 1;

/// The new content of a file.
struct Packed {
    data: Vec<u8>,
    crc: u32,
    size: u32,
}

impl Packed {
    fn new(content: &[u8], method: u16) -> Result<Self> {
        let data = match method {
            STORED => content.to_vec(),
            DEFLATED => {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(content)?;
                encoder.finish()?
            }
            other => bail!("it is compressed by method {other}; have it stored or deflated"),
        };
        let mut crc = Crc::new();
        crc.update(content);
        Ok(Self {
            data,
            crc: crc.sum(),
            size: u32::try_from(content.len())?,
        })
    }

    /// Returns `header`, of `size` bytes and more, with the new checksum and sizes,
    /// and without those in its extra fields, which are `extra`. Its flags are at
    /// `flags`, its checksum is 8 bytes after them.
    fn header(&self, header: &[u8], flags: usize, extra: Range<usize>) -> Result<Vec<u8>> {
        let old = Bytes(header).u16(flags)?;
        let kept = without_sizes(header.get(extra.clone()).context("its extra fields")?);
        let mut new = [&header[..extra.start], &kept, &header[extra.end..]].concat();
        // The sizes are known, and in the header.
        let known = old & !(SIZES_AFTER | LEVEL);
        put(&mut new, flags, &known.to_le_bytes())?;
        let packed = u32::try_from(self.data.len())?;
        for (place, number) in [(8, self.crc), (12, packed), (16, self.size)] {
            put(&mut new, flags + place, &number.to_le_bytes())?;
        }
        let size = u16::try_from(kept.len())?;
        put(&mut new, flags + 22, &size.to_le_bytes())?;
        Ok(new)
    }
}

fn put(bytes: &mut [u8], at: usize, number: &[u8]) -> Result<()> {
    let place = bytes.get_mut(at..at + number.len());
    place.context("a header is short")?.copy_from_slice(number);
    Ok(())
}

/// Returns `file` with `content` in the place of the file `number` of its `list`.
/// All of `extents`, one a file, hold a header, data, and sizes after them. The
/// file keeps its name, date, attributes, comment, other extra fields, and method.
pub(super) fn splice(
    file: &[u8],
    list: &List<'_>,
    extents: &[Range<usize>],
    number: usize,
    content: &[u8],
) -> Result<Vec<u8>> {
    let (record, extent) = (&list.records[number], extents[number].clone());
    let packed = Packed::new(content, record.method)?;
    let mut out = file[..extent.start].to_vec();
    let extra = LOCAL_SIZE + record.name.len();
    let len = usize::from(Bytes(file).u16(extent.start + 28)?);
    let header = Bytes(file).at(extent.start, extra + len)?;
    out.extend(packed.header(header, 6, extra..extra + len)?);
    out.extend(&packed.data);
    let moved = |old: usize| match old > extent.start {
        // Everything after its header is after all of it.
        true => old - extent.end + out.len(),
        false => old,
    };
    let mut records = Vec::with_capacity(list.place.len());
    for (other, (listed, extent)) in list.records.iter().zip(extents).enumerate() {
        let mut record = file[listed.place.clone()].to_vec();
        let extra = LISTED_SIZE + listed.name.len();
        let extra = extra..extra + usize::from(Bytes(&record).u16(30)?);
        if other == number {
            record = packed.header(&record, 8, extra.clone())?;
            // It begins on the first disk, which has room without the larger form.
            put(&mut record, 34, &[0, 0])?;
        }
        let start = moved(extent.start);
        match large_offset(&record, extra).filter(|_| other != number) {
            Some(at) => put(&mut record, at, &(start as u64).to_le_bytes())?,
            None => put(&mut record, 42, &u32::try_from(start)?.to_le_bytes())?,
        }
        records.extend(record);
    }
    let start = moved(list.place.start);
    out.extend(&file[extent.end..list.place.start]);
    out.extend(&records);
    let tail = tail(file, list, out.len(), start, records.len())?;
    out.extend(tail);
    Ok(out)
}

/// Returns all that is after the list, which now has `size` bytes from `start` on
/// and ends at `end`.
fn tail(file: &[u8], list: &List<'_>, end: usize, start: usize, size: usize) -> Result<Vec<u8>> {
    let mut tail = file[list.place.end..].to_vec();
    if let Some([large, pointer]) = list.end_64 {
        for (at, number) in [(large + 40, size), (large + 48, start), (pointer + 8, end)] {
            let number = (number as u64).to_le_bytes();
            put(&mut tail, at - list.place.end, &number)?;
        }
    }
    let at = list.end - list.place.end;
    for (at, number) in [(at + 12, size), (at + 16, start)] {
        // All bits are set if the larger form has it.
        if list.end_64.is_none() || Bytes(&tail).u32(at)? != u32::MAX {
            put(&mut tail, at, &u32::try_from(number)?.to_le_bytes())?;
        }
    }
    Ok(tail)
}

/// Returns the place of a file's offset in the extra fields of its record, if it
/// is there.
fn large_offset(record: &[u8], extra: Range<usize>) -> Option<usize> {
    let is_large = |at| Bytes(record).u32(at).is_ok_and(|it| it == u32::MAX);
    let mut found = fields(record.get(extra.clone())?);
    let (_, data) = found.find(|(id, _)| *id == LARGE)?;
    // The sizes come before it.
    let before = [20, 24].into_iter().filter(|at| is_large(*at)).count();
    let place = data.start + 8 * before;
    (is_large(42) && place + 8 <= data.end).then_some(extra.start + place)
}

/// Returns the extra fields in `extra`, up to one that is malformed.
fn fields(extra: &[u8]) -> impl Iterator<Item = (u16, Range<usize>)> {
    let mut place = 0;
    std::iter::from_fn(move || {
        let id = Bytes(extra).u16(place).ok()?;
        let data = place + 4;
        place = data + usize::from(Bytes(extra).u16(place + 2).ok()?);
        (place <= extra.len()).then_some((id, data..place))
    })
}

/// Returns `extra` without the sizes of a file that has others now.
fn without_sizes(extra: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(extra.len());
    let mut from = 0;
    for (id, data) in fields(extra) {
        if id != LARGE {
            kept.extend(&extra[from..data.end]);
        }
        from = data.end;
    }
    kept.extend(&extra[from..]);
    kept
}
