//! Records in a line: where they begin, and whether one is sound.

use psci_bench::record::line::MARK;
use psci_bench::record::parse::{Record, RecordError, checksum, claimed_seq};

use super::mend;

/// Why a piece is no record.
pub(super) enum Unsound {
    /// Its checksum is right, and its type not known.
    Unknown { seq: u32, crc: u32 },
    /// Its checksum is right, and nothing else.
    Malformed,
    /// Its checksum is not right.
    Damaged,
}

/// The record that `piece` is, or begins with.
pub(super) fn sound(piece: &[u8]) -> Result<Record<'_>, Unsound> {
    match Record::parse(piece) {
        Ok(record) => return Ok(record),
        Err(RecordError::UnknownType) => return Err(unknown(piece)),
        Err(RecordError::Malformed) => return Err(Unsound::Malformed),
        Err(RecordError::NoMark | RecordError::NoChecksum | RecordError::Damaged) => {}
    }
    // Whatever stands behind a checksum is not the record's.
    let near = piece.get(..mend::LEN_MAX).unwrap_or(piece);
    let blanks = memchr::memchr_iter(b' ', near);
    for end in blanks.map(|blank| blank + 9) {
        let Some(part) = piece.get(..end).filter(|_| end < piece.len()) else {
            continue;
        };
        match Record::parse(part) {
            Ok(record) => return Ok(record),
            Err(RecordError::UnknownType) => return Err(unknown(part)),
            Err(_) => {}
        }
    }
    Err(Unsound::Damaged)
}

fn unknown(piece: &[u8]) -> Unsound {
    let piece = piece.trim_ascii_end();
    let crc = checksum(
        piece
            .get(piece.len().saturating_sub(8)..)
            .unwrap_or_default(),
    );
    match (claimed_seq(piece), crc) {
        (Some((seq, true)), Some(crc)) => Unsound::Unknown { seq, crc },
        _ => Unsound::Malformed,
    }
}

/// Splits `line` where records begin: what comes before the first, and the
/// pieces.
pub(super) fn pieces(line: &[u8]) -> (&[u8], impl Iterator<Item = &[u8]>) {
    let (before, mut rest) = line.split_at(mark_in(line, 0).unwrap_or(line.len()));
    let pieces = std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let next = mark_in(rest, MARK.len()).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(next);
        rest = after;
        Some(piece)
    });
    (before, pieces)
}

/// Where the first mark is in `line` that begins at `from` or later.
fn mark_in(line: &[u8], from: usize) -> Option<usize> {
    let behind = line.get(from..)?;
    let mut signs = memchr::memchr_iter(b'@', behind).map(|at| from + at);
    signs.find(|at| {
        line.get(*at..)
            .is_some_and(|l| l.starts_with(MARK.as_bytes()))
    })
}

/// `line` with the mark that it is likely to have had: it lost a byte of it.
pub(super) fn with_mark(line: &[u8]) -> Option<Vec<u8>> {
    let cut: [&[u8]; 4] = [b"PB ", b"@B ", b"@P ", b"@PB"];
    let rest = cut.iter().find_map(|mark| line.strip_prefix(*mark))?;
    let is_place = rest.iter().take(4).all(u8::is_ascii_digit);
    (rest.len() > 12 && is_place).then(|| [MARK.as_bytes(), rest].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use psci_bench::record::crc::Crc32;

    fn record(body: &str) -> String {
        let body = format!("@PB {body} ");
        format!("{body}{:08x}", Crc32::of(body.as_bytes()))
    }

    #[test]
    fn marks_that_lost_a_byte() {
        let whole = record("0007 row t=1");
        for at in 0..4 {
            let mut cut = whole.clone();
            cut.remove(at);
            assert_eq!(with_mark(cut.as_bytes()).as_deref(), Some(whole.as_bytes()));
        }
        assert_eq!(with_mark(whole.as_bytes()), None);
        assert_eq!(with_mark(b"PB 12"), None);
    }
}
