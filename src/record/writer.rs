//! Writes the records of a run.

use alloc::string::String;
use core::fmt::{self, Write};

use super::crc::Crc32;
use super::record::{CRC_DIGITS, LINE_MAX, MARK, Record};
use crate::model::{Cpu, CpuSet, End, Point, Row, Run, Scenario, ScenarioKey, Spread, Statistic};
use crate::plan::Records;

/// Bytes that are reserved for a line: a row has more than fit before its parts are
/// written by themselves.
const ROOM: usize = 4 * LINE_MAX;

/// The mark of a text whose end was left out.
const CUT: &str = " ...";

/// Writes records, and numbers them.
pub struct Writer {
    copies: Records,
    seq: u32,
    line: String,
}

impl Writer {
    /// Reserves the memory, and begins at 0.
    pub fn new(copies: Records) -> Self {
        Self {
            copies,
            seq: 0,
            line: String::with_capacity(ROOM),
        }
    }

    /// Writes what is known before the first scenario: of the CPUs' identities, the
    /// lead's.
    pub fn machine(&mut self, out: &mut dyn Write, run: &Run) -> fmt::Result {
        self.block(out, &|to, out| {
            if let Some(head) = &run.head {
                to.write(out, Record::Run(head.clone()))?;
            }
            if let Some(facts) = run.facts {
                to.write(out, Record::Facts(facts))?;
            }
            if let Some(plan) = run.plan {
                to.write(out, Record::Plan(plan))?;
            }
            for (index, cpu) in (0..).zip(&run.cpus) {
                let own = run.facts.filter(|facts| facts.lead == usize::from(index));
                let identity = own.map(|facts| facts.own);
                to.write(out, Record::Cpu(index, Cpu { identity, ..*cpu }))?;
            }
            Ok(())
        })
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
            let cpus = || (0..).zip(&run.cpus);
            for (first, cpu) in cpus() {
                let same = cpus().filter(|it| it.1.identity == cpu.identity);
                let same: CpuSet = same.map(|it| it.0).collect();
                if let Some(identity) = cpu.identity
                    && same.iter().next() == Some(first)
                {
                    to.write(out, Record::Identity(same, identity))?;
                }
            }
            let records = to.seq + 1;
            to.write(out, Record::End(End { records, ..end }))
        })
    }

    /// Writes one record. The end of a board's name or a sentence is left out if
    /// the line is too long. Any other line that is too long is left out, so that
    /// its number is missing.
    pub fn write(&mut self, out: &mut dyn Write, mut record: Record) -> fmt::Result {
        while !self.fits(&record) {
            let text = match &mut record {
                Record::Run(head) => &mut head.model,
                Record::Finding(_, finding) => &mut finding.sentence,
                _ => break,
            };
            if text.len() <= 2 * CUT.len() {
                break;
            }
            text.truncate(text.floor_char_boundary(text.len() / 2));
            text.push_str(CUT);
        }
        debug_assert!(self.line.len() <= LINE_MAX, "too long: {record:?}");
        if self.line.len() <= LINE_MAX {
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
        // A record has neither fractions nor maps: it can always be written.
        let json = serde_json::to_string(record).unwrap_or_default();
        self.line.clear();
        // A String takes all.
        let _ = write!(self.line, "{MARK}{:04} ", self.seq);
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
        let alone = Scenario {
            status: scenario.status,
            conditions: scenario.conditions.clone(),
            rejected: scenario.rejected.clone(),
            ..Scenario::new(key)
        };
        self.write(out, Record::Scenario(alone))?;
        for row in &scenario.rows {
            self.row(out, key, row)?;
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
        let mut findings = scenario.findings.iter();
        findings.try_for_each(|it| self.write(out, Record::Finding(key, it.clone())))
    }

    /// Writes a row: what does not fit in its line follows.
    fn row(&mut self, out: &mut dyn Write, key: ScenarioKey, row: &Row) -> fmt::Result {
        let (mut statistics, mut shown) = (None, None);
        let mut record = Record::Row(key, row.without_samples());
        if !self.fits(&record)
            && let Record::Row(_, part) = &mut record
        {
            statistics = Some(core::mem::take(&mut part.statistics));
        }
        if !self.fits(&record)
            && let Record::Row(_, part) = &mut record
        {
            shown = part.shown.take();
        }
        self.write(out, record)?;
        if let Some(statistics) = statistics {
            self.statistics(out, (key, row.cpu), &statistics)?;
        }
        if let Some(shown) = shown {
            self.write(out, Record::Shown(key, row.cpu, shown))?;
        }
        let mut samples = row.samples.iter();
        samples.try_for_each(|it| self.write(out, Record::Sample(key, row.cpu, it)))
    }

    /// Writes statistics, in halves if one line is too short for them.
    fn statistics(
        &mut self,
        out: &mut dyn Write,
        (key, cpu): (ScenarioKey, u16),
        list: &[Statistic],
    ) -> fmt::Result {
        let record = Record::Statistics(key, cpu, list.to_vec());
        if list.len() < 2 || self.fits(&record) {
            return self.write(out, record);
        }
        let (left, right) = list.split_at(list.len() / 2);
        self.statistics(out, (key, cpu), left)?;
        self.statistics(out, (key, cpu), right)
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
