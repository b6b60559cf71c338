//! How much of a run came through, and what did not.

use std::fmt;

use psci_bench::record::line::Type;

use crate::setup::plural::many;

/// How far a run can be trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Integrity {
    /// What came of the records; None where the log has none, as TFTF's: then
    /// every figure is from a line that may have suffered unseen.
    pub records: Option<Records>,
    /// Whether this is no log at all, but published tables of figures.
    pub tables: bool,
    /// Rows whose figures are from such lines.
    pub unverified_rows: u32,
    /// Rows whose own record was lost, and whose figures are of other records.
    pub derived_rows: u32,
    /// Whether `Exiting tests.` was seen.
    pub farewell: bool,
    /// RT_INSTR lines.
    pub rt_instr: u32,
    /// RT_INSTR lines whose figures are not those of the records.
    pub rt_instr_wrong: u32,
    /// RT_INSTR lines that say again what one before does.
    pub rt_instr_repeated: u32,
    /// RT_INSTR lines of a CPU of which another line says something else, so
    /// that neither is taken.
    pub rt_instr_ambiguous: u32,
}

/// What came of a run's records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// The version of their format, as the `run` record says.
    pub format: Option<u64>,
    /// How many there are, as the `end` record says.
    pub expected: Option<u64>,
    /// How many came through in at least one copy, the `end` record apart.
    pub received: u64,
    /// Of those, the ones that only the second copy had.
    pub from_second: u64,
    /// Of those, the ones that were damaged in both copies, at different
    /// places, and put together by their checksum.
    pub mended: u64,
    /// Lines that are records and have suffered.
    pub damaged: u64,
    /// Sound records whose type is not known here.
    pub unknown_types: u64,
    /// Sound records with a field that can not be what its key says.
    pub malformed: u64,
    /// Whether the checksum of all checksums is right; None where a record or
    /// the `end` is missing.
    pub crcs_match: Option<bool>,
    /// What is in neither copy.
    pub missing: Vec<Missing>,
}

/// The most gaps that are named one by one.
const NAMED_MAX: usize = 8;

/// Records in a row that are in neither copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The first one's place.
    pub first: u32,
    /// The last one's.
    pub last: u32,
    /// What comes before and after them.
    pub between: (Option<Type>, Option<Type>),
    /// Whether these two are of one CPU in one scenario.
    pub in_row: bool,
}

impl Missing {
    /// How many they are.
    #[must_use]
    pub fn count(&self) -> u64 {
        u64::from(self.last.saturating_sub(self.first)) + 1
    }

    /// Their type, where it can be told: each type has its place among the
    /// records of a CPU.
    #[must_use]
    pub fn kind(&self) -> Option<Type> {
        match self.between {
            // These stand together, whatever they are about.
            (Some(Type::Cpu), Some(Type::Cpu)) => Some(Type::Cpu),
            _ if !self.in_row => None,
            (Some(before), Some(after)) if before == after => Some(before),
            (Some(Type::Row), Some(Type::Event)) => Some(Type::Summary),
            _ => None,
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "record {:04}", self.first)?;
        } else {
            write!(f, "records {:04} to {:04}", self.first, self.last)?;
        }
        let word = |kind: Option<Type>| kind.map_or("?", Type::word);
        match (self.kind(), self.between) {
            (Some(kind), _) => write!(f, " ({})", kind.word()),
            (None, (None, None)) => Ok(()),
            (None, (before, after)) => {
                write!(f, " (between {} and {})", word(before), word(after))
            }
        }
    }
}

