//! Which records of a run came through, in either copy.
//!
//! A record is believed for its checksum alone. Four ways lead to one:
//! * it is sound as it stands;
//! * something stands behind it whose line end, or its own, was lost: the
//!   piece up to a checksum that is right is the record;
//! * its line was broken in two, as terminals and LAVA do: the next line
//!   makes it whole;
//! * it is damaged in both copies, at different places: the beginning of one
//!   and the end of the other make it whole.

use std::collections::BTreeMap;

use psci_bench::record::crc::Crc32;
use psci_bench::record::line::{MARK, Type};
use psci_bench::record::parse::{Record, checksum, claimed_seq};

use super::mend;
use super::piece::{Unsound, sound};
use crate::report::model::{Missing, Records};

/// The most records that a run is believed to have: a million samples are
/// less than four million records. It bounds the memory that a log takes.
const SEQ_MAX: u32 = 1 << 24;

/// How many damaged pieces are kept for the second copy to mend.
const DAMAGED_MAX: u32 = 4096;

/// A type that is not known.
const UNKNOWN: u8 = u8::MAX;

/// What a piece of a line turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found<'l> {
    /// A record that was not seen before.
    New(Record<'l>),
    /// One that was.
    Again,
    /// A sound one that can not be of the same run: its place is taken.
    Stranger,
    /// The piece is damaged.
    Damaged,
}

/// The records of one run.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// By place: 0 where there is none, else the type, from 1.
    kinds: Vec<u8>,
    crcs: Vec<u32>,
    /// What tells one CPU's records in one scenario from others.
    rows: Vec<u32>,
    received: u64,
    /// The place behind the last sound record.
    next: u32,
    /// Damaged pieces, by the place that they are likely to have.
    damaged: BTreeMap<u32, Box<[u8]>>,
    /// How many of these were ever kept: it takes time to try them.
    kept: u32,
    /// Place and fields of the `end` record.
    end: Option<(u32, End)>,
    pub(super) counts: Records,
}

#[derive(Clone, Copy, Debug)]
struct End {
    records: Option<u64>,
    crcs: Option<u64>,
}

impl Ledger {
    /// Whether there is anything of a record.
    pub(super) fn is_empty(&self) -> bool {
        self.received == 0 && self.end.is_none() && self.counts.unknown_types == 0
    }

