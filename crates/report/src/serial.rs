//! Follows a run on a board by reading its UART output from a serial port or stdin, until the last
//! line, a timeout, or an interrupt from the user. In all cases, the bytes received so far are
//! kept.

use std::fmt;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use follow::RunWatcher;
use follow::stream::{
    MachineEnding, StopConditions, TIMEOUT_MAX_S, chunks, end_of, find_verdict, listen,
};
use host::log_file::LogFile;
use host::progress::StepProgress;
use memchr::memmem;
use serial2::SerialPort;
use suite::model::PREFIX;

use crate::log::runs;

/// A run's UART output, and how the run ended.
#[derive(Clone, Debug)]
pub struct Followed {
    /// The bytes received so far.
    pub log: Vec<u8>,
    /// How the run ended, or None if the other side closed the connection.
    pub ending: Option<MachineEnding>,
    /// How long the run was followed.
    pub elapsed: Duration,
}

impl fmt::Display for Followed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, seconds) = (self.log.len(), self.elapsed.as_secs_f64());
        let how = match self.ending {
            Some(MachineEnding::TimedOut) => "timed out (--timeout)",
            Some(MachineEnding::Interrupted) => "interrupted",
            _ if is_over(&self.log) => "the run has ended",
            _ => "the UART was closed before the run's last line",
        };
        write!(f, "{how}: {bytes} bytes in {seconds:.1} s")
    }
}

/// Follows the port at `device`, or stdin for `-`, for at most `timeout`. The port runs at `baud`,
/// with 8 data bits, no parity, one stop bit and no flow control. All output is written to `log` as
/// it arrives.
pub fn follow(
    device: &Path,
    baud: u32,
    timeout: Duration,
    interrupt: &AtomicBool,
    log: Option<&mut LogFile>,
) -> Result<Followed> {
    let name = device.display();
    let from: Box<dyn Read + Send> = if device == Path::new("-") {
        Box::new(io::stdin())
    } else {
        let mut port = SerialPort::open(device, baud)
            .with_context(|| format!("{name}: cannot open at {baud} baud"))?;
        // A silent port is not closed, so `listen` enforces the deadline.
        port.set_read_timeout(Duration::from_secs(TIMEOUT_MAX_S))
            .with_context(|| name.to_string())?;
        Box::new(port)
    };
    let started = Instant::now();
    let progress = StepProgress::start(&format!("following {name}"));
    let mut watcher = RunWatcher::with_progress(progress);
    watcher.log = log;
    let mut received = Vec::new();
    // The reader thread may block until the process exits.
    let (bytes, _) = chunks(from);
    let stop = StopConditions {
        started,
        limits: timeout.into(),
        interrupt,
        is_over,
    };
    let ending = listen(&bytes, &mut received, &stop, &mut watcher)?;
    Ok(Followed {
        ending,
        log: received,
        elapsed: started.elapsed(),
    })
}

/// Returns true if the log reaches the last line of its last run. If a tool puts a prefix before
/// every line, only the report's reader can recognize that line.
fn is_over(log: &[u8]) -> bool {
    if find_verdict(log).is_some() {
        return true;
    }
    if memmem::find(end_of(log), PREFIX.as_bytes()).is_none() {
        return false;
    }
    let last = runs("", log).last().and_then(Result::ok);
    last.is_some_and(|logged| logged.closing.is_some())
}

#[cfg(test)]
mod tests {
    use suite::plan::Records;

    use super::*;
    use crate::synthetic_run;

    #[test]
    fn run_with_a_prefix_before_its_lines_is_over_at_its_last_line() {
        let log = synthetic_run::log(&synthetic_run::run(), Records::Once);
        let (run, _) = log.rsplit_once(PREFIX).expect("a last line");
        let with_prefix = |log: &str| {
            let lines = log.lines().map(|line| format!("board-1  | {line}\n"));
            lines.collect::<String>()
        };
        for (text, expected) in [
            (log.clone(), true),
            (with_prefix(&log), true),
            (run.to_owned(), false),
            (with_prefix(run), false),
            (
                format!("{}[1] {PREFIX}INCOMPLETE: x\n", with_prefix(run)),
                false,
            ),
        ] {
            assert_eq!(is_over(text.as_bytes()), expected);
        }
    }
}
