//! The records of one run by their sequence numbers.

use memchr::memchr;
use psci_bench::record::MARK;

use super::integrity::{Missing, Records};
use super::untrusted_text::plain;

/// The most records of a run: a million samples are less than four million records.
/// The limit bounds the memory that a log takes.
const SEQ_MAX: u32 = 1 << 24;

/// Digits of a checksum.
pub(super) const CRC_DIGITS: usize = 8;

/// The most kinds of record that are kept apart: this version has 14.
const KINDS_MAX: usize = 64;

/// A line's claim to be a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim<'l> {
    seq: u32,
    crc: &'l [u8],
    kind: &'l str,
}

impl<'l> Claim<'l> {
    /// Returns what `line` claims to be; None if it has not the form of a record.
    /// The checksum is not computed.
    pub(super) fn of(line: &'l [u8]) -> Option<Self> {
        let line = line.trim_ascii_end();
        let rest = line.strip_prefix(MARK.as_bytes())?;
        // JSON has no '@': with one, another record stands behind the first.
        let len = memchr(b' ', rest).filter(|_| memchr(b'@', rest).is_none())?;
        let (digits, json) = rest.split_at(len);
        let seq = std::str::from_utf8(digits).ok().filter(|_| len >= 4)?;
        let (json, crc) = json.split_at_checked(json.len().checked_sub(CRC_DIGITS)?)?;
        let rest = json.strip_prefix(b" {\"")?;
        let len = memchr(b'"', rest)?;
        let is_digit = |b: &u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        (json.ends_with(b"} ") && crc.iter().all(is_digit)).then_some(Self {
            seq: seq.parse().ok()?,
            crc,
            kind: std::str::from_utf8(rest.get(..len)?).ok()?,
        })
    }

    /// Returns the checksum; 0 of no digits, which [`Self::of`] leaves out.
    fn crc(&self) -> u32 {
        let digits = std::str::from_utf8(self.crc).unwrap_or_default();
        u32::from_str_radix(digits, 16).unwrap_or(0)
    }

    fn is_end(&self) -> bool {
        self.kind == "end"
    }
}

/// A record that came through.
#[derive(Clone, Copy, Debug)]
struct Entry {
    crc: u32,
    /// The place in [`Ledger::kinds`].
    kind: u8,
}

/// The records of one run.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    entries: Vec<Option<Entry>>,
    kinds: Vec<String>,
    received: u64,
    /// The sequence number of the `end` record.
    end: Option<u32>,
    pub(super) counts: Records,
}

impl Ledger {
    pub(super) fn is_empty(&self) -> bool {
        self.received == 0
    }

    /// Returns true if the `end` record is there.
    pub(super) fn is_ended(&self) -> bool {
        self.end.is_some()
    }

    /// Returns true if the record is there already. A second copy is not read: were
    /// it damaged, nothing would be lost.
    pub(super) fn has(&self, claim: &Claim<'_>) -> bool {
        self.entry(claim.seq)
            .is_some_and(|entry| entry.crc == claim.crc())
    }

    fn entry(&self, seq: u32) -> Option<Entry> {
        self.entries.get(seq as usize).copied().flatten()
    }

    /// Returns true for a sound record of another run: its place is taken, or is
    /// behind the `end` record, which is the last one.
    pub(super) fn is_foreign(&self, claim: &Claim<'_>) -> bool {
        let is_behind = self.end.is_some_and(|end| claim.seq > end);
        let is_last = claim.seq as usize >= self.entries.len();
        self.entry(claim.seq).is_some() || is_behind || claim.is_end() && !is_last
    }

