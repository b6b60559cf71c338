//! A run, together with facts found only in its log.

use hardware::board::CpuIndex;
use hardware::spec::ticks::Clock;
use itertools::Itertools as _;
use serde::Serialize;
use suite::findings::list_first_few;
use suite::model::{
    Cell, ClosingLine, End, FigureScale, Run, RunId, Scenario, Skip, Status, Totals, Verdict,
    parse_totals, skipped_name,
};
use suite::plan::{Method, ScenarioId};

use super::boot_timestamp::BootTimestamp;
use super::grouped::grouped;
use super::integrity::Integrity;
use super::status_words::reason_text;

/// A run read from a log or from published tables. Its existence shows only that the input contains
/// a part of a run, or that [`Self::why_no_run`] says why not: [`Self::is_complete`] returns true if nothing is missing, and
/// [`Integrity::is_verified`] if every figure has a correct checksum.
#[derive(Clone, Debug, Default)]
pub struct LoggedRun {
    /// The run as the payload recorded it, or as far as it can be rebuilt.
    pub run: Run,
    /// The input and the run's position in it.
    pub source: Source,
    /// The firmware stages, in the order they printed their lines.
    pub firmware: Vec<Stage>,
    /// The boot timestamps, in boot order.
    pub boot: Vec<BootTimestamp>,
    /// The counter frequency in Hz that the user gave, for logs that do not contain it.
    pub given_hz: Option<u64>,
    /// Why there is no run, if the log ends while the board boots.
    pub why_no_run: Option<String>,
    /// The header's lines.
    pub header: HeaderLines,
    /// What was lost between the UART and the log.
    pub integrity: Integrity,
    /// The last line; None if the log does not have one.
    pub closing: Option<Closing>,
    /// A line that looks like a damaged last line.
    pub broken_closing: Option<String>,
    /// True if other text precedes the last line. The line may then be of another run, or of a
    /// program that quotes it.
    pub is_closing_hidden: bool,
    /// The number of scenarios that TFTF reports as failed but that are unknown to this version.
    pub strays: u32,
}

/// A run's position in the input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The file name, as specified by the user.
    pub input: String,
    /// The run's number within the file, counting from 1.
    #[serde(rename = "place")]
    pub run_number: u32,
    /// The first and last line numbers. The first line of the file is line 1.
    pub lines: (u64, u64),
    /// The offsets of the first byte and of the byte after the last one.
    pub bytes: (u64, u64),
}

impl Source {
    /// Returns the input and the run's number: `a.log, run 1`.
    pub fn text(&self) -> String {
        format!("{}, run {}", self.input, self.run_number)
    }
}

/// A firmware stage, as reported in its own output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stage {
    /// The name: `BL1`, `BL2`, `BL31`.
    pub name: String,
    /// Version and build, such as `v2.12.1(release):2.12.1`.
    pub version: Option<String>,
    /// The text after `Built : `.
    pub built: Option<String>,
}

/// Lines from the header, which have no checksum. If a record contains the same fact, the record
/// takes precedence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderLines {
    /// The run's identity.
    pub run: Option<RunId>,
    /// The run's identity in the summary.
    pub summary_run: Option<RunId>,
    /// The payload's version.
    pub version: Option<String>,
    /// The board name in the header, or the platform of published tables.
    pub board: Option<String>,
    /// The release named in the titles of published tables.
    pub release: Option<String>,
    /// True for published tables that identify CPUs by number without saying which clusters they
    /// are in.
    pub has_unknown_clusters: bool,
    /// The number of CPUs that the header gives.
    pub cpus: Option<usize>,
    /// The exception level reported in TFTF's output.
    pub exception_level: Option<u8>,
}

/// A run's last line, received whole. It has no checksum: it shows how the run ended, but not that
/// the log contains everything before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closing {
    /// The line's verdict.
    pub verdict: Verdict,
    /// The line, with dots in place of control characters.
    pub line: String,
}

impl Closing {
    /// Returns the counts from a PASS or FAIL line. Such a line does not include a sample count.
    pub fn totals(&self) -> Option<Totals> {
        parse_totals(self.line.trim_end())
    }

    /// Returns true if the run was not cut short.
    pub(super) fn is_reached(&self) -> bool {
        matches!(self.verdict, Verdict::Pass | Verdict::Fail)
    }

    /// Returns true if this is the last line of a run with this `end` record.
    pub(super) fn is_of(&self, end: &End) -> bool {
        self.line.trim_end() == ClosingLine::Ended(&end.totals).to_string()
    }
}

impl LoggedRun {
    /// Returns the payload's version; None for TFTF.
    pub fn payload_version(&self) -> Option<&str> {
        let head = self.run.head.as_ref().map(|head| head.version.as_str());
        head.or(self.header.version.as_deref())
    }

    /// Returns the board name.
    pub fn board(&self) -> Option<&str> {
        let head = self.run.head.as_ref().map(|head| head.model.as_str());
        head.or(self.header.board.as_deref())
    }

    /// Returns the exception level of the payload or of TFTF.
    pub fn exception_level(&self) -> Option<u8> {
        let facts = self.run.facts.as_ref().map(|facts| facts.exception_level);
        facts.or(self.header.exception_level)
    }

