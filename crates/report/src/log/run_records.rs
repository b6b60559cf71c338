//! The records of one run, by sequence number.

use suite::model::RunId;
pub(super) use suite::record::{CRC_DIGITS, RecordLine};

use host::untrusted_text::plain;

use super::integrity::{Missing, Records};

/// The maximum number of records in a run. A million samples take fewer than four million records.
/// This limits the memory that a log can use.
const SEQ_MAX: u32 = 1 << 24;

/// The maximum length of a record's kind in messages, in characters.
const KIND_MAX: usize = 16;

/// Describes a valid record that this version cannot read.
pub(super) fn unread_at(claim: &RecordLine<'_>, line: u64) -> String {
    let kind: String = plain(claim.kind).chars().take(KIND_MAX).collect();
    let seq = claim.seq;
    format!("record {seq:04} ({kind}, line {line}) is intact but not in this version's format")
}

/// The records of one run. All of them had a correct checksum when they were entered; whether this
/// version can read them has not been checked.
#[derive(Debug, Default)]
pub(super) struct RunRecords {
    /// The run ID in the records, or None if there are none.
    pub(super) run: Option<RunId>,
    /// The checksum of each record; 0 for a record that was not received.
    checksums: Vec<u32>,
    /// True for each record that was received.
    entered: Vec<bool>,
    /// The sequence number of the `end` record.
    end: Option<u32>,
    pub(super) counts: Records,
}

impl RunRecords {
    pub(super) fn is_empty(&self) -> bool {
        self.counts.received == 0
    }

    /// Returns true if the `end` record was received.
    pub(super) fn is_ended(&self) -> bool {
        self.end.is_some()
    }

    /// Returns true if the record was already received. A second copy is not parsed, so damage to
    /// it does not matter.
    pub(super) fn has(&self, claim: &RecordLine<'_>) -> bool {
        self.run == Some(claim.run) && self.entry(claim.seq) == Some(claim.crc)
    }

    fn entry(&self, seq: u32) -> Option<u32> {
        let index = seq as usize;
        let is_entered = self.entered.get(index) == Some(&true);
        is_entered.then(|| self.checksums[index])
    }

    /// Returns true if a valid record is from another run, because its run ID differs, its number
    /// is already taken by a different record, or it comes after the `end` record.
    pub(super) fn is_foreign(&self, claim: &RecordLine<'_>) -> bool {
        if self.run.is_some_and(|run| run != claim.run) {
            return true;
        }
        let is_behind = self.end.is_some_and(|end_seq| claim.seq > end_seq);
        let is_last = claim.seq as usize >= self.entered.len();
        self.entry(claim.seq).is_some() || is_behind || claim.kind == "end" && !is_last
    }

    /// Adds a new, valid record that belongs to this run. Returns false if there are too many
    /// records.
    pub(super) fn enter(&mut self, claim: &RecordLine<'_>) -> bool {
        if claim.seq >= SEQ_MAX {
            return false;
        }
        self.run = Some(claim.run);
        let index = claim.seq as usize;
        if index < self.entered.len() {
            self.counts.from_second += 1;
        } else {
            self.checksums.resize(index + 1, 0);
            self.entered.resize(index + 1, false);
        }
        if claim.kind == "end" {
            self.end = Some(claim.seq);
        }
        self.checksums[index] = claim.crc;
        self.entered[index] = true;
        self.counts.received += 1;
        true
    }

    /// Notes that a record from another run follows.
    pub(super) fn cut(&mut self, claim: &RecordLine<'_>) {
        let is_other = self.run.is_some_and(|run| run != claim.run);
        self.counts.cut_by = Some(claim.run).filter(|_| is_other && !self.is_ended());
    }

    /// Returns the counts, with every gap in the sequence numbers.
    pub(super) fn finish(mut self) -> Records {
        let mut first = 0;
        for range in self.entered.chunk_by(|one, other| one == other) {
            let next = first + range.len() as u32;
            let last = next - 1;
            if !range[0] {
                self.counts.missing.push(Missing { first, last });
            }
            first = next;
        }
        self.counts.expected = self.end.map(|seq| u64::from(seq) + 1);
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_of_one_run_or_foreign() {
        let mut run_records = RunRecords::default();
        let this = "00000001";
        let other = "00000002";
        for (run, seq, kind, crc, is_known, is_foreign) in [
            (this, 0, "run", 7, false, false),
            (this, 0, "run", 7, true, true),
            (this, 0, "run", 8, false, true),
            (other, 0, "run", 7, false, true),
            (this, 3, "row", 1, false, false),
            (this, 2, "row", 2, false, false),
            // The last record must have the highest number.
            (this, 1, "end", 3, false, true),
            (this, 4_000_000_000, "row", 5, false, false),
            (other, 4, "row", 5, false, true),
            (this, 5, "end", 4, false, false),
            (this, 6, "end", 4, false, true),
            (this, 7, "row", 5, false, true),
        ] {
            let line = format!("@PB {run} {seq:04} {{\"{kind}\":1}} {crc:08x}");
            let claim = RecordLine::parse(line.as_bytes()).expect("a record");
            assert_eq!((claim.seq, claim.kind, claim.crc), (seq, kind, crc));
            assert_eq!(run_records.has(&claim), is_known, "{line}");
            assert_eq!(run_records.is_foreign(&claim), is_foreign, "{line}");
            assert!(is_foreign || run_records.enter(&claim) == (seq < SEQ_MAX));
        }
        let counts = run_records.finish();
        assert_eq!((counts.expected, counts.received), (Some(6), 4));
        assert_eq!(counts.from_second, 1);
        let gaps: Vec<String> = counts.missing.iter().map(ToString::to_string).collect();
        assert_eq!(gaps, ["record 0001", "record 0004"]);
    }
}
