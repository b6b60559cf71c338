//! A run with what only its log has.

use psci_bench::model::Verdict;
use psci_bench::model::{Figures, Row, Run, Scenario, Skip, Status};
use psci_bench::plan::{Method, ScenarioId};
use psci_bench::record::FORMAT;
use psci_bench::spec::ticks::Clock;
use serde::Serialize;

use super::closing::{Closing, Ending};
use super::integrity::Integrity;
use super::reason::reason_text;

/// A run as it was read from a log or from published tables.
#[derive(Clone, Debug, Default)]
pub struct LoggedRun {
    /// The run.
    pub run: Run,
    /// The input, and the place in it.
    pub source: Source,
    /// The firmware's stages, in the order of their lines.
    pub firmware: Vec<Stage>,
    /// Lines of the header.
    pub header: HeaderLines,
    /// The losses between the UART and the log.
    pub integrity: Integrity,
    /// The last line; None in a log without one.
    pub closing: Option<Closing>,
    /// A line that is a damaged last line.
    pub broken_closing: Option<String>,
    /// Scenarios that have failed by TFTF's lines and are unknown to this version.
    pub strays: u32,
}

/// The place of a run in the input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The file's name, as it was given.
    pub input: String,
    /// The run's place among those of the file, from 1.
    pub place: u32,
    /// The first and the last line, counted from 1 by line feeds.
    pub lines: (u64, u64),
    /// The first byte, and the one behind the last.
    pub bytes: (u64, u64),
}

/// A stage of the firmware, by its own lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stage {
    /// The name: `BL1`, `BL2`, `BL31`.
    pub name: String,
    /// Version and build, such as `v2.12.1(release):2.12.1`.
    pub version: Option<String>,
    /// The text after `Built : `.
    pub built: Option<String>,
}

/// The header's lines, which have no checksum: for logs whose records are lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderLines {
    /// The payload's version.
    pub version: Option<String>,
    /// The board's name.
    pub board: Option<String>,
    /// The exception level in the frame.
    pub exception_level: Option<u8>,
}

/// The most CPUs that are named of one reason.
const NAMED_MAX: usize = 8;

