//! One run in the making: records and lines go in, a [`Run`] comes out.

use std::collections::HashMap;

use psci_bench::output::parse::Record;
use psci_bench::plan::{Method, ScenarioId};
use psci_bench::sample::Metric;

use super::super::model::{
    Closing, Cpu, Facts, Integrity, Row, Run, Source, Stage, Status, Term, Test,
};
use super::fields::Gathered;
use super::ledger::Ledger;
use super::text::{self, RtInstr, Said};

/// The most scenarios, and the most rows of one, that are taken from lines
/// without a checksum: more are not of this world.
const TOLD_MAX: usize = 256;
const ROWS_MAX: usize = 4096;

/// What was heard of a run so far.
#[derive(Debug, Default)]
pub(super) struct Builder {
    pub(super) ledger: Ledger,
    gathered: Gathered,
    firmware: Vec<Stage>,
    frame: bool,
    payload: Option<String>,
    board: Option<String>,
    el: Option<u8>,
    told: Vec<Told>,
    /// Which of `told` findings belong to.
    telling: Option<usize>,
    /// Whether the line before was a finding, which may go on.
    in_finding: bool,
    farewell: bool,
    closing: Option<Closing>,
    rt_instr: u32,
    /// First and last line, and bytes.
    lines: Option<(u64, u64)>,
    bytes: (u64, u64),
}

/// What lines tell of a scenario.
#[derive(Debug)]
struct Told {
    scenario: Term<ScenarioId>,
    method: Term<Method>,
    status: Status,
    rows: Vec<ToldRow>,
    findings: Vec<String>,
}

/// A CPU's figures in nanoseconds.
#[derive(Debug)]
struct ToldRow {
    cluster: u32,
    core: u32,
    /// How many rows before had the same labels: on a machine whose cores
    /// have threads, TFTF's do.
    thread: u32,
    values: [Option<u64>; 3],
}

impl Builder {
    /// Whether there is more than firmware.
    pub(super) fn is_begun(&self) -> bool {
        self.frame || self.payload.is_some() || self.has_results() || self.closing.is_some()
    }

    fn has_results(&self) -> bool {
        !self.told.is_empty() || !self.ledger.is_empty()
    }

    /// The last firmware stage that spoke, where nothing else did.
    pub(super) fn firmware(&self) -> Option<&Stage> {
        self.firmware.last()
    }

    /// Whether the run is over, so that a record is another's.
    pub(super) fn is_closed(&self) -> bool {
        self.closing.is_some()
    }

    /// Whether `said` can only be of the next run.
    pub(super) fn is_over_at(&self, said: &Said<'_>) -> bool {
        let closed = self.closing.is_some();
        let reported = closed || !self.ledger.is_empty();
        match said {
            Said::Version { .. } => self.is_begun(),
            Said::Frame => self.frame || self.payload.is_some() || self.has_results() || closed,
            Said::Payload(_) => self.payload.is_some() || self.has_results() || closed,
            Said::Begin { name, warm } => {
                let again = |told: &Told| told.is(name, *warm);
                reported || self.told.iter().any(again)
            }
            Said::RtInstr(_) => reported,
            Said::Closing(..) => closed,
            _ => false,
        }
    }

    /// Something of the run is on this line.
    pub(super) fn at(&mut self, line: u64, from: u64, to: u64) {
        match &mut self.lines {
            Some(lines) => lines.1 = line,
            None => {
                self.lines = Some((line, line));
                self.bytes.0 = from;
            }
        }
        self.bytes.1 = to;
    }

    /// Takes in a record that is new.
    pub(super) fn record(&mut self, record: &Record<'_>) {
        if !self.gathered.record(record) {
            self.ledger.counts.malformed += 1;
        }
    }

