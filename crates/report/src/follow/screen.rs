//! Forwards a run's UART output to a log and to the user. The user's copy omits records and appears
//! above a progress line.

use std::io::{self, Write};
use std::mem::take;
use std::sync::LazyLock;

use host::log_file::LogFile;
use host::progress::{StepProgress, above_steps};
use regex::{Regex, bytes};
use run::record::MARK;

use super::begun_scenario;
use super::stream::Display;

/// The maximum length of an incomplete line that is held back.
const LINE_MAX: usize = 4096;

/// Receives UART output for a log and for the user. With a progress display, the user sees complete
/// lines and the current scenario. Without a progress display, all bytes are shown unchanged.
pub struct Screen<'o> {
    log: Option<&'o mut LogFile>,
    out: &'o mut dyn Write,
    progress: Option<StepProgress>,
    /// True if records are also shown to the user.
    pub has_records: bool,
    line: Vec<u8>,
    /// The number of scenarios announced by the header, or 0 if it is unknown.
    scenarios: u32,
    begun: u32,
}

impl<'o> Screen<'o> {
    /// Creates a screen. With a progress display, records are omitted.
    pub fn new(
        log: Option<&'o mut LogFile>,
        out: &'o mut dyn Write,
        progress: Option<StepProgress>,
    ) -> Self {
        Self {
            log,
            out,
            has_records: progress.is_none(),
            progress,
            line: Vec::new(),
            scenarios: 0,
            begun: 0,
        }
    }

    /// Returns the scenario that starts on `line`, with its number.
    fn advance(&mut self, line: &str) -> Option<String> {
        const HEADER: &str = r"^ *Plan +: (\d+) scenario(.*method tftf.*method warm)?";
        static PLAN: LazyLock<Regex> = LazyLock::new(|| Regex::new(HEADER).expect("a pattern"));
        if let Some(plan) = PLAN.captures(line) {
            let methods = 1 + u32::from(plan.get(2).is_some());
            self.scenarios = plan[1].parse::<u32>().ok()?.saturating_mul(methods);
        }
        let name = begun_scenario(line)?;
        self.begun += 1;
        let (begun, all) = (self.begun, self.scenarios.max(self.begun));
        Some(format!("{begun}/{all} {name}"))
    }

    /// Writes to `out` the parts of `lines` that should be shown.
    fn show(&mut self, lines: &[u8]) -> io::Result<()> {
        let mut print = || self.out.write_all(lines).and_then(|()| self.out.flush());
        match &self.progress {
            _ if lines.is_empty() => Ok(()),
            Some(_) => above_steps(print),
            None => print(),
        }
    }

    /// Takes the received line and adds it to `shown` if it should be shown to the user.
    fn take_line(&mut self, shown: &mut Vec<u8>) {
        // Firmware may clear the screen and query the terminal size.
        static ESCAPE: LazyLock<bytes::Regex> = LazyLock::new(|| {
            bytes::Regex::new(r"\x1b(\[[0-9;=?]*[A-Za-z]|[0-9])").expect("a pattern")
        });
        let line = take(&mut self.line);
        let line = ESCAPE.replace_all(&line, &b""[..]);
        let step = self.advance(&String::from_utf8_lossy(&line));
        if let (Some(step), Some(progress)) = (step, &self.progress) {
            progress.step(&step);
        }
        if self.has_records || !line.starts_with(MARK.as_bytes()) {
            shown.extend(&*line);
        }
    }
}

impl Write for Screen<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The log outlives the process, so it is written first.
        if let Some(log) = &mut self.log {
            log.add(bytes);
        }
        let mut shown = Vec::new();
        match self.progress {
            None => shown.extend(bytes),
            Some(_) => {
                for part in bytes.split_inclusive(|byte| *byte == b'\n') {
                    self.line.extend_from_slice(part);
                    if part.ends_with(b"\n") || self.line.len() > LINE_MAX {
                        self.take_line(&mut shown);
                    }
                }
            }
        }
        self.show(&shown)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Display for Screen<'_> {
    fn show_samples(&mut self, kept: u32, asked: u32) {
        if let (Some(progress), 1..) = (&self.progress, asked)
            && kept <= asked
        {
            progress.part(&format!("{kept}/{asked} samples"));
        }
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        let rest = take(&mut self.line);
        // The machine has exited, so an output error no longer matters.
        let _ = self.show(&rest);
    }
}