    /// Enters a sound record that is neither there nor foreign; false if there are
    /// too many.
    pub(super) fn enter(&mut self, claim: &Claim<'_>) -> bool {
        let place = claim.seq as usize;
        if claim.seq >= SEQ_MAX {
            return false;
        }
        if place < self.entries.len() {
            self.counts.from_second += 1;
        } else {
            self.entries.resize(place + 1, None);
        }
        if claim.is_end() {
            self.end = Some(claim.seq);
        }
        let kind = self.kind(claim.kind);
        if let Some(entry) = self.entries.get_mut(place) {
            let crc = claim.crc();
            *entry = Some(Entry { crc, kind });
            self.received += 1;
        }
        true
    }

    fn kind(&mut self, word: &str) -> u8 {
        let known = self.kinds.iter().position(|kind| kind == word);
        let place = known.unwrap_or_else(|| {
            if self.kinds.len() < KINDS_MAX {
                self.kinds.push(plain(word).chars().take(16).collect());
            }
            self.kinds.len() - 1
        });
        u8::try_from(place).unwrap_or(u8::MAX)
    }

    /// Returns the counts.
    pub(super) fn finish(self) -> Records {
        Records {
            expected: self.end.map(|seq| u64::from(seq) + 1),
            received: self.received,
            missing: self.missing(),
            ..self.counts
        }
    }

    fn missing(&self) -> Vec<Missing> {
        let mut all: Vec<Missing> = Vec::new();
        let mut before: Option<&String> = None;
        for (seq, entry) in (0u32..).zip(&self.entries) {
            let open = all.last_mut().filter(|gap| gap.last + 1 == seq);
            match (entry, open) {
                (None, Some(open)) => open.last = seq,
                (None, None) => all.push(Missing {
                    first: seq,
                    last: seq,
                    between: (before.cloned(), None),
                }),
                (Some(entry), open) => {
                    before = self.kinds.get(usize::from(entry.kind));
                    if let Some(open) = open {
                        open.between.1 = before.cloned();
                    }
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(seq: u32, kind: &str, crc: u32) -> String {
        format!("@PB {seq:04} {{\"{kind}\":1}} {crc:08x}")
    }

    #[test]
    fn claims_need_the_form_of_a_record() {
        let good = line(12, "row", 0xabcd);
        let claim = Claim::of(good.as_bytes()).expect("a record");
        assert_eq!((claim.seq, claim.crc(), claim.kind), (12, 0xabcd, "row"));
        for at in 0..good.len() {
            let mut cut = good.clone();
            cut.remove(at);
            let claim = Claim::of(cut.as_bytes());
            assert!(claim.is_none_or(|it| it.kind != "row" || at > 12), "{cut}");
        }
        for wrong in ["", "@PB ", "@PB 1 2", "@PB 0001 {} 00000000"] {
            assert_eq!(Claim::of(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn records_are_of_one_run_or_foreign() {
        let mut ledger = Ledger::default();
        for (seq, kind, crc, is_known, is_foreign) in [
            (0, "run", 7, false, false),
            (0, "run", 7, true, true),
            (0, "run", 8, false, true),
            (3, "row", 1, false, false),
            (2, "row", 2, false, false),
            // The last record is the last.
            (1, "end", 3, false, true),
            (5, "end", 4, false, false),
            (6, "end", 4, false, true),
            (7, "row", 5, false, true),
        ] {
            let line = line(seq, kind, crc);
            let claim = Claim::of(line.as_bytes()).expect("a record");
            assert_eq!(ledger.has(&claim), is_known, "{line}");
            assert_eq!(ledger.is_foreign(&claim), is_foreign, "{line}");
            if !is_foreign {
                assert!(ledger.enter(&claim));
            }
        }
        let absurd = line(4_000_000_000, "row", 1);
        assert!(!ledger.enter(&Claim::of(absurd.as_bytes()).expect("a record")));
        let counts = ledger.finish();
        assert_eq!((counts.expected, counts.received), (Some(6), 4));
        assert_eq!(counts.from_second, 1);
        let gaps: Vec<String> = counts.missing.iter().map(ToString::to_string).collect();
        assert_eq!(
            gaps,
            [
                "record 0001 (between run and row)",
                "record 0004 (between row and end)"
            ]
        );
    }
}