    /// Takes in a line; whether there was anything in it.
    pub(super) fn said(&mut self, said: Said<'_>) -> bool {
        let was_finding = std::mem::take(&mut self.in_finding);
        match said {
            Said::Version { stage, version } => {
                // The firmware began anew before it came to the payload.
                if self
                    .firmware
                    .iter()
                    .any(|s| s.name == stage && s.version.is_some())
                {
                    self.firmware.clear();
                }
                self.stage(stage).version = Some(version.to_owned());
            }
            Said::Built { stage, built } => self.stage(stage).built = Some(built.to_owned()),
            Said::Frame => self.frame = true,
            Said::RunningAt(el) => self.el = Some(el),
            Said::Payload(version) => self.payload = Some(version.to_owned()),
            Said::Board(board) => self.board = Some(board.to_owned()),
            Said::Begin { name, warm } => {
                self.telling = text::scenario(name).map(|id| {
                    let method = if warm { Method::Warm } else { Method::Tftf };
                    self.tell(Term::Known(id), method)
                });
            }
            Said::RtInstr(row) => self.rt_instr(&row),
            Said::Complete(status) => match self.telling.and_then(|at| self.told.get_mut(at)) {
                Some(told) => told.status = status,
                None => return false,
            },
            Said::Finding(text) => match self.telling.and_then(|at| self.told.get_mut(at)) {
                Some(told) => {
                    told.findings.push(text.to_owned());
                    self.in_finding = true;
                }
                None => return false,
            },
            Said::Indented(text) => {
                let told = self.telling.and_then(|at| self.told.get_mut(at));
                let finding = told.and_then(|told| told.findings.last_mut());
                let Some(finding) = finding.filter(|_| was_finding) else {
                    return false;
                };
                finding.push(' ');
                finding.push_str(text);
                self.in_finding = true;
            }
            Said::Farewell => self.farewell = true,
            Said::Closing(verdict, line) => {
                self.closing = Some(Closing {
                    verdict,
                    line: line.to_owned(),
                });
            }
            Said::Nothing => return false,
        }
        true
    }

    fn stage(&mut self, name: &str) -> &mut Stage {
        let found = self.firmware.iter().position(|stage| stage.name == name);
        let index = found.unwrap_or_else(|| {
            self.firmware.push(Stage {
                name: name.to_owned(),
                ..Stage::default()
            });
            self.firmware.len() - 1
        });
        &mut self.firmware[index]
    }

    fn tell(&mut self, scenario: Term<ScenarioId>, method: Method) -> usize {
        let method = Term::Known(method);
        let same = |told: &Told| told.scenario == scenario && told.method == method;
        if let Some(index) = self.told.iter().position(same) {
            return index;
        }
        if self.told.len() == TOLD_MAX {
            return TOLD_MAX;
        }
        self.told.push(Told {
            scenario,
            method,
            status: Status::Unknown,
            rows: Vec::new(),
            findings: Vec::new(),
        });
        self.told.len() - 1
    }

    fn rt_instr(&mut self, row: &RtInstr<'_>) {
        self.rt_instr = self.rt_instr.saturating_add(1);
        let at = self.tell(Term::of(row.tag), Method::Tftf);
        let told = self.told.get_mut(at);
        let Some(told) = told.filter(|told| told.rows.len() < ROWS_MAX) else {
            return;
        };
        let same = |r: &&ToldRow| (r.cluster, r.core) == (row.cluster, row.core);
        let thread = told.rows.iter().filter(same).count();
        told.rows.push(ToldRow {
            cluster: row.cluster,
            core: row.core,
            thread: u32::try_from(thread).unwrap_or(u32::MAX),
            values: row.values,
        });
    }

