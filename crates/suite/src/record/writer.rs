//! Writes a run's records.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::crc::CRC_32;
use hardware::board::CpuIndex;

use super::record::{CRC_DIGITS, LINE_MAX, MARK, Record};
use crate::measure::{Facts, Identity, Metric};
use crate::model::{BinCounts, Cell, CellStep, End, Head, Run, RunId, Scenario, ScenarioKey};
use crate::plan::{Key, Plan, Records};

/// The number of bytes reserved for a line. A cell may be longer than a line until it is split into
/// parts.
const ROOM: usize = 4 * LINE_MAX;

/// The maximum number of CPUs in a record for several CPUs.
const CPUS_PER_RECORD: usize = 16;

/// Marks text that was truncated.
const CUT: &str = " ...";

/// Writes and numbers records.
pub struct Writer {
    copies: Records,
    run: RunId,
    seq: u32,
    line: String,
}

impl Writer {
    /// Reserves memory, and starts numbering the records of `run` from 0.
    pub fn new(copies: Records, run: RunId) -> Self {
        Self {
            copies,
            run,
            seq: 0,
            line: String::with_capacity(ROOM),
        }
    }

    /// Writes everything known before the first scenario. The lead is the only CPU whose identity
    /// is included.
    pub fn write_machine(&mut self, out: &mut dyn Write, run: &Run) -> fmt::Result {
        self.block(out, &|writer, out| {
            if let Some(head) = &run.head {
                writer.head(out, head.clone())?;
            }
            if let Some(facts) = run.facts {
                writer.write_record(out, Record::Facts(facts))?;
            }
            if let Some(plan) = run.plan {
                writer.plan(out, plan)?;
            }
            let firsts = run.cpu_indices().step_by(CPUS_PER_RECORD);
            for (first, cpus) in firsts.zip(run.cpus.chunks(CPUS_PER_RECORD)) {
                writer.write_record(out, Record::Cpus(first, cpus.to_vec()))?;
            }
            for state in &run.left_out {
                writer.write_record(out, Record::LeftOut(state.clone()))?;
            }
            match run.facts {
                Some(facts) => writer.identity(out, &[(facts.lead, facts.own)]),
                None => Ok(()),
            }
        })
    }

    /// Writes the facts again after trials have changed them. Readers use the last version.
    pub fn write_facts(&mut self, out: &mut dyn Write, facts: Facts) -> fmt::Result {
        self.block(out, &|writer, out| {
            writer.write_record(out, Record::Facts(facts))
        })
    }

    /// Writes a scenario, with all its helper placements.
    pub fn write_scenario(&mut self, out: &mut dyn Write, group: &[Scenario]) -> fmt::Result {
        self.block(out, &|writer, out| {
            group
                .iter()
                .try_for_each(|scenario| writer.scenario_records(out, scenario))
        })
    }

    /// Sets the number of records in the end record, and writes that record after the CPUs'
    /// identities.
    pub fn write_end(&mut self, out: &mut dyn Write, run: &Run, end: End) -> fmt::Result {
        self.block(out, &|writer, out| {
            let known: Vec<(CpuIndex, Identity)> = run
                .cpu_indices()
                .zip(&run.cpus)
                .filter_map(|(index, cpu)| Some((index, cpu.identity?)))
                .collect();
            let is_same =
                |one: &(_, _), other: &(_, _)| without_clock(one.1) == without_clock(other.1);
            for same in known.chunk_by(is_same) {
                for cpus in same.chunks(CPUS_PER_RECORD) {
                    writer.identity(out, cpus)?;
                }
            }
            let records = writer.seq + 1;
            writer.write_record(out, Record::End(End { records, ..end }))
        })
    }

    /// Writes the head. Truncates the board name if the line is too long.
    fn head(&mut self, out: &mut dyn Write, mut head: Head) -> fmt::Result {
        while !self.fits(&Record::Run(head.clone())) && head.model.len() > 2 * CUT.len() {
            let half = head.model.floor_char_boundary(head.model.len() / 2);
            head.model.truncate(half);
            head.model.push_str(CUT);
        }
        self.write_record(out, Record::Run(head))
    }

    /// Writes the plan, split into halves if it is too long for one line.
    fn plan(&mut self, out: &mut dyn Write, plan: Plan) -> fmt::Result {
        let keys: Vec<Key> = plan.known().map(|(key, _)| key).collect();
        let Some((middle, true)) = keys
            .get(keys.len() / 2)
            .map(|middle_key| (*middle_key, !self.fits(&Record::Plan(plan))))
        else {
            return self.write_record(out, Record::Plan(plan));
        };
        self.plan(out, plan.without(|key| key >= middle))?;
        self.plan(out, plan.without(|key| key < middle))
    }

