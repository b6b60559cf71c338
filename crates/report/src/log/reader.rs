//! Reads runs from logs.
//!
//! A log may contain any number of runs. A run ends with its last line, or before a record or line
//! that can only belong to another run. A record is accepted if its checksum is correct, even if a
//! terminal has broken its line into several, and even if there is other text before the record or
//! after its checksum. Damaged records are never pieced together.

use std::collections::VecDeque;
use std::fmt;
use std::fs::File;
use std::io::Read;

use anyhow::{Context as _, bail};
use hardware::text::plural::many;
use host::untrusted_text::plain;
use memchr::memmem;
use suite::record::{MARK, pieces};

use super::builder::LoggedRunBuilder;
use super::clean::clean;
use super::embedded_line;
use super::line_prefix::{LinePrefix, StrippedLine};
use super::lines::{LINE_MAX, LogLine, LogLines};
use super::logged_run::LoggedRun;
use super::plain_line::{self, PlainLine};
use super::run_records::{CRC_DIGITS, RecordLine};

/// The reason why there is no report for a log, with the log's name.
#[derive(Debug)]
pub enum LogReadError {
    /// The log cannot be read.
    Io(String),
    /// The log does not contain a run. If the board booted, this is what the log contains of its
    /// boot.
    NoRun(Box<LoggedRun>),
}

impl fmt::Display for LogReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(message) => f.write_str(message),
            Self::NoRun(logged) => {
                let why = logged.why_no_run.as_deref().unwrap_or("no run");
                write!(f, "{}: {why}", logged.source.input)
            }
        }
    }
}

impl std::error::Error for LogReadError {}

/// Reads the runs in a log. Messages refer to the log as `name`.
pub fn read(name: &str, from: impl Read) -> Result<Vec<LoggedRun>, LogReadError> {
    runs(name, from).collect()
}

/// Reads a log from memory.
pub fn read_bytes(name: &str, log: &[u8]) -> Result<Vec<LoggedRun>, LogReadError> {
    read(name, log)
}

/// Reads the last run in the UART output of a machine.
///
/// # Errors
/// Returns an error if the log contains no run or only part of one.
pub fn read_complete(log: &[u8]) -> anyhow::Result<LoggedRun> {
    let mut runs = read_bytes("the UART", log)?;
    let run = runs.pop().context("the log contains no run")?;
    if let Some(lack) = run.lacks().first() {
        bail!("the log is incomplete: {lack}");
    }
    Ok(run)
}

/// Returns an iterator over all runs in a log, up to its end. Each run is returned as soon as it
/// has been read, because a log may contain more runs than fit in memory.
pub fn runs<R: Read>(name: &str, from: R) -> Runs<R> {
    runs_within(name, from, u64::MAX)
}

/// Like [`runs`], but for an open file. Stops if no run starts within the first 64 MiB read from a
/// pipe, because a pipe may supply data indefinitely.
pub fn runs_in_file(name: &str, file: File) -> Runs<File> {
    // The size is reported as 0 unless this is a regular file.
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    runs_within(name, file, size.max(NO_RUN_MAX))
}

fn runs_within<R: Read>(name: &str, from: R, no_run_max: u64) -> Runs<R> {
    let reader = LogReader {
        name: name.to_owned(),
        no_run_max,
        ..LogReader::default()
    };
    Runs {
        reader,
        lines: LogLines::new(from),
        is_over: false,
    }
}

/// The runs in a log. Iteration stops after an error.
pub struct Runs<R> {
    reader: LogReader,
    lines: LogLines<R>,
    is_over: bool,
}

impl<R: Read> Iterator for Runs<R> {
    type Item = Result<LoggedRun, LogReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(logged) = self.reader.ended.pop_front() {
                return Some(Ok(logged));
            }
            if self.is_over {
                return None;
            }
            match self.lines.next() {
                Ok(Some(line)) if !self.reader.is_hopeless(&line) => self.reader.take(&line),
                Ok(rest) => {
                    self.is_over = true;
                    self.reader.is_cut = rest.is_some();
                    let boot = self.reader.finish(self.lines.count(), self.lines.offset);
                    if let Some(logged) = boot {
                        return Some(Err(LogReadError::NoRun(logged)));
                    }
                }
                Err(error) => {
                    self.is_over = true;
                    let name = &self.reader.name;
                    let offset = self.lines.offset;
                    let text = format!("{name}: cannot read past byte {offset}: {error}");
                    return Some(Err(LogReadError::Io(text)));
                }
            }
        }
    }
}

