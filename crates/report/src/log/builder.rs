//! Builds a [`LoggedRun`] from records and lines.

use hardware::board::{CPU_MAX, CpuIndex};
use hardware::text::keywords::Word as _;
use hardware::text::plural::many;
use hardware::text::untrusted::printable;
use host::untrusted_text::plain;
use suite::model::{Cpu, Head, Run, ScenarioKey, Status};
use suite::plan::ScenarioId;
use suite::record::{Record, RunBuilder};

use super::boot_timestamp::BootTimestamp;
use super::format_5::read_record;
use super::held_lines;
use super::integrity::NAMED_MAX;
use super::line_run::LineRun;
use super::logged_run::{Closing, LoggedRun, Stage};
use super::plain_line::{PlainLine, RtInstr};
use super::run_records::{RecordLine, RunRecords, unread_at};
use super::status_words::reason_word;

/// The upper bound on the number of bins in a histogram.
const BINS_MAX: usize = 1 << 12;

/// The maximum number of unknown scenarios that are listed by name.
const UNKNOWN_MAX: usize = 64;

/// The parts of a run that have been read so far.
#[derive(Default)]
pub(super) struct LoggedRunBuilder {
    pub(super) run_records: RunRecords,
    records: RunBuilder,
    /// All data from the log other than the run itself.
    pub(super) logged: LoggedRun,
    has_tftf_start: bool,
    lines: LineRun,
}

impl LoggedRunBuilder {
    /// Returns a builder for published tables.
    pub(super) fn of_tables() -> Self {
        let mut builder = Self::default();
        builder.logged.integrity.tables = true;
        builder
    }

    /// Returns true if anything other than firmware lines has been read.
    pub(super) fn is_begun(&self) -> bool {
        self.has_tftf_start || self.logged.header.version.is_some() || self.has_results()
    }

    fn has_results(&self) -> bool {
        let has_lines = !self.lines.is_empty() || self.logged.integrity.rt_instr > 0;
        has_lines || !self.run_records.is_empty() || self.is_closed()
    }

    /// Returns true after the last line. Any record that follows belongs to another run.
    pub(super) fn is_closed(&self) -> bool {
        self.logged.closing.is_some()
    }

    /// Returns true if `line` can only belong to the next run.
    pub(super) fn is_over_at(&self, line: &PlainLine<'_>) -> bool {
        let is_ended = self.is_closed() || self.run_records.is_ended();
        let has_payload = self.logged.header.version.is_some();
        match line {
            PlainLine::BootTimestamp(_) | PlainLine::Version { .. } | PlainLine::TftfStart => {
                self.is_begun()
            }
            PlainLine::Payload(_) => has_payload || self.has_results(),
            PlainLine::Run(id) => {
                let mut known_ids = [self.logged.header.run, self.run_records.run]
                    .into_iter()
                    .flatten();
                known_ids.any(|known_id| known_id != *id)
            }
            PlainLine::Begin(Some(scenario)) => is_ended || self.lines.has(*scenario),
            PlainLine::Begin(None) | PlainLine::RtInstr(_) => is_ended,
            // The last line may appear twice.
            PlainLine::Closing(_, line) => {
                let closing = self.logged.closing.as_ref();
                closing.is_some_and(|closing_line| closing_line.line != plain(line))
            }
            _ => false,
        }
    }

    /// Extends the run's range in the input to include a line.
    pub(super) fn extend(&mut self, line: u64, bytes: (u64, u64)) {
        let source = &mut self.logged.source;
        if source.lines.0 == 0 {
            source.lines.0 = line;
            source.bytes.0 = bytes.0;
        }
        source.lines.1 = line;
        source.bytes.1 = bytes.1;
    }

    /// Adds the valid record `claim` from line number `line`.
    pub(super) fn record(&mut self, claim: &RecordLine<'_>, line: u64) {
        let is_entered = self.run_records.enter(claim);
        match read_record(claim) {
            Some(record) if is_entered && is_possible(&record) => match record {
                Record::Run(head) => {
                    let model = printable(&head.model);
                    self.records.add_record(Record::Run(Head { model, ..head }));
                }
                record => self.records.add_record(record),
            },
            _ => {
                let counts = &mut self.run_records.counts;
                counts.malformed += 1;
                if counts.unread.len() < NAMED_MAX {
                    counts.unread.push(unread_at(claim, line));
                }
            }
        }
    }

