//! Runs child processes. The output of a successful process is not printed. If a process fails, the
//! error contains the end of its output.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Read, Seek};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{env, fs, iter, thread};

use anyhow::{Context, Result, bail};
use itertools::Itertools as _;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use thiserror::Error;

use crate::TmpdirContext as _;
use crate::interrupt;
use crate::progress::StepProgress;

/// The number of lines shown from the end of a failed program's output.
const TAIL: usize = 40;
/// The interval between checks of a child process.
const TICK: Duration = Duration::from_millis(20);
/// How long an interrupted child may take to exit on its own.
const GRACE: Duration = Duration::from_secs(1);
/// The time after which the progress of a step is shown. Most steps end sooner, because everything
/// is already built.
const LATE: Duration = Duration::from_millis(500);

/// A program that failed.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct ProgramFailure {
    message: String,
    /// The cause, if the program printed an operating system error.
    kind: Option<ErrorKind>,
}

impl ProgramFailure {
    fn new(message: String, output: &str) -> Self {
        // The output is searched because the exit code is the same for every failure.
        let disk_full = io::Error::from(Errno::NOSPC).to_string();
        let words = disk_full.split(" (os error").next().unwrap_or(&disk_full);
        let kind = output.contains(words).then_some(ErrorKind::StorageFull);
        Self { message, kind }
    }
}

/// Returns true if `error` was caused by a full disk, in this program or in one that it ran.
pub fn is_storage_full(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let kind = match cause.downcast_ref::<io::Error>() {
            Some(error) => Some(error.kind()),
            None => cause
                .downcast_ref::<ProgramFailure>()
                .and_then(|failure| failure.kind),
        };
        kind == Some(ErrorKind::StorageFull)
    })
}

/// Finds `program` in PATH.
pub fn find_program(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|dir| dir.join(program))
        .find(|file| {
            let meta = fs::metadata(file);
            meta.is_ok_and(|metadata| {
                metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
            })
        })
}

/// Returns a command for the cargo executable that runs this tool, in a separate process group, so
/// that an interrupt terminates everything that cargo has started.
pub fn cargo() -> Command {
    let mut command = Command::new(cargo_program());
    command.process_group(0);
    command
}

/// Returns the path of the cargo executable that runs this tool.
pub fn cargo_program() -> OsString {
    env::var_os("CARGO").unwrap_or("cargo".into())
}

/// Runs `command` and returns its standard output.
pub fn output(command: &mut Command) -> Result<String> {
    let name = display(command);
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run `{name}`"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let message = format!("`{name}` failed ({}): {}", output.status, said.trim());
        return Err(ProgramFailure::new(message, &said).into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs `command` and returns its standard output. Each command is run only once, so use this
/// function only for values that do not change while this tool runs, such as a compiler version.
pub fn output_once(command: &mut Command) -> Result<String> {
    static OUTPUTS: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let mut outputs = OUTPUTS
        .lock()
        .expect("nothing panics while the map is locked");
    let line = display(command);
    if let Some(known) = outputs.get(&line) {
        return Ok(known.clone());
    }
    let text = output(command)?;
    outputs.insert(line, text.clone());
    Ok(text)
}

/// Runs `command` without showing its output. If the command fails, the error contains the end of
/// the output, and the file at `log` contains the full output.
pub fn run_quietly(command: &mut Command, log: &Path) -> Result<()> {
    run(None, command, log)
}

/// Like [`run_quietly`], but a line shows the progress of the step called `step`, unless the
/// command ends quickly.
pub fn run_step(step: &str, command: &mut Command, log: &Path) -> Result<()> {
    run(Some(step), command, log)
}

fn run(step: Option<&str>, command: &mut Command, log: &Path) -> Result<()> {
    let name = command.get_program().display().to_string();
    let mut file = tempfile::tempfile().tmpdir_context()?;
    command.stdout(file.try_clone()?).stderr(file.try_clone()?);
    let status = status(step, command)?;
    if status.success() {
        return Ok(());
    }
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let tail = lines[lines.len().saturating_sub(TAIL)..].join("\n");
    let log_path = log.display();
    log.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(log, format!("$ {}\n{text}", display(command)))
        .with_context(|| log_path.to_string())?;
    let message = format!("`{name}` failed ({status}):\n{tail}\nits full output is in {log_path}");
    Err(ProgramFailure::new(message, &text).into())
}

/// Runs `command` as the step called `step`, if it has a name, with no input. An interrupt
/// terminates the command, or its whole process group if it runs in a separate one. A command that
/// does not exit in time is killed.
pub fn status(step: Option<&str>, command: &mut Command) -> Result<ExitStatus> {
    let mut child = command
        .stdin(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot run `{}`", command.get_program().display()))?;
    let started = Instant::now();
    let mut progress = None;
    while interrupt::check().is_ok() {
        let exited = child.try_wait()?;
        if !exited.is_some_and(|status| status.success()) {
            // On a terminal, Ctrl-C also ends the child, possibly before the flag is set.
            thread::sleep(TICK);
        }
        if let Some(status) = exited {
            return Ok(status);
        }
        if let Some(step) = step
            && progress.is_none()
            && started.elapsed() > LATE
        {
            progress = Some(StepProgress::start(step));
        }
    }
    let pid = Pid::from_child(&child);
    let end = |signal| kill_process_group(pid, signal).or_else(|_| kill_process(pid, signal));
    let interrupted = Instant::now();
    // A child that runs as root cannot be signaled, so just wait for it to exit.
    let mut signaled = end(Signal::TERM);
    while child.try_wait()?.is_none() {
        thread::sleep(TICK);
        if interrupted.elapsed() > GRACE && signaled.is_ok() {
            signaled = end(Signal::KILL);
        }
    }
    bail!("interrupted")
}

/// Formats `command` for display.
pub fn display(command: &Command) -> String {
    let words = iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).join(" ")
}

/// Returns a command with a minimal environment, because make imports every environment variable as
/// a make variable. The command runs in a separate process group, like [`cargo`].
pub fn minimal_command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.process_group(0).env_clear().env("LC_ALL", "C");
    for name in ["PATH", "HOME", "TMPDIR"] {
        if let Some(value) = env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_shows_the_end_of_the_output() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let log = dir.path().join("logs/log");
        let sh = |script: &str| run_quietly(Command::new("sh").args(["-c", script]), &log);
        sh("echo out").expect("it succeeds");
        assert!(!log.exists());
        let error = sh("seq 100; echo err >&2; exit 7").expect_err("it failed");
        let message = error.to_string();
        for part in [
            "`sh` failed (exit status: 7):\n62\n63\n",
            "\n100\nerr\nits full",
            "logs/log",
        ] {
            assert!(message.contains(part), "{part}: {message}");
        }
        let log_text = fs::read_to_string(log).expect("kept");
        assert!(log_text.starts_with("$ sh -c seq") && log_text.contains("\n1\n2\n"));
    }
}
