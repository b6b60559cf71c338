//! A run with what only its log tells.

use psci_bench::model::Verdict;
use psci_bench::model::new::{Row, Run, Scenario};
use psci_bench::plan::{Method, ScenarioId};

use crate::report::model::{Closing, Integrity, Source, Stage};

/// A run as it was read from a log or from published tables.
#[derive(Clone, Debug, Default)]
pub struct LoggedRun {
    /// The run.
    pub run: Run,
    /// The input, and the place in it.
    pub source: Source,
    /// The firmware's stages, in the order of their lines.
    pub firmware: Vec<Stage>,
    /// The losses between the UART and the log.
    pub integrity: Integrity,
    /// The last line; None in a log without one.
    pub closing: Option<Closing>,
    /// A line that is a damaged last line.
    pub broken_closing: Option<String>,
    /// Scenarios that have failed by TFTF's lines and are unknown to this version.
    pub strays: u32,
}

impl LoggedRun {
    /// Returns the verdict: by the records if they are whole, else by the last line.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        todo!()
    }

    /// Returns the last line, as it came or by the records, and its worth.
    #[must_use]
    pub fn verdict_text(&self) -> String {
        todo!()
    }

    /// Returns doubts about the run as it came, besides what it lacks.
    #[must_use]
    pub fn doubts(&self) -> Vec<String> {
        todo!()
    }

    /// Returns true if the log has the run to its end, with all records.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        todo!()
    }

    /// Returns the end of an incomplete run, and what to do about it.
    #[must_use]
    pub fn end_lacks(&self) -> String {
        todo!()
    }

    /// Returns true for a row whose figures are from a line without a checksum and
    /// are marked so. Published tables are not marked.
    #[must_use]
    pub fn is_doubtful(&self, row: &Row) -> bool {
        row.is_from_line() && !self.integrity.tables
    }

    /// Returns `ticks` in nanoseconds, truncated, as RT_INSTR lines have it.
    #[must_use]
    pub fn ns(&self, ticks: u64) -> Option<u64> {
        self.run.clock().ns(ticks)
    }

    /// Returns `ticks` in hundredths of a microsecond, rounded.
    #[must_use]
    pub fn centi_us(&self, ticks: u64) -> Option<u64> {
        self.run.clock().centi_us(ticks)
    }

    /// Returns a duration in the unit of tables: `12.34` (us), or ticks if the
    /// frequency is unknown.
    #[must_use]
    pub fn duration(&self, ticks: u64) -> String {
        match self.centi_us(ticks) {
            Some(value) => format!("{}.{:02}", value / 100, value % 100),
            None => ticks.to_string(),
        }
    }

    /// Returns the unit of [`Self::duration`].
    #[must_use]
    pub fn unit(&self) -> &'static str {
        if self.run.clock().is_known() {
            "us"
        } else {
            "ticks"
        }
    }

    /// Returns the index of the CPU with this MPIDR.
    #[must_use]
    pub fn cpu_by_mpidr(&self, mpidr: u64) -> Option<u16> {
        let place = self
            .run
            .cpus
            .iter()
            .position(|cpu| cpu.mpidr == Some(mpidr));
        place.and_then(|place| u16::try_from(place).ok())
    }

    /// Returns the first scenario with this ID, by this method.
    #[must_use]
    pub fn scenario(&self, id: ScenarioId, method: Method) -> Option<&Scenario> {
        let mut scenarios = self.run.scenarios.iter();
        scenarios.find(|scenario| scenario.id == id && scenario.method == method)
    }

    /// Returns the scenarios of TFTF's method with one row for each CPU: that of
    /// [`Scenario::row_of`].
    #[must_use]
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
    #[must_use]
    pub fn firmware_version(&self) -> Option<&str> {
        let stages = self.firmware.iter().rev();
        stages.filter_map(|stage| stage.version.as_deref()).next()
    }
}