/// The start of a file that gzip has compressed.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The maximum size of a record that was broken across several lines. A record is at most 1,000
/// bytes long.
const BROKEN_MAX: usize = 1100;

/// The maximum number of bytes before the first run if the size of the log is unknown. The limit is
/// needed because a device may return bytes forever.
const NO_RUN_MAX: u64 = 1 << 26;

/// The maximum number of bytes in a broken RT_INSTR line.
const ROW_MAX: usize = 160;

/// The maximum number of lines after a line with a possible prefix in which another line must
/// confirm it. Lines from another source may be between them.
const CONFIRM_MAX: usize = 8;

/// The number of bytes at the start of a line that may confirm the prefix of the next one.
const NEIGHBOR_MAX: usize = 512;

/// A line that is kept until it is known whether its prefix is that of the log.
struct HeldLine {
    number: u64,
    offset: u64,
    bytes: Vec<u8>,
}

impl HeldLine {
    fn line(&self) -> LogLine<'_> {
        LogLine {
            number: self.number,
            offset: self.offset,
            bytes: &self.bytes,
        }
    }
}

/// A line without its prefix, to which the next one may be added.
struct OpenLine {
    number: u64,
    /// The offsets of the line's first byte and of the byte after its last one.
    bytes: (u64, u64),
    text: Vec<u8>,
}

/// A log that is being read.
#[derive(Default)]
struct LogReader {
    name: String,
    /// The maximum number of bytes before the first run.
    no_run_max: u64,
    /// True if the rest was not read because no run starts within `no_run_max` bytes.
    is_cut: bool,
    /// True if the log starts like a file that gzip has compressed.
    is_compressed: bool,
    /// Runs that have ended but have not yet been returned.
    ended: VecDeque<LoggedRun>,
    /// The number of runs that have ended.
    count: u32,
    /// The run that the last lines belong to.
    current: LoggedRunBuilder,
    /// The number of the current line.
    number: u64,
    /// The parts of a record that was broken across several lines; empty if there is no such
    /// record.
    record: Vec<u8>,
    /// The parts of an RT_INSTR line that was broken across several lines.
    row: Vec<u8>,
    /// The previous line, if it was useful and contained no figures.
    previous: Vec<u8>,
    /// The prefix of the log's lines.
    prefix: Option<LinePrefix>,
    /// A possible prefix, which no other line has confirmed yet.
    candidate: Option<LinePrefix>,
    /// The lines from the first one with `candidate` onward.
    held: Vec<HeldLine>,
    /// The previous line with its prefix, unless it was blank.
    neighbor: Vec<u8>,
    /// The previous line, if the next one may continue it.
    open: Option<OpenLine>,
}

impl LogReader {
    /// Returns true if a run is unlikely to follow, because none was found in a large amount of
    /// input.
    fn is_hopeless(&self, line: &LogLine<'_>) -> bool {
        line.offset > self.no_run_max && self.count == 0 && !self.current.is_begun()
    }

    /// Takes a line, and reads it unless its prefix must be confirmed first.
    fn take(&mut self, line: &LogLine<'_>) {
        self.number = line.number;
        self.is_compressed |= line.number == 1 && line.bytes.starts_with(&GZIP);
        let is_waiting = !self.held.is_empty() || !self.record.is_empty() || self.open.is_some();
        // Most lines in a long log consist of a single record.
        if !is_waiting && self.sound_record(line.bytes) {
            self.current.extend(line.number, range_of(line));
        } else if line.bytes.iter().any(|byte| *byte != 0) {
            let clean = clean(line.bytes);
            let is_continuation = match self.strip_prefix(&clean) {
                Some(stripped) => stripped.is_continuation,
                None => false,
            };
            if !is_continuation {
                self.read_open();
            }
            if !clean.trim_ascii().is_empty() && !self.hold(line, &clean) {
                self.read(line, &clean);
            }
        }
    }

