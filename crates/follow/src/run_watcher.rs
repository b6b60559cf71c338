//! Watches a run in progress: forwards its UART output to a log and to the user, and shows its
//! scenario and its sample count in a progress line.

use std::io::{self, Write};
use std::mem::take;
use std::sync::LazyLock;

use host::log_file::LogFile;
use host::paint::Painter;
use host::progress::{StepProgress, above_steps};
use regex::{Regex, bytes};
use suite::measure::SampleCount;
use suite::record::MARK;

use super::begun_scenario::{begun_scenario, short_name};

/// The maximum length of an incomplete line that is held back.
const LINE_MAX: usize = 4096;

/// Watches a run in progress. With a progress line, the user sees complete lines of UART output
/// without records above it. Without one, all bytes are shown unchanged. By default, nothing is
/// shown.
#[derive(Default)]
pub struct RunWatcher<'o> {
    /// Receives all UART output.
    pub log: Option<&'o mut LogFile>,
    /// Shows the run's scenario and its sample count.
    pub progress: Option<StepProgress>,
    /// True if records are also shown to the user when there is a progress line.
    pub has_records: bool,
    /// Returns the sample count of a run on a machine whose memory can be read.
    pub samples: Option<Box<dyn FnMut() -> Option<SampleCount> + 'o>>,
    shown_samples: SampleCount,
    /// Receives the user's copy of the UART output.
    out: Option<&'o mut dyn Write>,
    line: Vec<u8>,
    /// The number of scenarios announced by the header, or 0 if it is unknown.
    scenarios: u32,
    /// The number of scenarios that have started.
    begun: u32,
}

impl<'o> RunWatcher<'o> {
    /// Creates a watcher that writes the UART output to `out`.
    pub fn with_output(out: &'o mut dyn Write) -> Self {
        let mut watcher = Self::default();
        watcher.out = Some(out);
        watcher
    }

    /// Creates a watcher that shows only progress.
    pub fn with_progress(progress: StepProgress) -> Self {
        let mut watcher = Self::default();
        watcher.progress = Some(progress);
        watcher
    }

    /// Takes UART output that has just arrived.
    pub fn receive(&mut self, bytes: &[u8]) -> io::Result<()> {
        // The log outlives the process, so it is written first.
        if let Some(log) = &mut self.log {
            log.add(bytes);
        }
        if self.progress.is_none() {
            return self.show(bytes);
        }
        let mut shown = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") || self.line.len() > LINE_MAX {
                self.take_line(&mut shown);
            }
        }
        self.show(&shown)
    }

    /// Shows the sample count, if it has changed.
    pub(super) fn update_samples(&mut self) {
        let (Some(progress), Some(samples)) = (&self.progress, &mut self.samples) else {
            return;
        };
        let Some(count) = samples().filter(|count| *count != self.shown_samples) else {
            return;
        };
        self.shown_samples = count;
        let SampleCount { kept, requested } = count;
        if requested > 0 && kept <= requested {
            progress.part(&format!("{kept}/{requested} samples"));
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
        let name = short_name(begun_scenario(line)?);
        self.begun += 1;
        let begun = self.begun;
        let count = self.scenarios.max(self.begun);
        Some(format!("{begun}/{count} {name}"))
    }

    /// Writes `bytes` to the user's copy.
    fn show(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(out) = self.out.as_mut().filter(|_| !bytes.is_empty()) else {
            return Ok(());
        };
        let mut print = || out.write_all(bytes).and_then(|()| out.flush());
        match &self.progress {
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
        let received = take(&mut self.line);
        let line = ESCAPE.replace_all(&received, &b""[..]);
        let scenario = self.advance(&String::from_utf8_lossy(&line));
        if let (Some(scenario), Some(progress)) = (scenario, &self.progress) {
            progress.step(&scenario);
        }
        if self.has_records || !line.starts_with(MARK.as_bytes()) {
            shown.extend(painted(&line));
        }
    }
}

/// Returns a line of UART output in the color of the result that it reports.
fn painted(line: &[u8]) -> Vec<u8> {
    let Ok(text) = str::from_utf8(line) else {
        return line.to_vec();
    };
    let words = text.trim_end_matches(['\r', '\n']);
    let end = &text[words.len()..];
    let painted = Painter::for_stdout().paint(words, words);
    [painted.as_bytes(), end.as_bytes()].concat()
}

impl Drop for RunWatcher<'_> {
    fn drop(&mut self) {
        let rest = take(&mut self.line);
        // The machine has exited, so an output error no longer matters.
        let _ = self.show(&rest);
    }
}
