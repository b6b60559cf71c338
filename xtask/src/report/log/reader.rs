//! Logs -> runs.
//!
//! ```text
//! lines ────── bytes -> lines, whatever ends them, one in memory at a time
//! clean ────── a line as the UART sent it; lava_log, without LAVA's YAML
//! piece ────── records in a line
//! ledger ───── which of them came through, by checksum and SEQ; mend
//! fields ───── what a record says
//! plain_line ─ what a line says that has no checksum
//! unverified ─ what such lines tell of scenarios
//! derive ───── figures of rows whose own record was lost
//! builder ──── all of them -> a Run
//! ```
//!
//! A log may hold any number of runs: one ends at its last line, or where
//! something comes that only another one can have said. What is known about a
//! run comes from records wherever there is one; a figure that only an
//! RT_INSTR line has is marked ([`Row::verified`](crate::report::model::Row)).

use std::fmt;
use std::io::{self, Read};

use psci_bench::model as verdict;
use psci_bench::record::parse::Record;

use super::builder::Builder;
use super::clean::Cleaner;
use super::ledger::Found;
use super::lines::Lines;
use super::plain_line::Said;
use crate::report::model::Run;
use crate::setup::plural::many;

/// A log to read.
pub struct Input<R> {
    /// Its name, for messages and [`crate::report::model::Source`].
    pub name: String,
    /// Its bytes.
    pub from: R,
}

/// Why a log has no report.
#[derive(Debug)]
pub enum ReadError {
    /// It can not be read.
    Io {
        /// The log.
        name: String,
        /// The byte at which reading failed.
        offset: u64,
        /// Why.
        error: io::Error,
    },
    /// It has no byte.
    Empty {
        /// The log.
        name: String,
    },
    /// There is no run in it.
    NoRun {
        /// The log.
        name: String,
        /// What was looked through.
        lines: u64,
        /// The same in bytes.
        bytes: u64,
        /// Lines that no UART log has: with bytes that are no text.
        binary: u64,
        /// Pieces that begin as records do, and have a wrong checksum.
        damaged: u64,
        /// The firmware that spoke, where one did.
        firmware: Option<String>,
        /// The end of the last line with text.
        end: String,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::NoRun {
            name,
            lines,
            bytes,
            binary,
            damaged,
            firmware,
            end,
        } = self
        else {
            return match self {
                Self::Io {
                    name,
                    offset,
                    error,
                } => write!(f, "{name}: cannot read on at byte {offset}: {error}"),
                _ => write!(
                    f,
                    "{}: the log is empty: was the UART connected, at the right speed?",
                    self.name()
                ),
            };
        };
        let all = many(*lines as usize, "line");
        write!(f, "{name}: no run in its {all} ({bytes} bytes): ")?;
        if *damaged > 0 {
            let records = many(*damaged as usize, "record");
            return write!(
                f,
                "{records} (@PB ...), and not one with the right checksum: was the \
                 UART read at its speed and parity (115200 baud 8N1), and is the log as it came?"
            );
        }
        f.write_str(
            "no record (@PB ...), no RT_INSTR line, no '> Executing' and no last line of \
             psci-bench",
        )?;
        match firmware {
            Some(firmware) => write!(
                f,
                "; firmware {firmware} did speak: the payload was not started, or has another UART"
            )?,
            None if *binary * 4 > *lines => {
                f.write_str("; it is binary: a log is the UART's bytes, not a capture file")?;
            }
            None => f.write_str("; log the UART from the board's reset on")?,
        }
        if !end.is_empty() {
            write!(f, "; it ends with \"{end}\"")?;
        }
        Ok(())
    }
}

impl std::error::Error for ReadError {}

impl ReadError {
    fn name(&self) -> &str {
        match self {
            Self::Io { name, .. } | Self::Empty { name } | Self::NoRun { name, .. } => name,
        }
    }
}

/// Reads all `inputs`: each has to have a run.
///
/// # Errors
/// An input that can not be read, or in which there is no run.
pub fn read<R: Read>(inputs: impl IntoIterator<Item = Input<R>>) -> Result<Vec<Run>, ReadError> {
    let mut runs = Vec::new();
    for input in inputs {
        runs.extend(Log::new(input.name).read(input.from)?);
    }
    Ok(runs)
}

