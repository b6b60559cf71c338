//! The reasons for which a log has no report.

use std::fmt;
use std::io;

use crate::setup::plural::many;

/// The reason for which a log has no report.
#[derive(Debug)]
pub enum ReadError {
    /// The log cannot be read.
    Io {
        /// The log's name.
        name: String,
        /// The byte at which reading failed.
        offset: u64,
        /// The cause.
        error: io::Error,
    },
    /// The log has no byte.
    Empty {
        /// The log's name.
        name: String,
    },
    /// The log has no run.
    NoRun(NoRun),
}

/// A log without a run.
#[derive(Debug)]
pub struct NoRun {
    pub(super) name: String,
    pub(super) lines: u64,
    pub(super) bytes: u64,
    /// Lines with bytes that are no text.
    pub(super) binary: u64,
    /// Pieces that begin as records do, and are none.
    pub(super) damaged: u64,
    /// The last stage of the firmware that has a line.
    pub(super) firmware: Option<String>,
    /// The end of the last line with text.
    pub(super) end: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io {
                name,
                offset,
                error,
            } => write!(f, "{name}: cannot read on at byte {offset}: {error}"),
            Self::Empty { name } => write!(
                f,
                "{name}: the log is empty: was the UART connected, at the right speed?"
            ),
            Self::NoRun(no_run) => no_run.fmt(f),
        }
    }
}

impl fmt::Display for NoRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = many(self.lines as usize, "line");
        write!(
            f,
            "{}: no run in its {lines} ({} bytes): ",
            self.name, self.bytes
        )?;
        if self.damaged > 0 {
            let records = many(self.damaged as usize, "record");
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
        match &self.firmware {
            Some(firmware) => write!(
                f,
                "; firmware {firmware} did speak: the payload was not started, or has another UART"
            )?,
            None if self.binary * 4 > self.lines => {
                f.write_str("; it is binary: a log is the UART's bytes, not a capture file")?;
            }
            None => f.write_str("; log the UART from the board's reset on")?,
        }
        if !self.end.is_empty() {
            write!(f, "; it ends with \"{}\"", self.end)?;
        }
        Ok(())
    }
}

impl std::error::Error for ReadError {}

#[cfg(test)]
mod tests {
    use psci_bench::plan::Records;
    use psci_bench::record::MARK;

    use crate::report::log::{made_up_run, read_bytes};

    #[test]
    fn log_without_a_run_is_refused_with_advice() {
        let said = |log: &[u8]| match read_bytes("a.log", log) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        };
        let log = made_up_run::log(&made_up_run::run(), Records::Once);
        let records = log.lines().filter(|it| it.starts_with(MARK));
        let wrong: Vec<String> = records.map(|it| it.replace(':', ";")).collect();
        let binary: Vec<u8> = (0..200_000u32).map(|i| ((i * 7919) >> 3) as u8).collect();
        for (log, parts) in [
            (&b""[..], &["a.log: the log is empty"][..]),
            (
                b"hello\r\nworld\r\n",
                &["in its 2 lines (14 bytes)", "ends with \"world\""],
            ),
            (b"hello\n", &["in its 1 line (6 bytes)"]),
            (
                wrong.join("\n").as_bytes(),
                &["records (@PB ...), and not one with the right checksum"],
            ),
            (&binary, &["it is binary"]),
            (
                b"NOTICE:  BL1: v2.12(release):x\r\nNOTICE:  BL31: v2.12(release):x\r\n",
                &["firmware BL31 v2.12(release):x did speak"],
            ),
        ] {
            let said = said(log);
            assert!(parts.iter().all(|part| said.contains(part)), "{said}");
        }
        for at in 0..600 {
            let _ = said(&log.as_bytes()[log.len() - at..]);
            let _ = said(&log.as_bytes()[..at]);
        }
    }
}