    /// Adds a line. Returns false if the line is ignored.
    pub(super) fn line(&mut self, line: PlainLine<'_>) -> bool {
        let is_booting = !self.is_begun();
        let logged = &mut self.logged;
        match line {
            PlainLine::BootTimestamp(timestamp) => self.boot_timestamp(timestamp),
            PlainLine::UnreadBootTimestamp if is_booting => {
                logged.integrity.boot_timestamps_unread += 1;
            }
            PlainLine::Version { stage, version } => {
                let is_repeated = |known_stage: &Stage| {
                    known_stage.name == stage && known_stage.version.is_some()
                };
                // The firmware restarted before it reached the payload.
                if logged.firmware.iter().any(is_repeated) {
                    logged.firmware.clear();
                }
                self.stage(stage).version = Some(plain(version));
            }
            PlainLine::Built { stage, built } => self.stage(stage).built = Some(plain(built)),
            PlainLine::TftfStart => self.has_tftf_start = true,
            PlainLine::RunningAt(level) => logged.header.exception_level = Some(level),
            PlainLine::Payload(version) => logged.header.version = Some(plain(version)),
            PlainLine::Cpus(count) => logged.header.cpus = Some(count),
            PlainLine::Run(id) => logged.header.run = Some(id),
            PlainLine::SummaryRun(id) => logged.header.summary_run = Some(id),
            PlainLine::Board(board) => logged.header.board = Some(printable(board)),
            PlainLine::Begin(scenario) => self.lines.begin(scenario),
            PlainLine::RtInstr(line) => self.rt_instr(&line),
            PlainLine::Unread => logged.integrity.rt_instr_wrong += 1,
            PlainLine::Complete(status) => return self.lines.complete(status),
            PlainLine::Skipped(id, cpus) => self.lines.skip(id, cpus),
            PlainLine::Tally(status, count) => self.tally(status, count),
            PlainLine::Farewell => logged.integrity.farewell = true,
            PlainLine::Closing(verdict, line) => {
                let line = plain(line);
                logged.closing = Some(Closing { verdict, line });
            }
            PlainLine::Broken(line) => logged.broken_closing = Some(plain(line)),
            PlainLine::HiddenClosing(line) => {
                logged.broken_closing = Some(plain(line));
                logged.is_closing_hidden = true;
            }
            PlainLine::Other | PlainLine::UnreadBootTimestamp => return false,
        }
        true
    }

    fn boot_timestamp(&mut self, timestamp: BootTimestamp) {
        let logged = &mut self.logged;
        let last = logged.boot.last();
        // The firmware restarted before it reached the payload.
        if last.is_some_and(|last| last.point >= timestamp.point) {
            logged.boot.clear();
            logged.integrity.boot_timestamps_unread = 0;
        }
        logged.boot.push(timestamp);
    }

    fn stage(&mut self, name: &str) -> &mut Stage {
        let stages = &mut self.logged.firmware;
        let known = stages.iter().position(|stage| stage.name == name);
        let index = known.unwrap_or(stages.len());
        if known.is_none() {
            stages.push(Stage::default());
            name.clone_into(&mut stages[index].name);
        }
        &mut stages[index]
    }

    fn rt_instr(&mut self, line: &RtInstr<'_>) {
        let integrity = &mut self.logged.integrity;
        if !integrity.tables {
            integrity.rt_instr = integrity.rt_instr.saturating_add(1);
        }
        let is_known = self.lines.add(ScenarioId::from_word(line.tag), line);
        if !is_known && integrity.unknown.len() < UNKNOWN_MAX {
            *integrity.unknown.entry(line.tag.to_owned()).or_default() += 1;
        }
    }

    /// Checks a count in the TFTF summary against the lines before it.
    fn tally(&mut self, status: Status, count: usize) {
        let seen = self.lines.count_of(status);
        let contradictions = &mut self.logged.integrity.contradictions;
        if seen < count && contradictions.len() < NAMED_MAX {
            let tests = many(count, "test");
            let word = reason_word(&status);
            contradictions.push(format!(
                "TFTF counts {tests} {word}, but the log shows {seen}"
            ));
        }
    }