/// Reads a log that is in memory.
///
/// # Errors
/// Those of [`read`].
pub fn read_bytes(name: &str, log: &[u8]) -> Result<Vec<Run>, ReadError> {
    read([Input {
        name: name.to_owned(),
        from: log,
    }])
}

/// The most lines that a record may be broken into.
const BROKEN_MAX: u32 = 3;

/// A piece, or a last line, that may go on in the next line.
#[derive(Default)]
struct Broken {
    /// What there is of it.
    text: Vec<u8>,
    /// The length of what was on the first line.
    first: usize,
    /// How many lines.
    lines: u32,
}

/// A log in reading.
struct Log {
    name: String,
    runs: Vec<Run>,
    now: Builder,
    broken: Broken,
    /// The last line's beginning, which may go on as well.
    closing: Broken,
    binary: u64,
    /// The end of the last line with text.
    end: Vec<u8>,
}

/// How much of the last line is shown.
const END_MAX: usize = 60;

impl Log {
    fn new(name: String) -> Self {
        Self {
            name,
            runs: Vec::new(),
            now: Builder::default(),
            broken: Broken::default(),
            closing: Broken::default(),
            binary: 0,
            end: Vec::new(),
        }
    }

    fn read(mut self, from: impl Read) -> Result<Vec<Run>, ReadError> {
        let mut lines = Lines::of(from);
        let mut cleaner = Cleaner::default();
        loop {
            match lines.next() {
                Ok(Some(line)) => {
                    let bytes = (line.offset, line.offset + line.bytes.len() as u64);
                    if self.record_line(line.bytes) {
                        self.now.at(line.number, bytes.0, bytes.1);
                        continue;
                    }
                    let clean = cleaner.clean(line.bytes);
                    if !clean.is_empty() {
                        self.line(clean, line.number, bytes);
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    return Err(ReadError::Io {
                        offset: lines.offset(),
                        name: self.name,
                        error,
                    });
                }
            }
        }
        self.give_up();
        let firmware = self.now.firmware().map(|stage| {
            let version = stage.version.as_deref().unwrap_or("of no version");
            format!("{} {version}", stage.name)
        });
        let counts = &self.now.ledger.counts;
        let damaged = counts.damaged + counts.malformed;
        self.end_run();
        if !self.runs.is_empty() {
            return Ok(self.runs);
        }
        if lines.offset() == 0 {
            return Err(ReadError::Empty { name: self.name });
        }
        let end = String::from_utf8_lossy(&self.end);
        let plain = |c: char| {
            if c.is_control() || c == '\u{fffd}' {
                '.'
            } else {
                c
            }
        };
        Err(ReadError::NoRun {
            lines: lines.count(),
            bytes: lines.offset(),
            binary: self.binary,
            damaged,
            firmware,
            end: end.trim().chars().map(plain).collect(),
            name: self.name,
        })
    }

    fn line(&mut self, line: &[u8], number: u64, bytes: (u64, u64)) {
        if self.runs.is_empty() && !self.now.is_begun() {
            let odd = |b: &u8| !b.is_ascii_graphic() && !b" \t".contains(b);
            self.binary += u64::from(line.iter().take(END_MAX).any(odd));
            self.end = line
                .get(line.len().saturating_sub(END_MAX)..)
                .unwrap_or(line)
                .to_vec();
        }
        let (before, pieces) = super::piece::pieces(line);
        let mut heard = false;
        if !before.trim_ascii().is_empty() {
            let joined = self.join(before);
            heard = joined || self.text(before);
            if let Some(piece) = super::piece::with_mark(before).filter(|_| !joined) {
                self.give_up();
                heard = true;
                if !self.piece(&piece) {
                    self.damaged(&piece);
                }
            }
        }
        let mut pieces = pieces.peekable();
        while let Some(piece) = pieces.next() {
            self.give_up();
            heard = true;
            if !self.piece(piece) {
                if pieces.peek().is_none() {
                    self.broken.text.extend_from_slice(piece);
                    self.broken.first = piece.len();
                    self.broken.lines = 1;
                } else {
                    self.damaged(piece);
                }
            }
        }
        if heard {
            self.now.at(number, bytes.0, bytes.1);
        }
    }

    /// Takes a line that is a record and nothing else, as most of a long log
    /// are; false where it takes a closer look.
    fn record_line(&mut self, line: &[u8]) -> bool {
        if self.broken.lines > 0 || self.now.is_closed() {
            return false;
        }
        match self.now.ledger.line(line) {
            Some(Found::Again) => true,
            Some(Found::New(record)) => {
                self.now.record(&record);
                true
            }
            Some(Found::Stranger | Found::Damaged) | None => false,
        }
    }

    /// Takes what may be a record; false where it is damaged.
    fn piece(&mut self, piece: &[u8]) -> bool {
        // The last line comes last: what follows is another run's.
        if self.now.is_closed() {
            self.end_run();
        }
        match self.now.ledger.piece(piece) {
            Found::Damaged => false,
            Found::Again => true,
            Found::Stranger => {
                self.end_run();
                self.piece(piece)
            }
            Found::New(record) => {
                self.now.record(&record);
                true
            }
        }
    }

    /// Whether `line` is what a broken record goes on with.
    fn join(&mut self, line: &[u8]) -> bool {
        if self.broken.lines == 0 {
            return false;
        }
        let mut text = std::mem::take(&mut self.broken.text);
        text.extend_from_slice(line);
        let found = self.piece(&text);
        self.broken.text = text;
        if found {
            self.broken = Broken::default();
            return true;
        }
        self.broken.lines += 1;
        if self.broken.lines > BROKEN_MAX || self.broken.text.len() > super::mend::LEN_MAX {
            self.give_up();
        }
        false
    }

    /// What was broken does not go on: it is damaged.
    fn give_up(&mut self) {
        if self.broken.lines > 0 {
            let broken = std::mem::take(&mut self.broken);
            self.damaged(broken.text.get(..broken.first).unwrap_or(&broken.text));
        }
    }

    fn damaged(&mut self, piece: &[u8]) {
        let mut mended = None;
        self.now
            .ledger
            .damaged(piece, &mut |whole| mended = Some(whole));
        if let Some(Ok(record)) = mended.as_deref().map(Record::parse) {
            self.now.record(&record);
        }
    }

    /// Takes a line without a checksum; whether there was anything in it.
    fn text(&mut self, line: &[u8]) -> bool {
        if let Some(whole) = self.join_closing(line) {
            return self.text(&whole);
        }
        let said = super::plain_line::read(line);
        if matches!(said, Said::Broken(_)) {
            self.closing = Broken {
                text: line.to_vec(),
                first: line.len(),
                lines: 1,
            };
        }
        if said == Said::Nothing {
            self.now.interrupted();
            return false;
        }
        if self.now.is_over_at(&said) {
            self.give_up();
            self.end_run();
        }
        self.now.said(said)
    }

    /// The last line, if `line` is what a broken one goes on with.
    fn join_closing(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        if self.closing.lines == 0 {
            return None;
        }
        let text = &mut self.closing.text;
        text.push(b'\n');
        text.extend_from_slice(line);
        // Some terminals break lines at a blank, and leave it out.
        let gaps = [&b""[..], b" "].into_iter();
        let mut wholes = gaps.map(|gap| text.split(|b| *b == b'\n').collect::<Vec<_>>().join(gap));
        let found = wholes.find(|it| verdict::parse_line(it).is_some());
        self.closing.lines += 1;
        if found.is_some() || self.closing.lines > BROKEN_MAX || text.len() > super::mend::LEN_MAX {
            self.closing = Broken::default();
        }
        found
    }

    /// Ends the run in hand, if there is one, and begins another.
    fn end_run(&mut self) {
        self.closing = Broken::default();
        let now = std::mem::take(&mut self.now);
        if now.is_begun() {
            let place = u32::try_from(self.runs.len() + 1).unwrap_or(u32::MAX);
            self.runs.push(now.finish(&self.name, place));
        }
    }
}
