//! Writes the records of a run.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::crc::Crc32;

use super::record::{CRC_DIGITS, LINE_MAX, MARK, Record};
use crate::measure::{Facts, Identity};
use crate::model::{End, Head, Point, Row, Run, RunId, Scenario, ScenarioKey, Spread};
use crate::plan::Records;

/// Bytes that are reserved for a line: a row has more than fit before its parts are
/// written by themselves.
const ROOM: usize = 4 * LINE_MAX;

/// The most CPUs in a record of several.
const CPUS: usize = 16;

/// The mark of a text whose end was left out.
const CUT: &str = " ...";

/// Writes records, and numbers them.
pub struct Writer {
    copies: Records,
    run: RunId,
    seq: u32,
    line: String,
}

impl Writer {
    /// Reserves the memory, and begins at 0 with the records of `run`.
    pub fn new(copies: Records, run: RunId) -> Self {
        Self {
            copies,
            run,
            seq: 0,
            line: String::with_capacity(ROOM),
        }
    }

    /// Writes what is known before the first scenario: of the CPUs' identities, the
    /// lead's.
    pub fn machine(&mut self, out: &mut dyn Write, run: &Run) -> fmt::Result {
        self.block(out, &|to, out| {
            if let Some(head) = &run.head {
                to.head(out, head.clone())?;
            }
            if let Some(facts) = run.facts {
                to.write(out, Record::Facts(facts))?;
            }
            if let Some(plan) = run.plan {
                to.write(out, Record::Plan(plan))?;
            }
            for (block, cpus) in (0..).zip(run.cpus.chunks(CPUS)) {
                to.write(out, Record::Cpus(block * CPUS as u16, cpus.to_vec()))?;
            }
            match run.facts {
                Some(facts) => to.identity(out, &[(facts.lead as u16, facts.own)]),
                None => Ok(()),
            }
        })
    }

    /// Writes the facts again after trials have changed them: readers take the last.
    pub fn facts(&mut self, out: &mut dyn Write, facts: Facts) -> fmt::Result {
        self.block(out, &|to, out| to.write(out, Record::Facts(facts)))
    }

    /// Writes a scenario, by each placement of its helper.
    pub fn scenario(&mut self, out: &mut dyn Write, group: &[Scenario]) -> fmt::Result {
        self.block(out, &|to, out| {
            group
                .iter()
                .try_for_each(|scenario| to.all_of(out, scenario))
        })
    }

    /// Writes the CPUs' identities and the end, whose number of records it sets.
    pub fn end(&mut self, out: &mut dyn Write, run: &Run, end: End) -> fmt::Result {
        self.block(out, &|to, out| {
            let known = (0..).zip(&run.cpus);
            let known = known.filter_map(|(index, cpu)| Some((index, cpu.identity?)));
            let known: Vec<_> = known.collect();
            let is_same = |a: &(_, _), b: &(_, _)| without_clock(a.1) == without_clock(b.1);
            for same in known.chunk_by(is_same) {
                same.chunks(CPUS).try_for_each(|it| to.identity(out, it))?;
            }
            let records = to.seq + 1;
            to.write(out, Record::End(End { records, ..end }))
        })
    }

    /// Writes the head. The end of the board's name is left out if the line is too long.
    fn head(&mut self, out: &mut dyn Write, mut head: Head) -> fmt::Result {
        while !self.fits(&Record::Run(head.clone())) && head.model.len() > 2 * CUT.len() {
            let half = head.model.floor_char_boundary(head.model.len() / 2);
            head.model.truncate(half);
            head.model.push_str(CUT);
        }
        self.write(out, Record::Run(head))
    }

    /// Writes the identity of CPUs that differ in the clock alone.
    fn identity(&mut self, out: &mut dyn Write, cpus: &[(u16, Identity)]) -> fmt::Result {
        let Some((_, first)) = cpus.first() else {
            return Ok(());
        };
        let set = cpus.iter().map(|it| it.0).collect();
        let clocks = cpus.iter().map(|it| it.1.clock_mhz).collect();
        self.write(out, Record::Identity(set, without_clock(*first), clocks))
    }

    /// Writes one record. A line that is too long is left out, so that its number is missing.
    pub fn write(&mut self, out: &mut dyn Write, record: Record) -> fmt::Result {
        let fits = self.fits(&record);
        debug_assert!(fits, "too long: {record:?}");
        if fits {
            writeln!(out, "{}", self.line)?;
        }
        self.seq += 1;
        Ok(())
    }

