//! Listens to a machine with a time limit, and forwards its UART output as it arrives.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::Result;
use suite::model as verdict;
use suite::model::{Totals, Verdict};

use super::run_watcher::RunWatcher;

/// The maximum value of `--timeout`, in seconds: one day.
pub const TIMEOUT_MAX_S: u64 = 24 * 60 * 60;

/// How long a machine may remain running but silent after its last line. A machine that parks at
/// the end never exits on its own.
const LINGER: Duration = Duration::from_secs(2);

/// The time limits for a machine. Converting from a plain duration sets only the timeout.
#[derive(Clone, Copy, Debug)]
pub struct TimeLimits {
    /// The time from the start of the machine until it is killed.
    pub timeout: Duration,
    /// How long the machine may be silent after the last line.
    pub linger: Duration,
}

impl From<Duration> for TimeLimits {
    fn from(timeout: Duration) -> Self {
        Self {
            timeout,
            linger: LINGER,
        }
    }
}

/// The interval at which the deadline and the interrupt flag are checked.
const TICK: Duration = Duration::from_millis(50);

/// How a machine ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineEnding {
    /// The machine exited on its own, for example after SYSTEM_OFF.
    Exited {
        /// True if the machine's process reported success.
        success: bool,
    },
    /// The machine kept running after its last line and was killed.
    Parked,
    /// The machine was killed at the deadline.
    TimedOut,
    /// The machine was killed because the user interrupted the command.
    Interrupted,
}

/// Reads in a separate thread, so the caller can wait with a timeout.
pub fn chunks(mut from: impl Read + Send + 'static) -> (Receiver<Vec<u8>>, JoinHandle<()>) {
    let (sender, receiver) = mpsc::channel();
    let reader = thread::spawn(move || {
        let mut buffer = [0; 4096];
        loop {
            let chunk = match from.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                count => &buffer[..count.unwrap_or(0)],
            };
            if chunk.is_empty() || sender.send(chunk.to_vec()).is_err() {
                break;
            }
        }
    });
    (receiver, reader)
}

/// When to stop listening to a machine.
pub struct StopConditions<'i> {
    /// When the machine was started.
    pub started: Instant,
    /// When to kill a machine that neither exits nor prints.
    pub limits: TimeLimits,
    /// True once the user has interrupted the command.
    pub interrupt: &'i AtomicBool,
    /// Returns true for a log that reaches the end of a run.
    pub is_over: fn(&[u8]) -> bool,
}

/// Passes the output of a machine to `watcher`. Returns None if the UART was closed because the
/// machine exited.
pub fn listen(
    bytes: &Receiver<Vec<u8>>,
    log: &mut Vec<u8>,
    stop: &StopConditions<'_>,
    watcher: &mut RunWatcher<'_>,
) -> Result<Option<MachineEnding>> {
    let deadline = stop.started + stop.limits.timeout;
    let mut heard = Instant::now();
    loop {
        match bytes.recv_timeout(TICK) {
            Ok(chunk) => {
                watcher.receive(&chunk)?;
                log.extend(chunk);
                heard = Instant::now();
            }
            Err(RecvTimeoutError::Disconnected) => {
                // The same interrupt may have terminated the machine.
                let interrupted = stop.interrupt.load(Ordering::Relaxed) && !(stop.is_over)(log);
                return Ok(interrupted.then_some(MachineEnding::Interrupted));
            }
            Err(RecvTimeoutError::Timeout) => watcher.update_samples(),
        }
        let now = Instant::now();
        if stop.interrupt.load(Ordering::Relaxed) {
            return Ok(Some(MachineEnding::Interrupted));
        }
        // UARTs deliver single bytes, so the log is searched only when the machine is silent.
        if now - heard > stop.limits.linger && (stop.is_over)(log) {
            return Ok(Some(MachineEnding::Parked));
        }
        if now >= deadline {
            return Ok(Some(MachineEnding::TimedOut));
        }
    }
}

/// The number of bytes at the end of a log that are searched for the closing line. Only the
/// firmware's last messages may follow that line.
const CLOSING_WITHIN: usize = 4096;

/// Returns the part of a log in which the closing line is searched for.
pub fn end_of(log: &[u8]) -> &[u8] {
    &log[log.len().saturating_sub(CLOSING_WITHIN)..]
}

/// Returns the counts of the last closing line near the end of `log`, if the run completed.
pub fn closing_totals(log: &[u8]) -> Option<Totals> {
    let lines = end_of(log).split(|byte| *byte == b'\n').rev();
    let mut texts = lines.filter_map(|line| str::from_utf8(line).ok());
    texts.find_map(|text| verdict::parse_totals(text.trim_ascii_end()))
}

/// Returns the last verdict near the end of `log`.
pub fn find_verdict(log: &[u8]) -> Option<Verdict> {
    end_of(log)
        .split(|byte| *byte == b'\n')
        .rev()
        .find_map(verdict::parse_line)
}