    /// Looks at a whole line: the usual case, which has to be quick. None
    /// where it takes a closer look.
    pub(super) fn line<'l>(&mut self, line: &'l [u8]) -> Option<Found<'l>> {
        if !line.starts_with(MARK.as_bytes()) {
            return None;
        }
        if self.is_known(line) {
            return Some(Found::Again);
        }
        let record = Record::parse(line).ok()?;
        Some(self.enter(record))
    }

    /// Looks at a piece that begins with [`MARK`].
    pub(super) fn piece<'l>(&mut self, piece: &'l [u8]) -> Found<'l> {
        if self.is_known(piece) {
            return Found::Again;
        }
        match sound(piece) {
            Ok(record) => {
                let found = self.enter(record);
                self.counts.malformed += u64::from(found == Found::Damaged);
                found
            }
            Err(Unsound::Unknown { seq, .. }) if self.is_beyond(seq) => Found::Stranger,
            Err(Unsound::Unknown { seq, crc }) => {
                self.counts.unknown_types += 1;
                self.mark(seq, crc, UNKNOWN, 0);
                Found::Again
            }
            Err(Unsound::Malformed) => {
                self.counts.malformed += 1;
                Found::Damaged
            }
            Err(Unsound::Damaged) => Found::Damaged,
        }
    }

    /// Whether `piece` says that it is a record that is there already. Were
    /// it damaged where this does not look, there would be nothing to gain.
    fn is_known(&self, piece: &[u8]) -> bool {
        let piece = piece.trim_ascii_end();
        let Some((seq, _)) = claimed_seq(piece) else {
            return false;
        };
        let digits = piece.get(piece.len().saturating_sub(8)..);
        let crc = digits.and_then(checksum).filter(|_| self.has(seq));
        crc.is_some() && crc == self.crcs.get(seq as usize).copied()
    }

    fn has(&self, seq: u32) -> bool {
        self.kinds.get(seq as usize).is_some_and(|kind| *kind != 0)
    }

    /// Whether the `end` record came before this place.
    fn is_beyond(&self, seq: u32) -> bool {
        self.end.is_some_and(|end| seq > end.0)
    }

    fn enter<'l>(&mut self, record: Record<'l>) -> Found<'l> {
        if record.seq >= SEQ_MAX {
            return Found::Damaged;
        }
        if self.has(record.seq) {
            let same = self.crcs.get(record.seq as usize) == Some(&record.crc);
            return if same { Found::Again } else { Found::Stranger };
        }
        let is_end = record.kind == Type::End;
        let is_last = record.seq as usize >= self.kinds.len();
        if self.is_beyond(record.seq) || is_end && (self.end.is_some() || !is_last) {
            return Found::Stranger;
        }
        if is_end {
            let end = End {
                records: record.unsigned("records"),
                crcs: record.unsigned("crcs"),
            };
            self.end = Some((record.seq, end));
        }
        let (crc, row) = (record.crc, row_of(&record));
        self.mark(record.seq, crc, kind_number(record.kind), row);
        self.next = record.seq + 1;
        Found::New(record)
    }

    fn mark(&mut self, seq: u32, crc: u32, kind: u8, row: u32) {
        let place = seq as usize;
        if seq >= SEQ_MAX || self.has(seq) {
            return;
        }
        if place < self.kinds.len() {
            self.counts.from_second += 1;
        } else {
            self.kinds.resize(place + 1, 0);
            self.crcs.resize(place + 1, 0);
            self.rows.resize(place + 1, 0);
        }
        if let Some(to) = self.kinds.get_mut(place) {
            *to = kind;
        }
        if let Some(to) = self.crcs.get_mut(place) {
            *to = crc;
        }
        if let Some(to) = self.rows.get_mut(place) {
            *to = row;
        }
        if kind != kind_number(Type::End) {
            self.received += 1;
        }
    }

    /// Takes a piece that is damaged; the record that it makes together with
    /// its other copy is given to `found`.
    pub(super) fn damaged(&mut self, piece: &[u8], found: &mut dyn FnMut(Vec<u8>)) {
        self.counts.damaged += 1;
        let piece = piece.trim_ascii_end();
        let seq = match claimed_seq(piece) {
            Some((seq, true)) => seq,
            _ => self.next,
        };
        self.next = seq.saturating_add(1);
        if self.has(seq) || seq >= SEQ_MAX {
            return;
        }
        let Some(other) = self.damaged.remove(&seq) else {
            if self.kept < DAMAGED_MAX && piece.len() <= mend::LEN_MAX {
                self.damaged.insert(seq, piece.into());
                self.kept += 1;
            }
            return;
        };
        // Once: it takes time.
        let Some(whole) = mend::of(&other, piece) else {
            return;
        };
        let from_second = self.counts.from_second;
        let entered = Record::parse(&whole).map(|record| self.enter(record));
        if matches!(entered, Ok(Found::New(_))) {
            // Neither copy had it.
            self.counts.from_second = from_second;
            self.counts.mended += 1;
            found(whole);
        }
    }

    /// What came of all.
    pub(super) fn finish(mut self) -> Records {
        let places = self.kinds.len() as u64;
        let expected = self.end.and_then(|(seq, end)| {
            // Its own place says the same, and both are sound.
            let count = end.records.unwrap_or(u64::from(seq));
            (count == u64::from(seq)).then_some(count)
        });
        self.counts.expected = expected;
        self.counts.received = self.received;
        self.counts.missing = self.missing(expected.unwrap_or(places));
        let sum = self.end.and_then(|end| end.1.crcs);
        self.counts.crcs_match = match (expected, sum) {
            (Some(expected), Some(sum)) if self.counts.missing.is_empty() => {
                let mut crcs = Crc32::default();
                for crc in self.crcs.iter().take(expected as usize) {
                    crcs.update(&crc.to_be_bytes());
                }
                Some(u64::from(crcs.value()) == sum && self.received == expected)
            }
            _ => None,
        };
        self.counts
    }

    fn missing(&self, expected: u64) -> Vec<Missing> {
        let mut all: Vec<Missing> = Vec::new();
        let mut before = (None, 0);
        let kinds = self.kinds.iter().zip(&self.rows).take(expected as usize);
        for (seq, (kind, row)) in (0u32..).zip(kinds) {
            let open = all.last_mut().filter(|last| last.last + 1 == seq);
            match (*kind, open) {
                (0, Some(open)) => open.last = seq,
                (0, None) => all.push(Missing {
                    first: seq,
                    last: seq,
                    between: (before.0, None),
                    in_row: false,
                }),
                (kind, open) => {
                    let after = kind_of(kind);
                    if let Some(open) = open {
                        open.between.1 = after;
                        open.in_row = before.1 == *row && *row != 0;
                    }
                    before = (after, *row);
                }
            }
        }
        all
    }
}

/// A number for the leading keys of a record that is about one CPU in one
/// scenario; 0 for others. A checksum is as good as any where few are compared.
fn row_of(record: &Record<'_>) -> u32 {
    let mut hash = Crc32::default();
    let mut has_cpu = false;
    for (key, value) in record.fields().take(3) {
        has_cpu |= key == "mpidr";
        hash.update(value.as_bytes());
        hash.update(b" ");
    }
    if has_cpu { hash.value() | 1 } else { 0 }
}

fn kind_number(kind: Type) -> u8 {
    kind as u8 + 1
}