    /// Writes a block of records as often as asked for, with the same numbers.
    fn block(
        &mut self,
        out: &mut dyn Write,
        write: &dyn Fn(&mut Self, &mut dyn Write) -> fmt::Result,
    ) -> fmt::Result {
        let first = self.seq;
        for _ in 0..self.copies.copies() {
            self.seq = first;
            write(self, out)?;
        }
        Ok(())
    }

    /// Puts the record's line into `line`, and returns false if it is too long.
    fn fits(&mut self, record: &Record) -> bool {
        let json = serde_json::to_string(record);
        let json = json.expect("a record has neither fractions nor maps");
        self.line.clear();
        // A String takes all.
        let _ = write!(self.line, "{MARK}{} {:04} ", self.run, self.seq);
        for c in json.chars() {
            if c == '@' || !c.is_ascii() || c.is_ascii_control() {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(self.line, "\\u{unit:04x}");
                }
            } else {
                self.line.push(c);
            }
        }
        let crc = Crc32::of(self.line.as_bytes());
        let _ = write!(self.line, " {crc:0CRC_DIGITS$x}");
        self.line.len() <= LINE_MAX
    }

    fn all_of(&mut self, out: &mut dyn Write, scenario: &Scenario) -> fmt::Result {
        let key = scenario.key();
        let first = self.seq;
        for row in &scenario.rows {
            self.row(out, key, row.without_samples())?;
            let mut samples = row.samples.iter();
            samples.try_for_each(|it| self.write(out, Record::Sample(key, row.cpu, it)))?;
        }
        for (place, point) in (0..).zip(&scenario.points) {
            let alone = Point {
                spread: None,
                ..point.clone()
            };
            self.write(out, Record::Point(key, place, alone))?;
            if let Some(spread) = &point.spread {
                self.spread(out, (key, place), spread.first, &spread.counts)?;
            }
        }
        let own = Record::Scenario(
            key,
            scenario.status,
            scenario.conditions.clone(),
            scenario.rejected.clone(),
            self.seq + 1 - first,
        );
        self.write(out, own)
    }

    /// Writes a row without samples: in parts, if one line is too short for it.
    fn row(&mut self, out: &mut dyn Write, key: ScenarioKey, row: Row) -> fmt::Result {
        let mut record = Record::Row((key, row));
        let mut rest = None;
        if !self.fits(&record)
            && let Record::Row((_, row)) = &mut record
        {
            rest = split(row);
        }
        self.write(out, record)?;
        rest.map_or(Ok(()), |rest| self.row(out, key, rest))
    }

    /// Writes a spread, in halves if one line is too short for it. Empty bins at
    /// both ends of a half are left out.
    fn spread(
        &mut self,
        out: &mut dyn Write,
        (key, place): (ScenarioKey, u32),
        mut first: u16,
        mut counts: &[u32],
    ) -> fmt::Result {
        while let [0, rest @ ..] = counts {
            (first, counts) = (first + 1, rest);
        }
        while let [rest @ .., 0] = counts {
            counts = rest;
        }
        if counts.is_empty() {
            return Ok(());
        }
        let part = Spread {
            first,
            counts: counts.to_vec(),
        };
        let record = Record::Spread(key, place, part);
        if counts.len() < 2 || self.fits(&record) {
            return self.write(out, record);
        }
        let (left, right) = counts.split_at(counts.len() / 2);
        self.spread(out, (key, place), first, left)?;
        self.spread(out, (key, place), first + left.len() as u16, right)
    }
}

/// Takes out the statistics and instants of a row, or half of the statistics of what was
/// taken out before; None if there is nothing to take.
fn split(row: &mut Row) -> Option<Row> {
    let mut rest = Row {
        cpu: row.cpu,
        ..Row::default()
    };
    if row.lacks_own_record() {
        rest.statistics = row.statistics.split_off(row.statistics.len().div_ceil(2));
    } else {
        rest.statistics = core::mem::take(&mut row.statistics);
        rest.shown = row.shown.take();
    }
    let is_empty = rest.statistics.is_empty() && rest.shown.is_none();
    (!is_empty).then_some(rest)
}

fn without_clock(identity: Identity) -> Identity {
    Identity {
        clock_mhz: None,
        ..identity
    }
}
