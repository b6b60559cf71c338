//! The process of a machine, whose stdout is its UART.

use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use follow::RunWatcher;
use follow::stream::{MachineEnding, StopConditions, TimeLimits, chunks, find_verdict, listen};

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

/// A running machine. It is killed when this value is dropped.
#[derive(Debug)]
pub struct MachineProcess {
    child: Child,
    started: Instant,
}

impl MachineProcess {
    /// Starts `command`, which prints UART output.
    pub fn start(command: &mut Command) -> Result<Self> {
        let started = Instant::now();
        let child = command
            // Ctrl-C at the terminal must reach only this process, which then stops the command.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot run {}", command.get_program().display()))?;
        Ok(Self { child, started })
    }

    /// Returns the process ID.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the machine exits or exceeds `limits`, or until `interrupt` is set. `watcher`
    /// receives the output as it arrives. `at_deadline` is called at the deadline, before the
    /// machine is killed.
    pub fn follow(
        mut self,
        limits: impl Into<TimeLimits>,
        interrupt: &AtomicBool,
        watcher: &mut RunWatcher<'_>,
        at_deadline: &mut dyn FnMut(),
    ) -> Result<MachineResult> {
        let uart = self.child.stdout.take().context("no stdout")?;
        let mut stderr = self.child.stderr.take().context("no stderr")?;
        let (bytes, uart_reader) = chunks(uart);
        let stderr_reader = thread::spawn(move || {
            let mut text = Vec::new();
            // If reading fails, the bytes read so far are used.
            let _ = stderr.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        let mut log = Vec::new();
        let stop = StopConditions {
            started: self.started,
            limits: limits.into(),
            interrupt,
            is_over: |log| find_verdict(log).is_some(),
        };
        let ending = match listen(&bytes, &mut log, &stop, watcher)? {
            Some(ending) => {
                if ending == MachineEnding::TimedOut {
                    at_deadline();
                }
                self.kill();
                // Bytes that are still in the pipe belong in the log.
                for chunk in bytes.iter() {
                    watcher.receive(&chunk)?;
                    log.extend(chunk);
                }
                ending
            }
            None => MachineEnding::Exited {
                success: self.child.wait()?.success(),
            },
        };
        let _ = uart_reader.join();
        Ok(MachineResult {
            log,
            stderr: stderr_reader.join().expect("the reader does not panic"),
            ending,
            elapsed: self.started.elapsed(),
        })
    }

    fn kill(&mut self) {
        // Ignore errors, because the process may have already exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for MachineProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
