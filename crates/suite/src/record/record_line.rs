//! Lines that look like records but may be damaged or joined to other text.

use memchr::memchr;

use crate::crc::CRC_32;
use crate::hex;

use super::record::{CRC_DIGITS, MARK, Record};
use crate::model::RunId;

/// A line that looks like a record. Holding one proves that the line has the outer format. It does
/// not prove that the checksum is correct ([`Self::is_sound`]) or that the JSON is a record
/// ([`Self::record`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordLine<'l> {
    /// The run that the record belongs to.
    pub run: RunId,
    /// The record number in the run, counting from 0.
    pub seq: u32,
    /// The checksum in the line.
    pub crc: u32,
    /// The record's kind, which is the first JSON key.
    pub kind: &'l str,
    /// The record, as JSON.
    pub json: &'l str,
    /// The bytes covered by the checksum.
    summed: &'l [u8],
}

impl<'l> RecordLine<'l> {
    /// Parses the outer format of a record in `line`; None if the line is not in that format.
    /// Does not compute the checksum.
    // The log reader may call this for a million lines.
    #[inline]
    pub fn parse(line: &'l [u8]) -> Option<Self> {
        let bytes = line.trim_ascii_end().strip_prefix(MARK.as_bytes())?;
        // The JSON contains no '@', so any '@' is the start of another record.
        if memchr(b'@', bytes).is_some() {
            return None;
        }
        let (run, after_run) = str::from_utf8(bytes).ok()?.split_once(' ')?;
        let (seq, after_seq) = after_run.split_once(' ')?;
        let (json, crc) = after_seq.rsplit_once(' ')?;
        let (kind, _) = json.strip_prefix("{\"")?.split_once('"')?;
        let is_whole = seq.len() >= 4 && json.ends_with('}');
        is_whole.then_some(Self {
            run: RunId::parse(run)?,
            seq: seq.parse().ok()?,
            crc: hex::parse_word(crc)?,
            kind,
            json,
            summed: &line[..MARK.len() + bytes.len() - CRC_DIGITS - 1],
        })
    }

    /// Returns true if the checksum is correct.
    pub fn is_sound(&self) -> bool {
        CRC_32.checksum(self.summed) == self.crc
    }

    /// Returns the record; None if this version cannot read it.
    #[inline]
    pub fn record(&self) -> Option<Record> {
        serde_json::from_str(self.json).ok()
    }
}

/// Returns the parts of `line` that start like a record. Such a part may follow a terminal
/// timestamp or another record that lost its line ending.
pub fn pieces(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = line;
    core::iter::from_fn(move || {
        let from = rest.get(find_mark(rest)?..)?;
        let next = find_mark(&from[MARK.len()..]);
        let end = next.map_or(from.len(), |next_mark| next_mark + MARK.len());
        let (piece, after) = from.split_at(end);
        rest = after;
        Some(piece)
    })
}

/// Returns the index at which a record seems to start.
fn find_mark(bytes: &[u8]) -> Option<usize> {
    let mut windows = bytes.windows(MARK.len());
    windows.position(|window| window == MARK.as_bytes())
}