    /// Returns a line without the log's prefix; None if the prefix is unknown, or the line does not
    /// start with it.
    fn strip_prefix<'l>(&self, clean: &'l [u8]) -> Option<StrippedLine<'l>> {
        self.prefix.as_ref()?.strip(clean)
    }

    /// Holds back a line until the prefix of the lines is known. Returns false if the line can be
    /// read now.
    fn hold(&mut self, line: &LogLine<'_>, clean: &[u8]) -> bool {
        if self.held.is_empty() {
            self.candidate = self.new_prefix(clean);
            let Some(candidate) = &self.candidate else {
                return false;
            };
            if !self.neighbor.is_empty() && candidate.strip(&self.neighbor).is_some() {
                self.prefix = self.candidate.take();
                return false;
            }
        }
        let is_confirmed = !self.held.is_empty() && self.has_candidate(clean);
        self.held.push(HeldLine {
            number: line.number,
            offset: line.offset,
            bytes: line.bytes.to_vec(),
        });
        if is_confirmed {
            self.prefix = self.candidate.take();
        }
        if is_confirmed || self.held.len() > CONFIRM_MAX {
            self.release();
        }
        true
    }

    /// Returns the prefix of a line if it differs from that of the previous lines. A run's lines
    /// all have one prefix: text that has two is not the payload's.
    fn new_prefix(&self, clean: &[u8]) -> Option<LinePrefix> {
        // A log that is cut short may be followed by another one.
        let is_within_run = self.current.is_begun()
            && !self.current.is_closed()
            && !embedded_line::is_of_boot(clean);
        if is_within_run {
            return None;
        }
        if let Some(stripped) = self.strip_prefix(clean)
            && embedded_line::find_known(stripped.text) == Some(0)
        {
            return None;
        }
        LinePrefix::before_known_line(clean)
    }

    fn has_candidate(&self, clean: &[u8]) -> bool {
        match &self.candidate {
            Some(candidate) => candidate.strip(clean).is_some(),
            None => false,
        }
    }

    /// Reads the lines that were held back. The first line is read as it is unless its prefix was
    /// confirmed; the others may have yet another prefix.
    fn release(&mut self) {
        self.candidate = None;
        let held = std::mem::take(&mut self.held);
        let Some((first, rest)) = held.split_first() else {
            return;
        };
        self.read(&first.line(), &clean(&first.bytes));
        for held_line in rest {
            self.take(&held_line.line());
        }
    }

    /// Reads a line that has text, or keeps it if the next line may continue it.
    fn read(&mut self, line: &LogLine<'_>, clean: &[u8]) {
        self.neighbor.clear();
        self.neighbor
            .extend_from_slice(&clean[..clean.len().min(NEIGHBOR_MAX)]);
        let Some(stripped) = self.strip_prefix(clean) else {
            self.read_text(line.number, range_of(line), clean);
            return;
        };
        let text = stripped.text;
        if let Some(open) = &mut self.open
            && stripped.is_continuation
            && !embedded_line::is_line(text)
            && open.text.len() < LINE_MAX
        {
            open.text.extend_from_slice(text);
            open.bytes.1 = range_of(line).1;
        } else if self.prefix.as_ref().is_some_and(LinePrefix::may_continue) {
            self.read_open();
            self.open = Some(OpenLine {
                number: line.number,
                bytes: range_of(line),
                text: text.to_vec(),
            });
        } else {
            self.read_text(line.number, range_of(line), text);
        }
    }

    /// Reads the line that was kept because the next one might have continued it.
    fn read_open(&mut self) {
        if let Some(open) = self.open.take() {
            self.read_text(open.number, open.bytes, &open.text);
        }
    }

    /// Reads a line without its prefix. `bytes` is its range in the log.
    fn read_text(&mut self, number: u64, bytes: (u64, u64), text: &[u8]) {
        self.number = number;
        if !text.is_empty() && self.line(text) {
            self.current.extend(number, bytes);
        }
    }

    /// Ends the log. If it does not contain a run, returns the boot, with the reason.
    fn finish(&mut self, lines: u64, bytes: u64) -> Option<Box<LoggedRun>> {
        while !self.held.is_empty() {
            self.release();
        }
        self.read_open();
        self.give_up();
        if self.count > 0 || self.current.is_begun() {
            self.end_run();
            return None;
        }
        let why = self.why_none(lines, bytes);
        let boot = std::mem::take(&mut self.current);
        let mut logged = boot.finish(&self.name, 1);
        logged.why_no_run = Some(why);
        Some(Box::new(logged))
    }

    /// Returns a sentence that says why there is no run and what to do about it.
    fn why_none(&self, lines: u64, bytes: u64) -> String {
        let name = &self.name;
        if self.is_compressed {
            return format!(
                "compressed with gzip; decompress it with gunzip -k {}",
                plain(name)
            );
        }
        if bytes == 0 {
            return "the log is empty; is the UART connected at the right baud rate?".to_owned();
        }
        let start = if self.is_cut {
            format!(
                "no run in the first {} MiB, and the rest was not read",
                self.no_run_max >> 20
            )
        } else {
            format!(
                "no run in its {} ({bytes} bytes)",
                many(lines as usize, "line")
            )
        };
        let counts = &self.current.run_records.counts;
        let damaged = counts.damaged + counts.malformed;
        if damaged > 0 {
            let records = many(damaged as usize, "record");
            return format!(
                "{start}: {records} (@PB ...), none with a valid checksum: was the UART \
                 read with the right settings (115200 baud 8N1), and is the log unchanged?"
            );
        }
        if self.is_cut {
            return format!(
                "{start}; if the run comes later, trim the beginning of the log, or save the log \
                 to a file and pass the file"
            );
        }
        let advice = match self.current.logged.firmware.last() {
            Some(stage) => format!(
                "the log contains lines from firmware {} {}: the payload was not started, or uses \
                 a different UART",
                stage.name,
                stage.version.as_deref().unwrap_or("without a version")
            ),
            None => "log the UART output from board reset onward".to_owned(),
        };
        format!(
            "{start}: no records (@PB ...), no RT_INSTR line, no '> Executing' and no last line \
             from psci-bench; {advice}"
        )
    }

    /// Reads a cleaned line. Returns false if the line contains nothing useful.
    fn line(&mut self, line: &[u8]) -> bool {
        let start = memmem::find(line, MARK.as_bytes()).unwrap_or(line.len());
        let (before, records) = line.split_at(start);
        let mut is_used = false;
        if !before.trim_ascii().is_empty() {
            is_used = self.join_record(before) || self.text(before);
        }
        for piece in pieces(records) {
            self.give_up_record();
            if !self.piece(piece) {
                self.record = piece.to_vec();
            }
            is_used = true;
        }
        is_used
    }

    /// Reads text that starts like a record. Returns false unless it starts with a record that has
    /// a correct checksum.
    fn piece(&mut self, piece: &[u8]) -> bool {
        // If a line ending was lost, text may follow the checksum.
        let near = piece.get(..BROKEN_MAX).unwrap_or(piece);
        for brace in memmem::find_iter(near, b"} ") {
            let record_end = brace + 2 + CRC_DIGITS;
            if let Some(record) = piece.get(..record_end)
                && self.sound_record(record)
            {
                return true;
            }
        }
        false
    }

    /// Reads a line if it is a record with a correct checksum. Returns false for any other line.
    fn sound_record(&mut self, line: &[u8]) -> bool {
        let Some(claim) = RecordLine::parse(line) else {
            return false;
        };
        // A run ends with its last line, so a record after it belongs to another run.
        let is_closed = self.current.is_closed();
        if !is_closed && self.current.run_records.has(&claim) {
            return true;
        }
        if !claim.is_sound() {
            return false;
        }
        if is_closed || self.current.run_records.is_foreign(&claim) {
            self.current.run_records.cut(&claim);
            self.end_run();
        }
        self.current.record(&claim, self.number);
        true
    }

    /// Returns true if `line` completes a record that was broken across several lines.
    fn join_record(&mut self, line: &[u8]) -> bool {
        if self.record.is_empty() {
            return false;
        }
        self.record.extend_from_slice(line);
        let record = std::mem::take(&mut self.record);
        if self.sound_record(&record) {
            return true;
        }
        self.record = record;
        if self.record.len() > BROKEN_MAX {
            self.give_up_record();
        }
        false
    }

    /// Counts a broken record as damaged if it is not continued.
    fn give_up_record(&mut self) {
        if !self.record.is_empty() {
            self.record.clear();
            self.current.run_records.counts.damaged += 1;
        }
    }

    /// Reads a line without a checksum. Returns false if the line contains nothing useful.
    fn text(&mut self, line: &[u8]) -> bool {
        let joined = embedded_line::joined(&self.row, line);
        if joined.is_some() {
            self.row.clear();
        } else {
            self.give_up_row();
        }
        let line = joined.as_deref().unwrap_or(line);
        let mut parsed = plain_line::parse(line);
        if parsed == PlainLine::Other && self.current.is_begun() && !self.current.is_closed() {
            parsed = embedded_line::find_hidden(line);
        }
        if self.is_repeated(line, &parsed) {
            self.current.logged.integrity.lines_repeated += 1;
            return true;
        }
        if self.current.is_over_at(&parsed) {
            self.give_up();
            self.end_run();
        }
        if parsed == PlainLine::Unread && line.len() < ROW_MAX && !line.contains(&b'/') {
            self.row = line.to_vec();
            return true;
        }
        self.current.line(parsed)
    }

    /// Returns true if `line` is identical to the previous line, which happens if every line is
    /// logged twice. RT_INSTR lines are exempt, because identical ones may belong to different
    /// CPUs.
    fn is_repeated(&mut self, line: &[u8], parsed: &PlainLine<'_>) -> bool {
        if let PlainLine::Other | PlainLine::RtInstr(_) | PlainLine::Unread = parsed {
            self.previous.clear();
            return false;
        }
        let is_repeated = self.previous == line;
        self.previous.clear();
        self.previous.extend_from_slice(line);
        is_repeated
    }

    /// Counts a broken RT_INSTR line if it is not continued.
    fn give_up_row(&mut self) {
        if !std::mem::take(&mut self.row).is_empty() {
            self.current.line(PlainLine::Unread);
        }
    }

    fn give_up(&mut self) {
        self.give_up_record();
        self.give_up_row();
    }

    /// Ends the current run, if there is one, and starts a new one.
    fn end_run(&mut self) {
        let ended = std::mem::take(&mut self.current);
        if ended.is_begun() {
            self.count = self.count.saturating_add(1);
            self.ended.push_back(ended.finish(&self.name, self.count));
        }
    }
}

