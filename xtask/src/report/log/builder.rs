//! One run in the making: records and lines go in, a [`Run`] comes out.

use std::collections::HashMap;

use psci_bench::plan::{Method, ScenarioId};
use psci_bench::record::parse::Record;

use super::derive;
use super::fields::Gathered;
use super::ledger::Ledger;
use super::plain_line::{self, RtInstr, Said};
use super::untrusted_text::plain;
use super::unverified::{self, Told};
use crate::report::model::{
    ByRecords, Closing, Facts, Integrity, Records, Row, Run, Source, Stage, Status, Term,
};

/// The most scenarios that are taken from lines without a checksum: more are
/// not of this world.
const TOLD_MAX: usize = 256;

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
    /// The label of the CPU that stayed awake in what they are of.
    helper: Option<String>,
    /// How many others failed, that are not known here.
    strays: u32,
    /// Whether the line before was a finding, which may go on.
    in_finding: bool,
    farewell: bool,
    closing: Option<Closing>,
    broken_closing: Option<String>,
    rt_instr: u32,
    /// First and last line, and bytes.
    lines: Option<(u64, u64)>,
    bytes: (u64, u64),
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

    /// A line that is no part of the run: a finding does not go on behind it.
    pub(super) fn interrupted(&mut self) {
        self.in_finding = false;
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
                self.stage(stage).version = Some(plain(version));
            }
            Said::Built { stage, built } => self.stage(stage).built = Some(plain(built)),
            Said::Frame => self.frame = true,
            Said::RunningAt(el) => self.el = Some(el),
            Said::Payload(version) => self.payload = Some(plain(version)),
            Said::Board(board) => self.board = Some(plain(board)),
            Said::Begin { name, warm } => {
                self.helper = None;
                self.telling = plain_line::scenario(name).map(|id| {
                    let method = if warm { Method::Warm } else { Method::Tftf };
                    self.tell(Term::Known(id), method)
                });
            }
            Said::RtInstr(row) => self.rt_instr(&row),
            Said::Complete(status) => match self.telling.and_then(|at| self.told.get_mut(at)) {
                // A line that was lost may have begun another one.
                Some(told) if matches!(told.status, Status::Failed | Status::Crashed) => {}
                Some(told) => told.status = status,
                None if matches!(status, Status::Failed | Status::Crashed) => self.strays += 1,
                None => return false,
            },
            Said::Table(helper) => {
                self.helper = helper.map(plain);
                return false;
            }
            Said::Finding(text) => match self.telling.and_then(|at| self.told.get_mut(at)) {
                Some(told) => {
                    told.findings.push((self.helper.clone(), plain(text)));
                    self.in_finding = true;
                }
                None => return false,
            },
            Said::Indented(text) => {
                let told = self.telling.and_then(|at| self.told.get_mut(at));
                let finding = told.and_then(|told| told.findings.last_mut());
                let Some((_, finding)) = finding.filter(|_| was_finding) else {
                    return false;
                };
                finding.push(' ');
                finding.push_str(&plain(text));
                self.in_finding = true;
            }
            Said::Farewell => self.farewell = true,
            Said::Closing(verdict, line) => {
                self.closing = Some(Closing {
                    verdict,
                    line: plain(line),
                });
                self.broken_closing = None;
            }
            Said::Broken(line) => self.broken_closing = Some(plain(line)),
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
        if let Some(told) = self.told.get_mut(at) {
            told.line(row);
        }
    }

    /// The run.
    pub(super) fn finish(mut self, input: &str, place: u32) -> Run {
        let has_records = !self.ledger.is_empty();
        let mut gathered = self.gathered;
        let records = has_records.then(|| Records {
            format: gathered.format,
            ..self.ledger.finish()
        });
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
            broken_closing: self.broken_closing,
            by_records: None,
            strays: self.strays,
            others: std::mem::take(&mut gathered.others),
        };
        tests(&mut run, gathered);
        unverified::settle(&mut self.told, has_records, &mut run.integrity);
        if !has_records {
            unverified::cpus_of_rows(&mut run, &self.told);
        }
        for told in self.told {
            unverified::tell(&mut run, told);
        }
        for test in &mut run.tests {
            test.rows.sort_by_key(|row| row.cpu);
        }
        let rows = run.tests.iter().flat_map(|test| &test.rows);
        let unverified = rows.filter(|row| !row.verified && !row.figures.is_empty());
        run.integrity.unverified_rows = u32::try_from(unverified.count()).unwrap_or(u32::MAX);
        run.by_records = ByRecords::of(&run);
        run
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
            let helper = test.helper;
            test.rows.extend(cpu.map(|cpu| Row {
                cpu: *cpu,
                helper: parts.row.helper.or(helper),
                ..parts.row
            }));
        }
        let cpu = |mpidr| cpus.get(&Some(mpidr)).copied();
        test.points = gathering.points.settle(cpu);
        run.integrity.derived_rows += derive::figures(&mut test);
        run.tests.push(test);
    }
}
