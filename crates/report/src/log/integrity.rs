//! Describes what was lost between the UART and the log.

use std::collections::BTreeMap;
use std::fmt;

use hardware::text::plural::many;
use itertools::Itertools as _;
use serde::Serialize;
use suite::model::RunId;

/// What is missing from a log, and how reliable the rest is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Integrity {
    /// Record counts. None for a log without records, such as TFTF's, where every figure comes from
    /// a line without a checksum.
    pub records: Option<Records>,
    /// True for published tables, which are not logs.
    pub tables: bool,
    /// Rows in a log without records. Their figures are from lines without a checksum.
    pub unverified_rows: u32,
    /// CPUs whose records are missing, so their labels are guessed.
    pub guessed_cpus: u32,
    /// True if the log contains TFTF's `Exiting tests.`.
    pub farewell: bool,
    /// RT_INSTR lines.
    pub rt_instr: u32,
    /// RT_INSTR lines that cannot be read or that contradict their record.
    pub rt_instr_wrong: u32,
    /// RT_INSTR lines that repeat an earlier one. They count once.
    pub rt_instr_repeated: u32,
    /// RT_INSTR lines that contradict an earlier one for the same CPU. Neither is counted.
    pub rt_instr_ambiguous: u32,
    /// Boot timestamps that are damaged, or whose point is unknown to this version.
    pub boot_timestamps_unread: u32,
    /// Lines that repeat the previous line. They count once.
    pub lines_repeated: u32,
    /// The number of table rows and RT_INSTR lines for scenarios unknown to this version, by tag.
    pub unknown: BTreeMap<String, u32>,
    /// Contradictions, one clause each: between the log and the counts in the TFTF summary or the
    /// end record, or between lines and records.
    #[serde(skip)]
    pub contradictions: Vec<String>,
}

/// A run's record counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Records {
    /// The number of records that were sent, or None if there is no `end` record.
    pub expected: Option<u64>,
    /// Records that were received at least once.
    pub received: u64,
    /// Records received after a later one, which means that they are from a second copy.
    pub from_second: u64,
    /// Lines that look like records but have a wrong checksum.
    pub damaged: u64,
    /// Records with a correct checksum that this version cannot read.
    pub malformed: u64,
    /// The first few malformed records, with their line numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
    /// The missing records, ordered by sequence number.
    pub missing: Vec<Missing>,
    /// Another run, whose records began before this run's records ended.
    #[serde(skip)]
    pub cut_by: Option<RunId>,
}

/// A range of consecutive missing records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// The sequence number of the first missing record.
    pub first: u32,
    /// The sequence number of the last missing record, which may be equal to `first`.
    pub last: u32,
}

/// The maximum number of gaps, unreadable records or scenarios to list individually.
pub(super) const NAMED_MAX: usize = 8;

impl Missing {
    /// Returns the number of records.
    pub fn count(&self) -> u64 {
        u64::from(self.last.saturating_sub(self.first)) + 1
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "record {:04}", self.first)
        } else {
            write!(f, "records {:04} to {:04}", self.first, self.last)
        }
    }
}

impl Integrity {
    /// Returns true if every record was received and could be read.
    pub fn is_whole(&self) -> bool {
        self.records.as_ref().is_some_and(|records| {
            records.expected.is_some() && records.missing.is_empty() && records.malformed == 0
        })
    }

    /// Returns clauses about lost records. The first few are listed individually.
    pub(super) fn shortfalls(&self) -> Vec<String> {
        let Some(records) = &self.records else {
            return Vec::new();
        };
        if records.received == 0 {
            let count = many(records.damaged as usize, "record");
            return vec![format!("{count} (@PB ...), none of them intact")];
        }
        let mut clauses = Vec::new();
        let first_gaps = records.missing.iter().take(NAMED_MAX);
        clauses.extend(first_gaps.map(|gap| format!("{gap} lost")));
        clauses.extend(records.unread.iter().cloned());
        let more_gaps = records.missing.len().saturating_sub(NAMED_MAX);
        if more_gaps > 0 {
            clauses.push(many(more_gaps, "more gap"));
        }
        let more_unread = records.malformed as usize - records.unread.len();
        if more_unread > 0 {
            clauses.push(many(more_unread, "more unreadable record"));
        }
        if records.expected.is_none() {
            clauses.push("the end record is lost, so more may be missing".to_owned());
        }
        if let Some(other) = records.cut_by {
            clauses.push(format!(
                "records from another run, {other}, appear before its end: the log mixes runs"
            ));
        }
        clauses
    }

    /// Returns true if every figure is from a record.
    pub fn is_verified(&self) -> bool {
        self.records.is_some()
    }

    /// Returns reasons to doubt lines without a checksum and table rows, one sentence each.
    pub(super) fn doubts(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if self.lines_repeated > 0 {
            let lines = many(self.lines_repeated as usize, "line");
            sentences.push(format!("{lines} repeated back to back; each counts once"));
        }
        if self.boot_timestamps_unread > 0 {
            let lines = many(self.boot_timestamps_unread as usize, "boot timestamp");
            sentences.push(format!(
                "{lines} (PMF:cpu ...) damaged or unknown to this version; boot times that need \
                 them are not shown"
            ));
        }
        if self.rt_instr_ambiguous > 0 {
            let row = if self.tables {
                "table row"
            } else {
                "RT_INSTR line"
            };
            let rows = many(self.rt_instr_ambiguous as usize, row);
            sentences.push(format!(
                "{rows} with other figures than an earlier one for the same CPU; this CPU's figures \
                 are not used"
            ));
        }
        if !self.unknown.is_empty() {
            let rows: u32 = self.unknown.values().sum();
            sentences.push(format!(
                "ignored {} for scenarios unknown to this version: {}",
                many(rows as usize, "row"),
                self.unknown.keys().join(", ")
            ));
        }
        sentences
    }
}

impl fmt::Display for Integrity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.tables {
            return f.write_str("published tables: only figures, as printed");
        }
        let Some(records) = &self.records else {
            return f.write_str(
                "no records: all figures are from lines without a checksum and are not verified",
            );
        };
        match records.expected {
            Some(expected) => write!(f, "{} of {expected} records", records.received)?,
            None => write!(f, "{} records, no end record", records.received)?,
        }
        for (count, phrase) in [
            (records.from_second, "from the second copy"),
            (records.malformed, "malformed"),
        ] {
            if count > 0 {
                write!(f, ", {count} {phrase}")?;
            }
        }
        Ok(())
    }
}
