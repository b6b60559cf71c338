//! One file of a zip replaced, with all else as it was, byte for byte.
//!
//! What moves are the files behind it, and the list: of these the places change,
//! where they are said.

use std::io::Write;

use anyhow::{Context, Result, bail};
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use super::list::{
    Bytes, DEFLATED, Entry, LISTED_SIZE, LOCAL_SIZE, List, SIZES_BEHIND, STORED, without_sizes,
};

/// The flags of how well it was compressed.
const LEVEL: u16 = 0b110;

/// What a file has become.
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

    /// Flags, checksum and sizes in a header, where they are from `flags` and
    /// `crc` on.
    fn put(&self, header: &mut [u8], flags: usize, crc: usize) -> Result<()> {
        let old = Bytes(header).u16(flags)?;
        // The sizes are known, and in the header.
        put(
            header,
            flags,
            &(old & !(SIZES_BEHIND | LEVEL)).to_le_bytes(),
        )?;
        let packed = u32::try_from(self.data.len())?;
        for (place, number) in [(0, self.crc), (4, packed), (8, self.size)] {
            put(header, crc + place, &number.to_le_bytes())?;
        }
        Ok(())
    }
}

fn put(bytes: &mut [u8], at: usize, number: &[u8]) -> Result<()> {
    let place = bytes.get_mut(at..at + number.len());
    place.context("a header is short")?.copy_from_slice(number);
    Ok(())
}

/// `file`, of which `list` is the list, with `content` in the place of the file
/// `place`. Name, date, attributes, comment and extra fields of that stay, and
/// whether it is stored or deflated.
pub(super) fn splice(
    file: &[u8],
    list: &List<'_>,
    place: usize,
    content: &[u8],
) -> Result<Vec<u8>> {
    let entry = list.entries.get(place).context("there is no such file")?;
    let packed = Packed::new(content, entry.method)?;
    let mut out = file[..entry.extent.start].to_vec();
    out.extend(local(file, entry, &packed)?);
    out.extend(&packed.data);
    let moved = |old: usize| match old > entry.extent.start {
        // What is behind it, is behind all of it.
        true => old - entry.extent.end + out.len(),
        false => old,
    };
    let mut records = Vec::with_capacity(list.place.len());
    for (number, other) in list.entries.iter().enumerate() {
        let mut record = if number == place {
            listed(file, other, &packed)?
        } else {
            file[other.record.clone()].to_vec()
        };
        let start = moved(other.extent.start);
        match other.offset_at.filter(|_| number != place) {
            Some(at) => put(
                &mut record,
                at - other.record.start,
                &(start as u64).to_le_bytes(),
            )?,
            None => put(&mut record, 42, &u32::try_from(start)?.to_le_bytes())?,
        }
        records.extend(record);
    }
    let start = moved(list.place.start);
    out.extend(&file[entry.extent.end..list.place.start]);
    out.extend(&records);
    let mut tail = file[list.place.end..].to_vec();
    if let Some([large, pointer]) = list.end_64 {
        for (at, number) in [
            (large + 40, records.len()),
            (large + 48, start),
            (pointer + 8, out.len()),
        ] {
            let number = (number as u64).to_le_bytes();
            put(&mut tail, at - list.place.end, &number)?;
        }
    }
    let end = list.end - list.place.end;
    for (at, number) in [(end + 12, records.len()), (end + 16, start)] {
        // All bits set where the larger form has it.
        if list.end_64.is_none() || Bytes(&tail).u32(at)? != u32::MAX {
            put(&mut tail, at, &u32::try_from(number)?.to_le_bytes())?;
        }
    }
    out.extend(&tail);
    Ok(out)
}

/// The header before the file.
fn local(file: &[u8], entry: &Entry<'_>, packed: &Packed) -> Result<Vec<u8>> {
    let at = entry.extent.start;
    let extra = at + LOCAL_SIZE + entry.name.len();
    let len = Bytes(file).u16(at + 28)?.into();
    let mut header = file[at..extra].to_vec();
    let extra = without_sizes(Bytes(file).at(extra, len)?);
    packed.put(&mut header, 6, 14)?;
    put(&mut header, 28, &u16::try_from(extra.len())?.to_le_bytes())?;
    header.extend(extra);
    Ok(header)
}

/// The record in the list; where the file is, is said later.
fn listed(file: &[u8], entry: &Entry<'_>, packed: &Packed) -> Result<Vec<u8>> {
    let record = &file[entry.record.clone()];
    let (head, behind) = record.split_at(LISTED_SIZE + entry.name.len());
    let (extra, comment) = behind.split_at(Bytes(record).u16(30)?.into());
    let extra = without_sizes(extra);
    let mut record = head.to_vec();
    packed.put(&mut record, 8, 16)?;
    put(&mut record, 30, &u16::try_from(extra.len())?.to_le_bytes())?;
    // It begins on the first disk, which can be said without the larger form.
    put(&mut record, 34, &[0, 0])?;
    record.extend(extra);
    record.extend(comment);
    Ok(record)
}
