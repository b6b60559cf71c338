//! What a report is about: the model that every exporter takes.
//!
//! * Durations are in **ticks** of the run's counter, as unsigned integers,
//!   and nothing is a float: [`Run::ns`] and [`Run::centi_us`] are the only
//!   ways to time. A run that was read from a plain TFTF log, which prints
//!   nanoseconds, has a counter of 1 GHz.
//! * What a log does not say is `None` or an empty list. Nothing is made up.
//! * What is known to `psci_bench` has its types; words of a later version
//!   are a [`Term::Other`], keys of one are in `others`.
//! * A CPU is an index into [`Run::cpus`]; across runs it is its
//!   [`Cpu::mpidr`].

use psci_bench::image::Conduit;
use psci_bench::plan::{EndAction, Method, ScenarioId, WakePattern};
use psci_bench::spec::caches::Cache;
use psci_bench::spec::psci::StateFormat;
use psci_bench::spec::ticks::Clock;

use super::closing::{ByRecords, Closing};
use super::integrity::Integrity;
use super::results::{Row, Test};
use super::term::{Other, Term};

/// One run of the payload, or of TFTF.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Where it was read.
    pub source: Source,
    /// The payload's version; None for TFTF, and where the record was lost.
    pub version: Option<String>,
    /// The board's name.
    pub model: Option<String>,
    /// Where the CPUs' labels come from: `cpu-map` or `mpidr`.
    pub labels: Option<String>,
    /// The machine.
    pub facts: Facts,
    /// What was asked for.
    pub plan: Plan,
    /// The firmware's stages, in the order in which they spoke.
    pub firmware: Vec<Stage>,
    /// The CPUs, in the board's order, which is MPIDR's.
    pub cpus: Vec<Cpu>,
    /// The scenarios, each by a method, in the order in which they ran.
    pub tests: Vec<Test>,
    /// How far the above can be trusted.
    pub integrity: Integrity,
    /// How the run ended; None where it has no last line.
    pub closing: Option<Closing>,
    /// What came of the last line where it came damaged.
    pub broken_closing: Option<String>,
    /// How it ended by its records; None where they are not whole.
    pub by_records: Option<ByRecords>,
    /// How many scenarios that are not known here have failed, by lines.
    pub strays: u32,
    /// Keys of the `run` record that are not known here.
    pub others: Vec<Other>,
}

/// Where a run was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

/// What the payload found out about the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Counter frequency as CNTFRQ_EL0 says; 0 when that says nothing.
    pub hz: Option<u64>,
    /// The counter that everything is measured by: `CNTPCT` or `CNTVCT`.
    pub counter: Option<String>,
    /// The timer that wakes a CPU.
    pub timer: Option<String>,
    /// Its interrupt.
    pub timer_intid: Option<u32>,
    /// Base address of the timer frame that wakes CPUs whose own timers stop.
    pub frame: Option<u64>,
    /// Its interrupt.
    pub frame_intid: Option<u32>,
    /// Exception level of the payload.
    pub el: Option<u8>,
    /// Version of the GIC architecture.
    pub gic: Option<u8>,
    /// How PSCI is called.
    pub conduit: Option<Term<Conduit>>,
    /// PSCI_VERSION's answer: major version in bits 30:16, minor in 15:0.
    pub psci: Option<u32>,
    /// SMCCC_VERSION's answer, in the same format.
    pub smccc: Option<u32>,
    /// The UID of whoever handles PSCI's calls.
    pub service: Option<String>,
    /// Its revision, such as `0.1`.
    pub service_revision: Option<String>,
    /// Layout of `power_state`.
    pub state_format: Option<Term<StateFormat>>,
    /// The lead CPU.
    pub lead: Option<usize>,
    /// MIDR_EL1 of the lead.
    pub midr: Option<u64>,
    /// The function ID of GET_TIMESTAMP, where the firmware has PMF.
    pub pmf: Option<u32>,
    /// Why PMF's timestamps can not be read, where they can not; a word with
    /// `_` for blanks.
    pub pmf_error: Option<String>,
    /// Base address of the watchdog.
    pub watchdog: Option<u64>,
    /// Whether there is PSCI_STAT.
    pub stat: Option<bool>,
    /// Ticks that reading the counter takes.
    pub cost_counter: Option<u64>,
    /// Ticks that a timed region takes without a call in it.
    pub cost_empty: Option<u64>,
    /// Ticks that reading one timestamp takes.
    pub cost_pmf: Option<u64>,
    /// Keys that are not known here.
    pub others: Vec<Other>,
}