    /// The run.
    pub(super) fn finish(self, input: &str, place: u32) -> Run {
        let has_records = !self.ledger.is_empty();
        let records = has_records.then(|| self.ledger.finish());
        let mut gathered = self.gathered;
        let mut run = Run {
            source: Source {
                input: input.to_owned(),
                place,
                lines: self.lines.unwrap_or_default(),
                bytes: self.bytes,
            },
            version: gathered.version.take().or(self.payload),
            model: model(gathered.model.take(), self.board),
            labels: gathered.labels.take(),
            facts: Facts {
                el: gathered.facts.el.or(self.el),
                ..std::mem::take(&mut gathered.facts)
            },
            plan: std::mem::take(&mut gathered.plan),
            firmware: self.firmware,
            cpus: gathered.take_cpus(),
            tests: Vec::new(),
            integrity: Integrity {
                records,
                farewell: self.farewell,
                rt_instr: self.rt_instr,
                ..Integrity::default()
            },
            closing: self.closing,
            others: std::mem::take(&mut gathered.others),
        };
        tests(&mut run, gathered);
        if !has_records {
            cpus_of_rows(&mut run, &self.told);
        }
        for told in self.told {
            tell(&mut run, told);
        }
        for test in &mut run.tests {
            test.rows.sort_by_key(|row| row.cpu);
        }
        let rows = run.tests.iter().flat_map(|test| &test.rows);
        let unverified = rows.filter(|row| !row.verified && !row.figures.is_empty());
        run.integrity.unverified_rows = u32::try_from(unverified.count()).unwrap_or(u32::MAX);
        run
    }
}

impl Told {
    fn is(&self, name: &str, warm: bool) -> bool {
        let method = if warm { Method::Warm } else { Method::Tftf };
        text::scenario(name).is_some_and(|id| self.scenario.is(id)) && self.method.is(method)
    }
}

/// The record's word for the board has lost its blanks; the header's line has
/// them, and no checksum: it is believed where it is the same otherwise.
fn model(word: Option<String>, line: Option<String>) -> Option<String> {
    let plain = |c: char| {
        if c.is_ascii_graphic() && c != '@' {
            c
        } else {
            '_'
        }
    };
    match (word, line) {
        (Some(word), Some(line)) => {
            let same = line.chars().map(plain).eq(word.chars());
            Some(if same { line } else { word })
        }
        (word, line) => word.or(line),
    }
}

/// The tests that records tell of.
fn tests(run: &mut Run, mut gathered: Gathered) {
    gathered.tests.sort_by_key(|it| it.seq);
    let cpus = run.cpus.iter().enumerate();
    let cpus: HashMap<Option<u64>, usize> = cpus.map(|it| (it.1.mpidr, it.0)).collect();
    for mut gathering in gathered.tests {
        gathering.settle();
        let mut test = gathering.test;
        for parts in gathering.rows {
            // Every CPU that has a row is among them.
            let cpu = cpus.get(&Some(parts.mpidr));
            test.rows.extend(cpu.map(|cpu| Row {
                cpu: *cpu,
                ..parts.row
            }));
        }
        let cpu = |mpidr| cpus.get(&Some(mpidr)).copied();
        test.points = gathering.points.settle(cpu);
        of_the_callers_side(&mut test);
        run.tests.push(test);
    }
}

/// Rows hold PMF's figures alone: where there are none, the caller's are
/// shown, and so is what a later scenario has statistics of.
fn of_the_callers_side(test: &mut Test) {
    use Metric::{Call, Lateness, TurnOff, TurnOn, Wake};
    if test.rows.iter().any(|row| !row.figures.is_empty()) || test.pmf == Some(true) {
        return;
    }
    let parallel = test.is_parallel();
    for row in &mut test.rows {
        let known = [TurnOff, TurnOn, Call, Wake].map(Term::Known);
        let has = |metric: &Term<Metric>| row.summaries.iter().any(|it| it.0 == *metric);
        let later = row.summaries.iter().map(|it| it.0.clone());
        let later = later.filter(|it| !known.contains(it) && !it.is(Lateness));
        let metrics: Vec<_> = known
            .iter()
            .filter(|metric| has(metric))
            .cloned()
            .chain(later)
            .collect();
        for metric in metrics {
            let shown = match (&row.event, metric.known()) {
                (Some(event), Some(known)) if parallel => event.figure(known),
                _ => row.summary(&metric).map(|summary| summary.median),
            };
            row.figures.extend(shown.map(|ticks| (metric, ticks)));
        }
        row.verified = !row.figures.is_empty();
    }
}

