//! Reads records from lines that may be damaged, or joined to other text.

use super::crc::Crc32;
use super::record::{CRC_DIGITS, MARK, Numbered, Record};

/// The reason why a line is not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// The line does not begin with `@PB `.
    NoMark,
    /// The line has no checksum.
    NoChecksum,
    /// The checksum is of other bytes.
    Damaged,
    /// The checksum is right, but number or JSON are not those of a record: the
    /// line is of another version of the format.
    NotJson,
}

/// Reads the record at the beginning of `line`; text after its checksum is
/// ignored.
pub fn parse(line: &[u8]) -> Result<Numbered, RecordError> {
    let body = checked(line)?;
    let body = core::str::from_utf8(body).map_err(|_| RecordError::NotJson)?;
    let numbered = body[MARK.len()..].split_once(' ').and_then(|(seq, json)| {
        let seq = seq.parse().ok().filter(|_| seq.len() >= 4)?;
        let record = Record::from_json(json)?;
        Some(Numbered { seq, record })
    });
    numbered.ok_or(RecordError::NotJson)
}

/// Returns the parts of `line` that begin like a record: after a terminal's time
/// stamp, or after another record whose line end was lost.
pub fn pieces(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = line;
    core::iter::from_fn(move || {
        let from = rest.get(find_mark(rest)?..)?;
        let next = find_mark(&from[MARK.len()..]);
        let end = next.map_or(from.len(), |next| next + MARK.len());
        let (piece, after) = from.split_at(end);
        rest = after;
        Some(piece)
    })
}

/// Returns what the checksum covers: up to the first one that is right.
fn checked(line: &[u8]) -> Result<&[u8], RecordError> {
    if !line.starts_with(MARK.as_bytes()) {
        return Err(RecordError::NoMark);
    }
    let (mut crc, mut summed) = (Crc32::default(), 0);
    let mut error = RecordError::NoChecksum;
    for (end, window) in line.windows(CRC_DIGITS + 2).enumerate() {
        let [b'}', b' ', digits @ ..] = window else {
            continue;
        };
        let Some(expected) = checksum(digits) else {
            continue;
        };
        crc.update(&line[summed..=end]);
        summed = end + 1;
        if crc.value() == expected {
            return Ok(&line[..=end]);
        }
        error = RecordError::Damaged;
    }
    Err(error)
}

/// Reads eight lower-case hexadecimal digits. Capitals were not sent: a bit of
/// the line has flipped.
fn checksum(digits: &[u8]) -> Option<u32> {
    let is_lower = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if !digits.iter().all(is_lower) {
        return None;
    }
    u32::from_str_radix(core::str::from_utf8(digits).ok()?, 16).ok()
}

fn find_mark(bytes: &[u8]) -> Option<usize> {
    let mut windows = bytes.windows(MARK.len());
    windows.position(|window| window == MARK.as_bytes())
}