/// What was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Samples of each CPU in each scenario.
    pub iterations: Option<u32>,
    /// Samples before those that are not counted.
    pub warmup: Option<u32>,
    /// Number of scenarios.
    pub scenarios: Option<u32>,
    /// The methods, in their order.
    pub methods: Vec<Term<Method>>,
    /// When the CPUs of a parallel round wake up.
    pub wake: Option<Term<WakePattern>>,
    /// What was done at the end.
    pub end: Option<Term<EndAction>>,
    /// Whether every sample was sent.
    pub samples: bool,
    /// `power_state` given for the deepest level.
    pub deepest: Option<u32>,
    /// `power_state` given for level 0.
    pub core: Option<u32>,
    /// Keys that are not known here.
    pub others: Vec<Other>,
}

impl Plan {
    /// The value of a key that is not known here.
    #[must_use]
    pub fn other(&self, key: &str) -> Option<&str> {
        let found = self.others.iter().find(|it| it.0 == key);
        found.map(|it| it.1.as_str())
    }
}

/// A CPU of the board.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cpu {
    /// The affinity fields of its MPIDR_EL1; None in a TFTF log.
    pub mpidr: Option<u64>,
    /// The cluster's number, as the board labels it.
    pub cluster: u32,
    /// The core's number in its cluster.
    pub core: u32,
    /// The thread's number in its core.
    pub thread: u32,
    /// Whether the labels were guessed of the MPIDR: its record was lost.
    pub guessed: bool,
    /// MIDR_EL1, where the log has it.
    pub midr: Option<u64>,
    /// Its caches, where the log has them.
    pub caches: Vec<Cache>,
}

/// A stage of the firmware, as its own lines name it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stage {
    /// Its name: `BL1`, `BL2`, `BL31`.
    pub name: String,
    /// Version and build, such as `v2.12.1(release):2.12.1`.
    pub version: Option<String>,
    /// What follows `Built : `.
    pub built: Option<String>,
}

impl Run {
    /// The counter as a clock. It may be one whose frequency is not known:
    /// then everything is told in ticks.
    #[must_use]
    pub fn clock(&self) -> Clock {
        let hz = self.facts.hz;
        let lines_only = self.integrity.records.is_none();
        Clock {
            hz: hz.unwrap_or(if lines_only { 1_000_000_000 } else { 0 }),
        }
    }

    /// `ticks` in nanoseconds, truncated, as the RT_INSTR lines have it.
    #[must_use]
    pub fn ns(&self, ticks: u64) -> Option<u64> {
        self.clock().ns(ticks)
    }

    /// `ticks` in hundredths of a microsecond, rounded from [`Run::ns`].
    #[must_use]
    pub fn centi_us(&self, ticks: u64) -> Option<u64> {
        self.clock().centi_us(ticks)
    }

    /// A duration in the unit of tables: `12.34` (us), or ticks where the
    /// frequency is not known. [`Run::unit`] is the unit's name.
    #[must_use]
    pub fn shown(&self, ticks: u64) -> String {
        match self.centi_us(ticks) {
            Some(value) => format!("{}.{:02}", value / 100, value % 100),
            None => ticks.to_string(),
        }
    }