    /// Returns the run's clock.
    pub fn clock(&self) -> Clock {
        self.run.clock()
    }

    /// Returns the counter as a clock. In a log without records, the figures are in nanoseconds, but
    /// boot timestamps are still in ticks, so their frequency is unknown unless the user gave it.
    pub fn boot_clock(&self) -> Clock {
        let recorded = self.run.facts.as_ref().map(|facts| facts.frequency);
        Clock {
            hz: recorded.or(self.given_hz).unwrap_or(0),
        }
    }

    /// Returns true if a cell's figures should be marked because they come from a line without a
    /// checksum. Published tables are not marked.
    pub fn is_doubtful(&self, cell: &Cell) -> bool {
        let is_log_of_lines = self.integrity.records.is_none() && !self.integrity.tables;
        is_log_of_lines && cell.has_figures()
    }

    /// Returns `ticks` in nanoseconds, truncated as in RT_INSTR lines.
    pub fn ns(&self, ticks: u64) -> Option<u64> {
        self.clock().ns(ticks)
    }

    /// Returns a duration in the unit used in the tables: `12.34` (us), or ticks if the frequency
    /// is unknown.
    pub fn duration(&self, ticks: u64) -> String {
        FigureScale::of_durations(self.clock()).text(ticks)
    }

    /// Returns the unit of [`Self::duration`].
    pub fn unit(&self) -> &'static str {
        FigureScale::of_durations(self.clock()).name()
    }

    /// Returns the first scenario with this ID and method.
    pub fn scenario(&self, id: ScenarioId, method: Method) -> Option<&Scenario> {
        let mut scenarios = self.run.scenarios.iter();
        scenarios.find(|scenario| scenario.id == id && scenario.method == method)
    }

    /// Returns the scenarios measured with TFTF's method, with one cell per CPU, as chosen by
    /// [`Scenario::cell_of`]. The cells include the helper that was used to measure them, but no
    /// samples or histograms.
    pub fn suite_tables(&self) -> Vec<Scenario> {
        let cluster = |cpu: CpuIndex| self.run.cpu(cpu).cluster;
        let all_scenarios = self.run.scenarios.iter();
        let tftf = all_scenarios.filter(|scenario| scenario.method == Method::Tftf);
        let first_of_each = tftf.clone().unique_by(|scenario| scenario.id);
        let mut tables = Vec::new();
        for first_scenario in first_of_each {
            let is_same = |scenario: &&Scenario| scenario.id == first_scenario.id;
            let group = tftf.clone().filter(is_same);
            let mut cells = Vec::new();
            for cpu in self.run.cpu_indices() {
                if let Some((scenario, cell)) = Scenario::cell_of(group.clone(), cpu, &cluster) {
                    cells.push(Cell {
                        helper: scenario.helper.or(cell.helper),
                        ..cell.without_parts()
                    });
                }
            }
            tables.push(Scenario {
                conditions: first_scenario.conditions.clone(),
                cells,
                checks: first_scenario.checks.clone(),
                ..*first_scenario
            });
        }
        tables
    }

    /// Returns the firmware version. This is the last stage's version, because that stage
    /// implements PSCI.
    pub fn firmware_version(&self) -> Option<&str> {
        let mut stages = self.firmware.iter().rev();
        stages.find_map(|stage| stage.version.as_deref())
    }

    /// Returns a sentence that lists everything that was skipped, for `--deny-skipped`; None if
    /// nothing was skipped.
    pub fn denied(&self) -> Option<String> {
        let scenarios = self.run.scenarios.iter();
        let skips = scenarios
            .flat_map(|scenario| self.skips(scenario))
            .join("; ");
        (!skips.is_empty()).then(|| format!("skipped, which --deny-skipped forbids: {skips}"))
    }

    /// Returns what was skipped in a scenario: the scenario itself, or its rows by reason.
    fn skips(&self, scenario: &Scenario) -> Vec<String> {
        let name = skipped_name(scenario.id, scenario.method);
        let mut skips = Vec::new();
        match scenario.status {
            Status::Skipped(Skip::NotStated) => skips.push(name.clone()),
            Status::Skipped(skip) => skips.push(format!("{name}: {}", reason_text(&skip))),
            Status::Passed | Status::Failed(_) | Status::Crashed | Status::Unknown => {}
        }
        let rows = self.skipped_rows(scenario).into_iter();
        skips.extend(rows.map(|(cpus, skip)| format!("{name}, {cpus}: {}", reason_text(&skip))));
        skips
    }

    /// Returns a scenario's skipped rows: each reason, with its CPUs.
    pub fn skipped_rows(&self, scenario: &Scenario) -> Vec<(String, Skip)> {
        let cells = scenario.suite_cells().iter();
        let skips = cells.filter_map(|cell| Some((cell.skipped?, cell.cpu)));
        grouped(skips)
            .into_iter()
            .map(|(skip, cpus)| (self.list_cpus(&cpus), skip))
            .collect()
    }

    /// Lists the labels of the first few CPUs and counts the rest.
    pub(super) fn list_cpus(&self, cpus: &[CpuIndex]) -> String {
        let labels = cpus.iter().map(|cpu| self.run.label(*cpu));
        format!("CPU {}", list_first_few(labels))
    }
}