/// The CPUs that lines name, where there is no record of one.
fn cpus_of_rows(run: &mut Run, told: &[Told]) {
    let mut cpus: Vec<(u32, u32, u32)> = told
        .iter()
        .flat_map(|told| &told.rows)
        .map(|row| (row.cluster, row.core, row.thread))
        .collect();
    cpus.sort_unstable();
    cpus.dedup();
    run.cpus = cpus
        .into_iter()
        .map(|(cluster, core, thread)| Cpu {
            cluster,
            core,
            thread,
            ..Cpu::default()
        })
        .collect();
}

/// Adds what lines tell of a scenario, where records do not.
///
/// A line that has suffered may name a scenario or a CPU that there is not:
/// beside records that are whole no line adds a figure, and beside others only
/// to scenarios that are known.
fn tell(run: &mut Run, told: Told) {
    let has_records = run.integrity.records.is_some();
    let same = |test: &Test| test.scenario == told.scenario && test.method == told.method;
    let at = match run.tests.iter().position(same) {
        Some(at) => at,
        None if has_records && (run.integrity.is_whole() || told.scenario.known().is_none()) => {
            run.integrity.rt_instr_wrong += u32::try_from(told.rows.len()).unwrap_or(u32::MAX);
            return;
        }
        None => {
            run.tests.push(Test {
                pmf: (!told.rows.is_empty()).then_some(true),
                ..Test::new(told.scenario.clone(), told.method.clone())
            });
            run.tests.len() - 1
        }
    };
    let mut rows = std::mem::take(&mut run.tests[at].rows);
    for row in &told.rows {
        let cpu = cpu_of(run, row);
        let own = cpu.and_then(|cpu| rows.iter().position(|it| it.cpu == cpu));
        let own = own.and_then(|own| rows.get_mut(own));
        match (cpu, own) {
            (_, Some(own)) if own.verified => {
                run.integrity.rt_instr_wrong += u32::from(!agree(run, &own.figures, row));
            }
            (None, _) => run.integrity.rt_instr_wrong += 1,
            _ if run.integrity.is_whole() => run.integrity.rt_instr_wrong += 1,
            (_, Some(own)) => own.figures = figures(run, row),
            (Some(cpu), None) => rows.push(Row {
                cpu,
                figures: figures(run, row),
                ..Row::default()
            }),
        }
    }
    let test = &mut run.tests[at];
    test.rows = rows;
    if test.status == Status::Unknown {
        test.status = told.status;
    }
    test.findings = told.findings;
}

/// The CPU of a line.
fn cpu_of(run: &Run, row: &ToldRow) -> Option<usize> {
    let has_records = run.integrity.records.is_some();
    run.cpus.iter().position(|cpu| {
        let core = if has_records {
            run.core_number(cpu) == u64::from(row.core) && row.thread == 0
        } else {
            (cpu.core, cpu.thread) == (row.core, row.thread)
        };
        cpu.cluster == row.cluster && core
    })
}

/// The metrics of a line's values.
fn metrics(row: &ToldRow) -> &'static [Metric] {
    match row.values {
        [_, None, None] => &[Metric::Latency],
        _ => &[Metric::Powerdown, Metric::Wakeup, Metric::CacheFlush],
    }
}

/// A line's figures in ticks. They were truncated to nanoseconds: at up to
/// 1 GHz the least number of ticks that makes them is the one that was meant.
fn figures(run: &Run, row: &ToldRow) -> Vec<(Term<Metric>, u64)> {
    let hz = u128::from(run.clock().hz);
    let ticks = |ns: u64| u64::try_from((u128::from(ns) * hz).div_ceil(1_000_000_000)).ok();
    let values = metrics(row).iter().zip(row.values);
    values
        .filter_map(|(metric, ns)| Some((Term::Known(*metric), ticks(ns?)?)))
        .filter(|_| run.clock().is_known())
        .collect()
}

/// Whether a line says what the records do.
fn agree(run: &Run, figures: &[(Term<Metric>, u64)], row: &ToldRow) -> bool {
    metrics(row).iter().zip(row.values).all(|(metric, ns)| {
        let own = figures.iter().find(|figure| figure.0.is(*metric));
        // Standby has no cache flush, and the line a place for it.
        own.map_or(ns == Some(0), |own| run.ns(own.1) == ns)
    })
}