    /// The unit of [`Run::shown`].
    #[must_use]
    pub fn unit(&self) -> &'static str {
        if self.clock().is_known() {
            "us"
        } else {
            "ticks"
        }
    }

    /// The most threads that a core has.
    #[must_use]
    pub fn threads(&self) -> u32 {
        // Asked for each line of a table: a loop is quick however it is built.
        let mut most = 0;
        for cpu in &self.cpus {
            if cpu.thread > most {
                most = cpu.thread;
            }
        }
        most.saturating_add(1)
    }

    /// The core's number where there is room for but one, as in RT_INSTR
    /// lines: threads are counted through.
    #[must_use]
    pub fn core_number(&self, cpu: &Cpu) -> u64 {
        u64::from(cpu.core) * u64::from(self.threads()) + u64::from(cpu.thread)
    }

    /// A CPU's name in sentences: `1.3`, or `1.3.0` where cores have threads.
    #[must_use]
    pub fn label(&self, cpu: usize) -> String {
        let Some(of) = self.cpus.get(cpu) else {
            return format!("#{cpu}");
        };
        let Cpu { cluster, core, .. } = of;
        match self.threads() {
            1 => format!("{cluster}.{core}"),
            _ => format!("{cluster}.{core}.{}", of.thread),
        }
    }

    /// Whether the figures of a row are from a line without a checksum, and to
    /// be marked so.
    #[must_use]
    pub fn is_doubtful(&self, row: &Row) -> bool {
        !row.verified && !row.figures.is_empty() && !self.integrity.tables
    }

    /// The CPU with this MPIDR.
    #[must_use]
    pub fn cpu_by_mpidr(&self, mpidr: u64) -> Option<usize> {
        self.cpus.iter().position(|cpu| cpu.mpidr == Some(mpidr))
    }

    /// The first scenario with this ID, by this method.
    #[must_use]
    pub fn test(&self, scenario: ScenarioId, method: Method) -> Option<&Test> {
        let own = |test: &&Test| test.scenario.is(scenario) && test.method.is(method);
        self.tests.iter().find(own)
    }

    /// The tests of TFTF's method as its frame shows them: with one row for each
    /// CPU. Of a scenario with several helpers that is the row by the first one of
    /// another cluster, else by the first other one.
    #[must_use]
    pub fn framed(&self) -> Vec<Test> {
        let mut framed: Vec<Test> = Vec::new();
        for test in self
            .tests
            .iter()
            .filter(|test| test.method.is(Method::Tftf))
        {
            let Some(whole) = framed.iter_mut().find(|it| it.scenario == test.scenario) else {
                framed.push(test.clone());
                continue;
            };
            for row in &test.rows {
                let cluster = |cpu: usize| self.cpus.get(cpu).map(|cpu| cpu.cluster);
                let near = |helper: Option<usize>| {
                    helper.is_some_and(|helper| cluster(helper) == cluster(row.cpu))
                };
                match whole.rows.iter_mut().find(|it| it.cpu == row.cpu) {
                    Some(own) if near(own.helper) && !near(row.helper) => *own = row.clone(),
                    Some(_) => {}
                    None => whole.rows.push(row.clone()),
                }
            }
            whole.rows.sort_by_key(|row| row.cpu);
        }
        framed
    }

    /// The firmware's version: that of its last stage, which is the one that
    /// PSCI is in.
    #[must_use]
    pub fn firmware_version(&self) -> Option<&str> {
        let stages = self.firmware.iter().rev();
        stages.filter_map(|stage| stage.version.as_deref()).next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::integrity::Records;

    #[test]
    fn a_clock_that_is_not_known_has_no_time() {
        let mut run = Run::default();
        assert_eq!((run.ns(7), run.unit()), (Some(7), "us"));
        run.integrity.records = Some(Records::default());
        assert_eq!((run.ns(7), run.unit()), (None, "ticks"));
        assert_eq!(run.shown(7), "7");
        run.facts.hz = Some(50_000_000);
        assert_eq!((run.ns(7), run.shown(7).as_str()), (Some(140), "0.14"));
    }

    #[test]
    fn labels() {
        let cpu = |cluster, core, thread| Cpu {
            cluster,
            core,
            thread,
            ..Cpu::default()
        };
        let mut run = Run {
            cpus: vec![cpu(0, 0, 0), cpu(0, 1, 0)],
            ..Run::default()
        };
        assert_eq!(
            (run.label(1).as_str(), run.label(2).as_str()),
            ("0.1", "#2")
        );
        run.cpus.push(cpu(0, 1, 1));
        assert_eq!(run.label(2), "0.1.1");
        assert_eq!(run.core_number(&run.cpus[2]), 3);
    }
}