impl LoggedRun {
    fn ending(&self) -> Ending<'_> {
        Ending {
            closing: self.closing.as_ref(),
            broken: self.broken_closing.as_deref(),
            end: self.run.end.as_ref(),
            integrity: &self.integrity,
        }
    }

    /// Returns the verdict: by the `end` record, else by the last line.
    pub fn verdict(&self) -> Option<Verdict> {
        self.ending().verdict()
    }

    /// Returns the last line, as it came or by the records, and its worth.
    pub fn verdict_text(&self) -> String {
        self.ending().text()
    }

    /// Returns doubts about the run as it came, besides what it lacks.
    pub fn doubts(&self) -> Vec<String> {
        let mut all: Vec<String> = self.ending().doubt().into_iter().collect();
        let format = self.run.head.as_ref().map(|head| head.format);
        if let Some(format) = format.filter(|it| *it != FORMAT) {
            all.push(format!(
                "the records are of format {format}, and this version knows {FORMAT}: what they \
                 say may mean something else"
            ));
        }
        all.extend(self.integrity.doubts());
        all
    }

    /// Returns true if the log has the run to its end, with all records. A log of
    /// TFTF's is complete with its farewell, and published tables by themselves.
    pub fn is_complete(&self) -> bool {
        let all = self.integrity.records.is_none() || self.integrity.is_whole();
        self.integrity.tables || self.ending().is_reached() && all
    }

    /// Returns the end of an incomplete run, and what to do about it.
    pub fn end_lacks(&self) -> String {
        let is_tftf = self.header.version.is_none() && self.integrity.records.is_none();
        self.ending().lack(is_tftf)
    }

    /// Returns the payload's version; None for TFTF.
    pub fn payload_version(&self) -> Option<&str> {
        let head = self.run.head.as_ref().map(|head| head.version.as_str());
        head.or(self.header.version.as_deref())
    }

    /// Returns the board's name.
    pub fn board(&self) -> Option<&str> {
        let head = self.run.head.as_ref().map(|head| head.model.as_str());
        head.or(self.header.board.as_deref())
    }

    /// Returns the exception level of payload or TFTF.
    pub fn exception_level(&self) -> Option<u8> {
        let facts = self.run.facts.as_ref().map(|facts| facts.exception_level);
        facts.or(self.header.exception_level)
    }

    /// Returns the counter as a clock.
    pub fn clock(&self) -> Clock {
        self.run.clock()
    }

    /// Returns true for a row whose figures are from a line without a checksum and
    /// are marked so. Published tables are not marked.
    pub fn is_doubtful(&self, row: &Row) -> bool {
        let is_from_line = row.is_from_line() && row.figures != Figures::default();
        is_from_line && !self.integrity.tables
    }

    /// Returns `ticks` in nanoseconds, truncated, as RT_INSTR lines have it.
    pub fn ns(&self, ticks: u64) -> Option<u64> {
        self.run.clock().ns(ticks)
    }

    /// Returns `ticks` in hundredths of a microsecond, rounded.
    pub fn centi_us(&self, ticks: u64) -> Option<u64> {
        self.run.clock().centi_us(ticks)
    }

    /// Returns a duration in the unit of tables: `12.34` (us), or ticks if the
    /// frequency is unknown.
    pub fn duration(&self, ticks: u64) -> String {
        match self.centi_us(ticks) {
            Some(value) => format!("{}.{:02}", value / 100, value % 100),
            None => ticks.to_string(),
        }
    }

    /// Returns the unit of [`Self::duration`].
    pub fn unit(&self) -> &'static str {
        if self.run.clock().is_known() {
            "us"
        } else {
            "ticks"
        }
    }

    /// Returns the index of the CPU with this MPIDR.
    pub fn cpu_by_mpidr(&self, mpidr: u64) -> Option<u16> {
        let place = self
            .run
            .cpus
            .iter()
            .position(|cpu| cpu.mpidr == Some(mpidr));
        place.and_then(|place| u16::try_from(place).ok())
    }

    /// Returns the first scenario with this ID, by this method.
    pub fn scenario(&self, id: ScenarioId, method: Method) -> Option<&Scenario> {
        let mut scenarios = self.run.scenarios.iter();
        scenarios.find(|scenario| scenario.id == id && scenario.method == method)
    }

    /// Returns the scenarios of TFTF's method with one row for each CPU: that of
    /// [`Scenario::row_of`].
    pub fn framed(&self) -> Vec<Scenario> {
        let scenarios = self.run.scenarios.iter();
        let mut framed: Vec<Scenario> = Vec::new();
        for scenario in scenarios.filter(|it| it.method == Method::Tftf) {
            if framed.iter().any(|it| it.id == scenario.id) {
                continue;
            }
            let group: Vec<Scenario> = self
                .run
                .scenarios
                .iter()
                .filter(|it| it.method == Method::Tftf && it.id == scenario.id)
                .cloned()
                .collect();
            let cluster = |cpu: u16| self.run.cpu(cpu).cluster;
            let cpus = 0..u16::try_from(self.run.cpus.len()).unwrap_or(u16::MAX);
            let rows = cpus.filter_map(|cpu| Scenario::row_of(&group, cpu, &cluster));
            framed.push(Scenario {
                rows: rows.map(|(_, row)| row.clone()).collect(),
                ..scenario.clone()
            });
        }
        framed
    }

    /// Returns the firmware's version: that of its last stage, which has PSCI.
    pub fn firmware_version(&self) -> Option<&str> {
        let stages = self.firmware.iter().rev();
        stages.filter_map(|stage| stage.version.as_deref()).next()
    }

    /// Returns what was skipped, as a sentence for `--deny-skipped`; None if nothing
    /// was.
    pub fn denied(&self) -> Option<String> {
        let scenarios = self.run.scenarios.iter();
        let all: Vec<String> = scenarios.flat_map(|it| self.skips(it)).collect();
        (!all.is_empty())
            .then(|| format!("skipped, which --deny-skipped forbids: {}", all.join("; ")))
    }

    /// Returns the skips of a scenario: its own, or its rows' by their reasons.
    fn skips(&self, scenario: &Scenario) -> Vec<String> {
        let mut name = scenario.id.tag().to_owned();
        if scenario.id.is_suite() && scenario.method == Method::Warm {
            name.push_str(", method warm");
        }
        let mut all = Vec::new();
        if let Status::Skipped(skip) = scenario.status {
            all.push(match skip {
                Skip::NotStated => name.clone(),
                skip => format!("{name}: {}", reason_text(&skip)),
            });
        }
        let rows = self.skipped_rows(scenario).into_iter();
        all.extend(rows.map(|(cpus, skip)| format!("{name}, {cpus}: {}", reason_text(&skip))));
        all
    }

    /// Returns the skipped rows of a scenario: each reason with its CPUs.
    pub fn skipped_rows(&self, scenario: &Scenario) -> Vec<(String, Skip)> {
        let mut groups: Vec<(Skip, Vec<u16>)> = Vec::new();
        for row in &scenario.rows {
            let Some(skip) = row.skipped else { continue };
            match groups.iter_mut().find(|group| group.0 == skip) {
                Some(group) => group.1.push(row.cpu),
                None => groups.push((skip, vec![row.cpu])),
            }
        }
        let named = groups.into_iter().map(|(skip, rows)| {
            let labels = rows.iter().take(NAMED_MAX);
            let labels: Vec<String> = labels.map(|cpu| self.run.label(*cpu).to_string()).collect();
            let mut cpus = format!("CPU {}", labels.join(", "));
            if let Some(more) = rows.len().checked_sub(NAMED_MAX).filter(|it| *it > 0) {
                cpus.push_str(&format!(" and {more} more"));
            }
            (cpus, skip)
        });
        named.collect()
    }
}