impl Integrity {
    /// Whether every record came through.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.records
            .as_ref()
            .is_some_and(|records| records.crcs_match == Some(true) && records.missing.is_empty())
    }

    /// What of the records is missing or wrong, a clause each; the first gaps
    /// by name.
    #[must_use]
    pub fn shortfalls(&self) -> Vec<String> {
        let Some(records) = &self.records else {
            return Vec::new();
        };
        let named = records.missing.iter().take(NAMED_MAX);
        let mut all: Vec<String> = named.map(|it| format!("{it} in neither copy")).collect();
        match records.missing.len().saturating_sub(NAMED_MAX) {
            0 => {}
            1 => all.push("one more gap".to_owned()),
            more => all.push(format!("{more} more gaps")),
        }
        if records.expected.is_none() {
            all.push("the end record in neither copy: there may be more".to_owned());
        }
        if records.crcs_match == Some(false) {
            all.push("the records' common checksum is wrong".to_owned());
        }
        all
    }

    /// Whether every figure is from a record.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        self.records.is_some() && self.unverified_rows == 0
    }
}

impl fmt::Display for Integrity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.tables {
            return f.write_str("published tables: figures alone, as they were printed");
        }
        let Some(records) = &self.records else {
            return f.write_str(
                "no records: all figures are from lines without a checksum, and not verified",
            );
        };
        match records.expected {
            Some(expected) => write!(f, "{} of {expected} records", records.received)?,
            None => write!(f, "{} records, and no end record", records.received)?,
        }
        for (count, what) in [
            (records.from_second, "from the second copy"),
            (records.mended, "mended of both copies"),
            (records.unknown_types, "of unknown type"),
            (records.malformed, "malformed"),
        ] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        if records.crcs_match == Some(false) {
            f.write_str(", and their common checksum is wrong")?;
        }
        if self.unverified_rows > 0 {
            let rows = many(self.unverified_rows as usize, "row");
            write!(f, "; {rows} not verified")?;
        }
        if self.derived_rows > 0 {
            let rows = many(self.derived_rows as usize, "row");
            write!(f, "; {rows} by other records of the CPU")?;
        }
        if self.rt_instr_wrong > 0 {
            let lines = many(self.rt_instr_wrong as usize, "RT_INSTR line");
            write!(f, "; {lines} damaged")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_wrong_is_told_and_not_at_length() {
        let mut integrity = Integrity::default();
        assert!(integrity.shortfalls().is_empty(), "there are no records");
        let missing = |first| Missing {
            first,
            last: first,
            between: (None, None),
            in_row: false,
        };
        let mut records = Records {
            expected: Some(90),
            crcs_match: Some(true),
            ..Records::default()
        };
        integrity.records = Some(records.clone());
        assert!(integrity.shortfalls().is_empty(), "all is well");
        records.missing = (0..9).map(|it| missing(it * 2)).collect();
        (records.expected, records.crcs_match) = (None, Some(false));
        integrity.records = Some(records.clone());
        let said = integrity.shortfalls();
        assert_eq!(said[7], "record 0014 in neither copy");
        let rest = [
            "one more gap",
            "the end record in neither copy: there may be more",
            "the records' common checksum is wrong",
        ];
        assert_eq!(said[8..], rest);
        records.missing.push(missing(40));
        integrity.records = Some(records);
        assert_eq!(integrity.shortfalls()[8], "2 more gaps");
    }

    #[test]
    fn what_is_missing_is_named() {
        let missing = |first, last, before, after, in_row| Missing {
            first,
            last,
            between: (before, after),
            in_row,
        };
        let said = |it: Missing| it.to_string();
        let m = missing(5, 5, Some(Type::Row), Some(Type::Event), true);
        assert_eq!(said(m), "record 0005 (m)");
        let s = missing(5, 9, Some(Type::Sample), Some(Type::Sample), true);
        assert_eq!(
            (s.count(), said(s).as_str()),
            (5, "records 0005 to 0009 (s)")
        );
        // Of two CPUs: there are other types between them.
        let s = missing(5, 9, Some(Type::Sample), Some(Type::Sample), false);
        assert_eq!(said(s), "records 0005 to 0009 (between s and s)");
        let open = missing(7, 7, Some(Type::Event), Some(Type::Reached), true);
        assert_eq!(said(open), "record 0007 (between ev and reached)");
        assert_eq!(
            said(missing(0, 2, None, None, false)),
            "records 0000 to 0002"
        );
    }
}