    /// Writes the identity of CPUs that differ only in their clocks.
    fn identity(&mut self, out: &mut dyn Write, cpus: &[(CpuIndex, Identity)]) -> fmt::Result {
        let Some((_, first)) = cpus.first() else {
            return Ok(());
        };
        let set = cpus.iter().map(|(index, _)| *index).collect();
        let clocks = cpus.iter().map(|(_, identity)| identity.clock_mhz);
        let record = Record::Identity(set, without_clock(*first), clocks.collect());
        self.write_record(out, record)
    }

    /// Writes one record. A line that is too long is omitted, which leaves a gap in the numbers.
    pub fn write_record(&mut self, out: &mut dyn Write, record: Record) -> fmt::Result {
        let fits = self.fits(&record);
        debug_assert!(fits, "too long: {record:?}");
        if fits {
            writeln!(out, "{}", self.line)?;
        }
        self.seq += 1;
        Ok(())
    }

    /// Writes a block of records as many times as requested, with the same numbers.
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

    /// Writes the record's line into `line`. Returns false if it is too long.
    fn fits(&mut self, record: &Record) -> bool {
        let json =
            serde_json::to_string(record).expect("records contain no floats, and only string keys");
        self.line.clear();
        // Writing to a String cannot fail.
        let _ = write!(self.line, "{MARK}{} {:04} ", self.run, self.seq);
        for letter in json.chars() {
            if letter == '@' || !letter.is_ascii() || letter.is_ascii_control() {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    let _ = write!(self.line, "\\u{unit:04x}");
                }
            } else {
                self.line.push(letter);
            }
        }
        let crc = CRC_32.checksum(self.line.as_bytes());
        let _ = write!(self.line, " {crc:0CRC_DIGITS$x}");
        self.line.len() <= LINE_MAX
    }

    /// Writes all records of a scenario. Its own record comes last.
    fn scenario_records(&mut self, out: &mut dyn Write, scenario: &Scenario) -> fmt::Result {
        let key = scenario.key();
        let first = self.seq;
        for (nth, cell) in (0..).zip(&scenario.cells) {
            let index = if scenario.id.is_suite() {
                cell.cpu.into()
            } else {
                nth
            };
            self.cell(out, (key, index), cell.without_parts())?;
            for sample in cell.samples.iter() {
                self.write_record(out, Record::Sample(key, index, sample))?;
            }
            for series in &cell.series {
                if let Some(bins) = &series.histogram {
                    let at = (key, index, series.metric);
                    self.histogram(out, at, bins.first, &bins.counts)?;
                }
            }
        }
        for check in &scenario.checks {
            self.write_record(out, Record::Check(key, *check))?;
        }
        let record = Record::Scenario(
            key,
            scenario.status,
            scenario.conditions.clone(),
            self.seq + 1 - first,
        );
        self.write_record(out, record)
    }

    /// Writes a cell without samples and histograms, split into parts if it is too long for one
    /// line.
    fn cell(
        &mut self,
        out: &mut dyn Write,
        (key, index): (ScenarioKey, u32),
        cell: Cell,
    ) -> fmt::Result {
        let mut record = Record::Cell((key, index, cell));
        let mut rest = None;
        if !self.fits(&record)
            && let Record::Cell((.., cell)) = &mut record
        {
            rest = split(cell);
        }
        self.write_record(out, record)?;
        match rest {
            Some(rest) => self.cell(out, (key, index), rest),
            None => Ok(()),
        }
    }

    /// Writes a histogram, split into halves if it is too long for one line. Omits empty bins at
    /// the start and end of each half.
    fn histogram(
        &mut self,
        out: &mut dyn Write,
        at: (ScenarioKey, u32, Metric),
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
        let part = BinCounts {
            first,
            counts: counts.to_vec(),
        };
        let record = Record::Histogram(at.0, at.1, at.2, part);
        if counts.len() < 2 || self.fits(&record) {
            return self.write_record(out, record);
        }
        let (left, right) = counts.split_at(counts.len() / 2);
        let middle = first + left.len() as u16;
        self.histogram(out, at, first, left)?;
        self.histogram(out, at, middle, right)
    }
}

/// Removes the series and instants from a cell and returns them. If `cell` is itself a split-off
/// part, removes half of its series. Returns None if there is nothing to remove.
fn split(cell: &mut Cell) -> Option<Cell> {
    let mut rest = Cell::new(cell.cpu, CellStep::default());
    if cell.lacks_own_record() {
        rest.series = cell.series.split_off(cell.series.len().div_ceil(2));
    } else {
        rest.series = core::mem::take(&mut cell.series);
        rest.shown = cell.shown.take();
    }
    let is_empty = rest.series.is_empty() && rest.shown.is_none();
    (!is_empty).then_some(rest)
}

/// Returns the identity that CPUs with different clocks share.
fn without_clock(identity: Identity) -> Identity {
    Identity {
        clock_mhz: None,
        ..identity
    }
}
