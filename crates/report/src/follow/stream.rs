//! Runs a machine with a time limit and forwards its UART output as it arrives.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use suite::model as verdict;
use suite::model::Verdict;

use super::run_watcher::RunWatcher;

/// How long a machine may remain running but silent after its last line. A machine that parks at
/// the end never exits on its own.
pub const LINGER: Duration = Duration::from_secs(2);

/// The time limits for a machine. Converting from a plain duration sets only the timeout.
#[derive(Clone, Copy, Debug)]
pub struct TimeLimits {
    /// The total time.
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
    /// The machine exited.
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

/// The result of running a machine.
#[derive(Clone, Debug)]
pub struct MachineResult {
    /// All bytes from the UART.
    pub log: Vec<u8>,
    /// QEMU's stderr output.
    pub stderr: String,
    /// How the machine stopped.
    pub ending: MachineEnding,
    /// How long the machine ran.
    pub elapsed: Duration,
}

/// A child process that is killed when this value is dropped.
pub(crate) struct Owned(pub(crate) Child);

impl Drop for Owned {
    fn drop(&mut self) {
        // Ignore errors, because the process may have already exited.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs `command`, which prints UART output, until it exits or exceeds `limits`, or until
/// `interrupt` is set. `watcher` receives the output as it arrives. `at_deadline` is called at the
/// deadline, before the process is killed.
pub fn run(
    command: &mut Command,
    limits: impl Into<TimeLimits>,
    interrupt: &AtomicBool,
    watcher: &mut RunWatcher<'_>,
    at_deadline: &mut dyn FnMut(),
) -> Result<MachineResult> {
    let started = Instant::now();
    let limits = limits.into();
    let mut child = command
        // Ctrl-C at the terminal must reach only this process, which then stops the command.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map(Owned)
        .with_context(|| format!("cannot run {}", command.get_program().display()))?;
    let uart = child.0.stdout.take().context("no stdout")?;
    let mut stderr = child.0.stderr.take().context("no stderr")?;
    let (bytes, reader) = chunks(uart);
    let complaints = thread::spawn(move || {
        let mut text = Vec::new();
        // If reading fails, the bytes read so far are used.
        let _ = stderr.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    let mut log = Vec::new();
    let stop = StopConditions {
        started,
        limits,
        interrupt,
        is_over: |log| closing(log).is_some(),
    };
    let process = Some(child.0.id());
    let killed = listen(&bytes, &mut log, &stop, watcher, process)?;
    let ending = match killed {
        Some(ending) => {
            if ending == MachineEnding::TimedOut {
                at_deadline();
            }
            drop(child);
            // Bytes that are still in the pipe belong in the log.
            for chunk in bytes.iter() {
                watcher.receive(&chunk)?;
                log.extend(chunk);
            }
            ending
        }
        None => MachineEnding::Exited {
            success: child.0.wait()?.success(),
        },
    };
    let _ = reader.join();
    Ok(MachineResult {
        log,
        stderr: complaints.join().expect("the reader does not panic"),
        ending,
        elapsed: started.elapsed(),
    })
}

/// Reads in a separate thread, so the caller can wait with a timeout.
pub(crate) fn chunks(mut from: impl Read + Send + 'static) -> (Receiver<Vec<u8>>, JoinHandle<()>) {
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
pub(crate) struct StopConditions<'i> {
    /// When the machine was started.
    pub started: Instant,
    pub limits: TimeLimits,
    /// True once the user has interrupted the command.
    pub interrupt: &'i AtomicBool,
    /// Returns true for a log that reaches the end of a run.
    pub is_over: fn(&[u8]) -> bool,
}

/// Passes the output of a machine to `watcher`, and the machine's process if it runs on this host.
/// Returns None if the UART was closed because the machine exited.
pub(crate) fn listen(
    bytes: &Receiver<Vec<u8>>,
    log: &mut Vec<u8>,
    stop: &StopConditions<'_>,
    watcher: &mut RunWatcher<'_>,
    process: Option<u32>,
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
            Err(RecvTimeoutError::Timeout) => {
                if let Some(process) = process {
                    watcher.update_samples(process);
                }
            }
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
pub(crate) fn end_of(log: &[u8]) -> &[u8] {
    &log[log.len().saturating_sub(CLOSING_WITHIN)..]
}

/// Returns the last verdict near the end of `log`.
pub fn closing(log: &[u8]) -> Option<Verdict> {
    let end = end_of(log);
    end.split(|byte| *byte == b'\n')
        .rev()
        .find_map(verdict::parse_line)
}
