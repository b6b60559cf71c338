//! A run's UART as a person follows it: without records, above a line of progress.

use std::io::{self, Write};
use std::mem::take;
use std::sync::LazyLock;

use psci_bench::record::MARK;
use regex::Regex;

use super::diagnosis::begun_scenario;
use crate::setup::progress::Progress;

/// The longest line that is held back until its end has come.
const LINE_MAX: usize = 4096;

/// Shows the lines of the bytes that are written to it, and the scenario under way.
pub struct Screen<'o> {
    /// The receiver of the lines.
    pub out: &'o mut dyn Write,
    /// True if `out` gets records, too.
    pub has_records: bool,
    /// The display of the scenario under way.
    pub progress: Progress,
    line: Vec<u8>,
    /// The number of all scenarios by the header; 0 without one.
    scenarios: u32,
    begun: u32,
}

impl<'o> Screen<'o> {
    /// Returns one that leaves records out.
    pub fn new(out: &'o mut dyn Write, progress: Progress) -> Self {
        Self {
            out,
            has_records: false,
            progress,
            line: Vec::new(),
            scenarios: 0,
            begun: 0,
        }
    }

    /// Returns the scenario that `line` begins, with its number.
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

    /// Writes to `out` what is to be shown of `lines`.
    fn show(&mut self, lines: &[u8]) -> io::Result<()> {
        let out = &mut self.out;
        match lines {
            [] => Ok(()),
            _ => self
                .progress
                .above(|| out.write_all(lines).and_then(|()| out.flush())),
        }
    }
}

impl Write for Screen<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut shown = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if !part.ends_with(b"\n") && self.line.len() < LINE_MAX {
                continue;
            }
            let line = take(&mut self.line);
            if let Some(step) = self.advance(&String::from_utf8_lossy(&line)) {
                self.progress.step(&step);
            }
            if self.has_records || !line.starts_with(MARK.as_bytes()) {
                shown.extend(line);
            }
        }
        self.show(&shown)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        let rest = take(&mut self.line);
        // The machine has ended, and with it the reason to report an error of the output.
        let _ = self.show(&rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_shown_without_records_and_in_any_parts() {
        let text = "psci-bench 0.1.0\r\n  Plan       : 2 scenarios, 20 samples a CPU\r\n\
                    > Executing 'CPU suspend on all cores in sequence'\r\n\
                    @PB 0001 {} 00000000\r\n* a finding\r\nhang";
        let plain = text.replace("@PB 0001 {} 00000000\r\n", "");
        for (size, has_records, expected) in
            [(1, false, &*plain), (7, true, text), (999, false, &plain)]
        {
            let mut out = Vec::new();
            let mut screen = Screen::new(&mut out, Progress::on_terminal("a run"));
            screen.has_records = has_records;
            for part in text.as_bytes().chunks(size) {
                screen.write_all(part).expect("written");
            }
            assert_eq!(screen.begun, 1);
            let line = "> Executing 'PSCI version call'\r\n";
            let step = screen.advance(line);
            assert_eq!(step.as_deref(), Some("2/2 PSCI version call"));
            drop(screen);
            assert_eq!(String::from_utf8_lossy(&out), expected);
        }
    }
}