    /// Returns the run, built from records if there are any, and otherwise from lines. `number` is
    /// its number within the input.
    pub(super) fn finish(self, input: &str, number: u32) -> LoggedRun {
        let mut logged = self.logged;
        // A name may contain escape sequences, which must not reach a terminal.
        logged.source.input = plain(input);
        logged.source.run_number = number;
        logged.strays = self.lines.strays;
        let id = self.run_records.run;
        let records = self.run_records.finish();
        if records.received + records.damaged == 0 {
            logged.run = self.lines.run(&mut logged.integrity);
            let scenarios = logged.run.scenarios.iter();
            let doubtful_cells = scenarios
                .flat_map(|scenario| &scenario.cells)
                .filter(|cell| logged.is_doubtful(cell));
            logged.integrity.unverified_rows = doubtful_cells.count() as u32;
            return logged;
        }
        logged.run = Run {
            id,
            ..self.records.finish()
        };
        logged.integrity.guessed_cpus = label_lost_cpus(&mut logged.run);
        // Samples from a second copy of the records belong in the gaps, but were appended at the
        // end.
        if records.from_second > 0 {
            let scenarios = logged.run.scenarios.iter_mut();
            for cell in scenarios.flat_map(|scenario| &mut scenario.cells) {
                cell.samples.sort();
            }
        }
        logged.integrity.records = Some(records);
        // Records take precedence over lines.
        let wrong = held_lines::contradicted(&self.lines, &logged);
        logged.integrity.rt_instr_wrong += wrong.len() as u32;
        let among_records = logged.records_contradict();
        let with_lines = (!wrong.is_empty()).then(|| held_lines::clause(&wrong));
        logged.integrity.contradictions = among_records.into_iter().chain(with_lines).collect();
        logged
    }
}

/// Returns true if a record's CPU indices and histogram bins are in range. This limits the memory
/// that a log can use.
fn is_possible(record: &Record) -> bool {
    // In the TFTF suite, a cell's index is the index of its CPU.
    let cpu_of = |key: &ScenarioKey, index: u32| {
        if key.id.is_suite() {
            usize::try_from(index).unwrap_or(usize::MAX)
        } else {
            0
        }
    };
    let (helper, cpu) = match record {
        Record::Cpus(first, cpus) => (None, first.index() + cpus.len().saturating_sub(1)),
        Record::Scenario(key, ..) => (key.helper, 0),
        Record::Cell((key, index, cell)) => {
            let cpu = cell.cpu.index().max(cpu_of(key, *index));
            (key.helper.max(cell.helper), cpu)
        }
        Record::Sample(key, index, _) => (key.helper, cpu_of(key, *index)),
        Record::Histogram(.., bins) if usize::from(bins.first) > BINS_MAX => return false,
        Record::Histogram(key, ..) | Record::Check(key, _) => (key.helper, 0),
        Record::Identity(..)
        | Record::Run(_)
        | Record::Facts(_)
        | Record::Plan(_)
        | Record::LeftOut(_)
        | Record::End(_) => (None, 0),
    };
    cpu.max(helper.map_or(0, CpuIndex::index)) < CPU_MAX
}

/// Adds CPUs up to the highest index that a scenario uses. CPUs without a record get unique
/// made-up labels. Returns the number of CPUs with made-up labels.
fn label_lost_cpus(run: &mut Run) -> u32 {
    let named_cpus = run.scenarios.iter().flat_map(|scenario| {
        let cells = scenario.cells.iter();
        let measured = cells.flat_map(|cell| [Some(cell.cpu), cell.helper]);
        let checks = scenario.checks.iter();
        let checked = checks.map(|check| check.cpus.iter().last());
        measured.chain(checked).chain([scenario.helper])
    });
    let highest_cpu = named_cpus.flatten().max();
    let count = highest_cpu.map_or(0, |cpu| cpu.index() + 1);
    if run.cpus.len() < count {
        run.cpus.resize(count, Cpu::default());
    }
    let mut lost = 0;
    for (index, cpu) in (0..).zip(&mut run.cpus) {
        if cpu.mpidr.is_none() {
            (cpu.cluster, cpu.core) = (u16::MAX, index);
            lost += 1;
        }
    }
    lost
}