/// Returns the offsets of a line's first byte and of the byte after its last one.
fn range_of(line: &LogLine<'_>) -> (u64, u64) {
    (line.offset, line.offset + line.bytes.len() as u64)
}

#[cfg(test)]
mod tests {
    use std::io::{self, Seek as _, SeekFrom, Write as _};

    use suite::plan::Records;

    use super::*;
    use crate::synthetic_run;

    /// An endless log, such as one from a board that keeps restarting.
    struct Endless {
        log: String,
        at: usize,
    }

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let rest = &self.log.as_bytes()[self.at..];
            let count = rest.len().min(buffer.len());
            buffer[..count].copy_from_slice(&rest[..count]);
            self.at = (self.at + count) % self.log.len();
            Ok(count)
        }
    }

    /// A file on a failing disk.
    struct Failing;

    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("disk failure"))
        }
    }

    /// A read error is neither the end of a run nor the end of the log.
    #[test]
    fn read_error_is_returned_whatever_was_read_before() {
        let log = synthetic_run::log(&synthetic_run::run(), Records::Once);
        let half = log[..log.len() / 2].rfind('\n').expect("lines") + 1;
        let twice = log.repeat(2);
        for (len, whole_runs) in [(0, 0), (half, 0), (log.len() + half, 1)] {
            let mut runs = runs("a.log", twice.as_bytes()[..len].chain(Failing));
            for run in runs.by_ref().take(whole_runs) {
                assert!(run.expect("a run").is_complete());
            }
            let error = runs.next().expect("an error").expect_err("no run");
            let expected = format!("a.log: cannot read past byte {len}: disk failure");
            assert!(
                matches!(&error, LogReadError::Io(text) if *text == expected),
                "{error:?}"
            );
            assert!(runs.next().is_none());
        }
    }

    /// Only a stream can be endless, so the limit applies only to streams, and the message says so.
    #[test]
    fn run_after_much_text_is_found_unless_the_log_may_be_endless() {
        let limit = 1 << 20;
        let before = "[    1.000] a kernel message\n".repeat(limit as usize / 20);
        let log = before + &synthetic_run::log(&synthetic_run::run(), Records::Once);
        let read: Vec<_> = runs("a.log", log.as_bytes()).collect();
        assert!(matches!(&*read, [Ok(logged)] if logged.is_complete()));

        let mut stream = runs_within("stdin", log.as_bytes(), limit);
        let error = stream.next().expect("an error").expect_err("no run");
        assert_eq!(
            error.to_string(),
            "stdin: no run in the first 1 MiB, and the rest was not read; if the run comes later, \
             trim the beginning of the log, or save the log to a file and pass the file"
        );
        assert!(stream.next().is_none());
        assert!(runs_within("stdin", io::repeat(0), limit).all(|run| run.is_err()));
    }

    #[test]
    fn log_in_a_file_is_read_to_its_end() {
        let mut file = tempfile::tempfile().expect("a file");
        // The file is sparse, so the gap takes up no disk space.
        file.seek(SeekFrom::Start(NO_RUN_MAX + (1 << 17)))
            .expect("moved");
        let log = synthetic_run::log(&synthetic_run::run(), Records::Once);
        file.write_all(log.as_bytes()).expect("written");
        file.rewind().expect("moved");
        assert_eq!(runs_in_file("a.log", file).filter(Result::is_ok).count(), 1);
    }

    #[test]
    fn each_run_is_given_out_before_the_next_is_read() {
        let log = synthetic_run::log(&synthetic_run::run(), Records::Once);
        let mut runs = runs("a.log", Endless { log, at: 0 });
        for number in 1..=20 {
            let logged = runs.next().expect("no end").expect("a run");
            assert!(logged.source.run_number == number && logged.is_complete());
        }
    }
}