fn kind_of(number: u8) -> Option<Type> {
    let place = usize::from(number).checked_sub(1)?;
    Type::ALL.get(place).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::log::piece::pieces;

    fn record(body: &str) -> String {
        let body = format!("@PB {body} ");
        format!("{body}{:08x}", Crc32::of(body.as_bytes()))
    }

    fn kinds(ledger: &mut Ledger, line: &str) -> Vec<&'static str> {
        let (_, pieces) = pieces(line.as_bytes());
        let word = |found| match found {
            Found::New(_) => "new",
            Found::Again => "again",
            Found::Stranger => "stranger",
            Found::Damaged => "damaged",
        };
        pieces.map(|piece| word(ledger.piece(piece))).collect()
    }

    #[test]
    fn glued_records_and_what_stands_behind() {
        let mut ledger = Ledger::default();
        let (a, b) = (record("0000 cpu i=0"), record("0001 cpu i=1"));
        assert_eq!(kinds(&mut ledger, &format!("{a}{b}")), ["new", "new"]);
        assert_eq!(
            kinds(&mut ledger, &format!("x {a} {b}\t")),
            ["again", "again"]
        );
        let c = record("0002 cpu i=2");
        assert_eq!(kinds(&mut ledger, &format!("{c}NOTICE:  BL31: x")), ["new"]);
        let other = record("0002 cpu i=3");
        assert_eq!(kinds(&mut ledger, &other), ["stranger"]);
        assert_eq!(kinds(&mut ledger, &c.replace("i=2", "i=7")), ["again"]);
        assert_eq!(
            kinds(&mut ledger, &other.replace("i=3", "i=7")),
            ["damaged"]
        );
        assert_eq!(kinds(&mut ledger, &record("0003 later x=1")), ["again"]);
        assert_eq!(
            kinds(&mut ledger, &record("4000000000 cpu i=3")),
            ["damaged"]
        );
        let counts = ledger.finish();
        assert_eq!((counts.received, counts.unknown_types), (4, 1));
        assert_eq!((counts.malformed, counts.expected), (1, None));
    }

    #[test]
    fn all_is_checked_and_what_is_missing_is_known() {
        let bodies = [
            "0000 run format=1",
            "0001 row t=1 by=tftf mpidr=0x1 valid=1",
            "0002 m t=1 by=tftf mpidr=0x1 metric=call n=1",
            "0003 ev t=1 by=tftf mpidr=0x1 base=1",
        ];
        let all: Vec<String> = bodies.iter().map(|body| record(body)).collect();
        let mut crcs = Crc32::default();
        for body in bodies {
            crcs.update(&Crc32::of(format!("@PB {body} ").as_bytes()).to_be_bytes());
        }
        let end = record(&format!("0004 end records=4 crcs={:#010x}", crcs.value()));
        let read = |skip: Option<usize>| {
            let mut ledger = Ledger::default();
            for (place, line) in all.iter().chain([&end]).enumerate() {
                if Some(place) != skip {
                    assert_eq!(kinds(&mut ledger, line), ["new"]);
                }
            }
            ledger.finish()
        };
        let counts = read(None);
        assert_eq!((counts.expected, counts.received), (Some(4), 4));
        assert_eq!(counts.crcs_match, Some(true));
        let counts = read(Some(2));
        assert_eq!((counts.received, counts.crcs_match), (3, None));
        assert_eq!(counts.missing.len(), 1);
        assert_eq!(counts.missing[0].to_string(), "record 0002 (m)");
        // There is one end, and nothing behind it.
        let mut ledger = Ledger::default();
        kinds(&mut ledger, &all[..3].join(" "));
        let early = record("0001 end records=1 crcs=0x0");
        assert_eq!(kinds(&mut ledger, &early), ["stranger"]);
        assert_eq!(kinds(&mut ledger, &end), ["new"]);
        let late = [record("0007 cpu i=1"), record("0008 later x=1")];
        assert_eq!(kinds(&mut ledger, &late.concat()), ["stranger", "stranger"]);
        let counts = read(Some(4));
        assert_eq!((counts.expected, counts.received), (None, 4));
        let wrong = all.join("\n") + &record("0004 end records=4 crcs=0x0");
        let mut ledger = Ledger::default();
        kinds(&mut ledger, &wrong);
        assert_eq!(ledger.finish().crcs_match, Some(false));
    }

    #[test]
    fn two_damaged_copies_make_one() {
        let whole = record("0007 row t=1 by=tftf mpidr=0x1 powerdown=5156 wakeup=7330");
        let (mut a, mut b) = (whole.clone(), whole.clone());
        a.remove(30);
        b.remove(50);
        let mut found = Vec::new();
        let mut ledger = Ledger::default();
        for piece in [&a, &b] {
            assert_eq!(kinds(&mut ledger, piece), ["damaged"]);
            ledger.damaged(piece.as_bytes(), &mut |whole| {
                let record = Record::parse(&whole).expect("sound");
                found.push(record.unsigned("wakeup"));
            });
        }
        assert_eq!(found, [Some(7330)]);
        assert_eq!(ledger.finish().mended, 1);
    }
}
