//! Reading [`super::line`]s back, on the host, from a line that may have
//! suffered on its way.

use core::fmt;

use super::crc::Crc32;
use super::line::{CRC_DIGITS, MARK, Type};
use crate::spec::words::Word;

/// A record whose checksum is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'l> {
    /// Its place in its copy.
    pub seq: u32,
    /// Its type.
    pub kind: Type,
    /// Its checksum.
    pub crc: u32,
    fields: &'l str,
}

/// Why a line is not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// It does not begin with `@PB `.
    NoMark,
    /// It does not end with a blank and eight hexadecimal digits.
    NoChecksum,
    /// The checksum is of other bytes.
    Damaged,
    /// The checksum is right, but sequence number, type or fields are not as
    /// they should be.
    Malformed,
    /// The checksum is right, but the type is not known: a later format.
    UnknownType,
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoMark => "does not begin with @PB",
            Self::NoChecksum => "does not end with a checksum",
            Self::Damaged => "checksum does not match",
            Self::Malformed => "not of the form SEQ TYPE KEY=VALUE",
            Self::UnknownType => "type not known",
        })
    }
}

impl core::error::Error for RecordError {}

impl<'l> Record<'l> {
    /// The record that `line` is; its line end may be on.
    ///
    /// # Errors
    /// Whatever keeps it from being one.
    pub fn parse(line: &'l [u8]) -> Result<Self, RecordError> {
        let line = line.trim_ascii_end();
        if !line.starts_with(MARK.as_bytes()) {
            return Err(RecordError::NoMark);
        }
        let split = line.len().saturating_sub(CRC_DIGITS);
        let (body, digits) = line.split_at(split);
        let crc = checksum(digits).ok_or(RecordError::NoChecksum)?;
        if !body.ends_with(b" ") {
            return Err(RecordError::NoChecksum);
        }
        if Crc32::of(body) != crc {
            return Err(RecordError::Damaged);
        }

        let body = core::str::from_utf8(body).map_err(|_| RecordError::Malformed)?;
        let body = body.strip_prefix(MARK).ok_or(RecordError::NoMark)?;
        let (seq, rest) = body.split_once(' ').ok_or(RecordError::Malformed)?;
        let (word, fields) = rest.split_once(' ').ok_or(RecordError::Malformed)?;
        let record = Self {
            seq: seq.parse().map_err(|_| RecordError::Malformed)?,
            kind: Type::from_word(word).ok_or(RecordError::UnknownType)?,
            crc,
            fields: fields.trim_ascii_end(),
        };
        let all_pairs = record.fields.split(' ').all(|f| f.contains('='));
        if all_pairs {
            Ok(record)
        } else {
            Err(RecordError::Malformed)
        }
    }

    /// What begins with `@PB ` in `line`, wherever it stands: behind a
    /// terminal's time stamp, or behind another record whose line end was
    /// lost.
    pub fn all_in(line: &'l [u8]) -> impl Iterator<Item = Result<Self, RecordError>> {
        let mut rest = line;
        core::iter::from_fn(move || {
            let start = find(rest, MARK.as_bytes())?;
            let from = &rest[start..];
            let next = find(&from[MARK.len()..], MARK.as_bytes());
            let (this, after) = from.split_at(next.map_or(from.len(), |n| n + MARK.len()));
            rest = after;
            Some(Self::parse(this))
        })
    }

    /// All keys with their values, leading ones first, as they were written.
    #[must_use]
    pub fn fields(&self) -> Fields<'l> {
        Fields(self.fields)
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'l str> {
        self.fields().find(|f| f.0 == key).map(|f| f.1)
    }

    /// The value of a key whose values are not negative; hexadecimal too.
    #[must_use]
    pub fn unsigned(&self, key: &str) -> Option<u64> {
        number(self.get(key)?)
    }

    /// The value of a key whose values may be negative.
    #[must_use]
    pub fn signed(&self, key: &str) -> Option<i64> {
        signed(self.get(key)?)
    }
}

// A log may have millions of records. What follows, and is done for each field
// of them, is no part of its callers, which may be built without optimisation:
// no closure and no type parameter.

/// A record's keys with their values.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'l>(&'l str);

impl<'l> Iterator for Fields<'l> {
    type Item = (&'l str, &'l str);

    #[inline(never)]
    fn next(&mut self) -> Option<Self::Item> {
        while !self.0.is_empty() {
            let bytes = self.0.as_bytes();
            let end = bytes.iter().position(|b| *b == b' ');
            let end = end.unwrap_or(bytes.len());
            let (field, rest) = self.0.split_at(end);
            self.0 = rest.get(1..).unwrap_or_default();
            let equals = field.bytes().position(|b| b == b'=');
            if let Some(at) = equals {
                return Some((&field[..at], &field[at + 1..]));
            }
        }
        None
    }
}

/// A value that is not negative; hexadecimal too.
#[must_use]
#[inline(never)]
pub fn number(value: &str) -> Option<u64> {
    match value.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => value.parse().ok(),
    }
}

/// A value that may be negative.
#[must_use]
#[inline(never)]
pub fn signed(value: &str) -> Option<i64> {
    value.parse().ok()
}

/// The place that a line says to have, and whether it says it as it should:
/// four digits or more, and a blank. Its checksum is not looked at.
#[must_use]
#[inline(never)]
pub fn claimed_seq(line: &[u8]) -> Option<(u32, bool)> {
    let rest = line.strip_prefix(MARK.as_bytes())?;
    let len = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let digits = core::str::from_utf8(rest.get(..len)?).ok()?;
    let whole = len >= 4 && rest.get(len) == Some(&b' ');
    Some((digits.parse().ok()?, whole))
}

/// The number that eight lower-case hexadecimal digits are. Capitals are not
/// what was sent: a bit of the line has flipped.
#[must_use]
#[inline(never)]
pub fn checksum(digits: &[u8]) -> Option<u32> {
    let lower = |b: &u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    if digits.len() != CRC_DIGITS || !digits.iter().all(lower) {
        return None;
    }
    u32::from_str_radix(core::str::from_utf8(digits).ok()?, 16).ok()
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|w| w == what)
}
