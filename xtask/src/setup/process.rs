//! Child processes: quiet while they succeed, with their output in the error otherwise.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use itertools::Itertools as _;

use super::interrupt;

/// The number of last lines of a failed program that are shown.
const TAIL: usize = 40;

/// Finds `program` by PATH.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|dir| dir.join(program))
        .find(|file| {
            let meta = fs::metadata(file);
            meta.is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        })
}

/// Returns the command of the cargo that runs this tool.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or("cargo".into()))
}

/// Runs `command`, and returns its standard output.
pub fn output(command: &mut Command) -> Result<String> {
    let name = display(command);
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run `{name}`"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("`{name}` failed ({}): {}", output.status, said.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs `command`, and shows its output as it comes.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    interrupt::check()?;
    let name = display(command);
    let status = command.status();
    let status = status.with_context(|| format!("cannot run `{name}`"))?;
    if !status.success() {
        bail!("`{name}` failed ({status})");
    }
    Ok(())
}

/// Runs `command` with its output in the file `log`.
pub fn quietly(command: &mut Command, log: &Path) -> Result<()> {
    interrupt::check()?;
    let name = command.get_program().to_string_lossy().into_owned();
    let mut file = File::create(log).with_context(|| log.display().to_string())?;
    writeln!(file, "$ {}", display(command))?;
    command
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file);
    let status = command
        .status()
        .with_context(|| format!("cannot run `{name}`"))?;
    if !status.success() {
        let text = fs::read(log)?;
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        let tail = &lines[lines.len().saturating_sub(TAIL)..];
        bail!("`{name}` failed ({status}):\n{}", tail.join("\n"));
    }
    Ok(())
}

/// Returns the words of `command`.
pub fn display(command: &Command) -> String {
    let words = [command.get_program()]
        .into_iter()
        .chain(command.get_args());
    words.map(OsStr::to_string_lossy).join(" ")
}

/// Makes a command with few environment variables: a makefile reads all of them.
pub fn clean(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("LC_ALL", "C");
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
    fn a_failure_shows_what_was_said() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let log = dir.path().join("log");
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo err >&2; exit 7"]);
        let error = quietly(&mut command, &log);
        let error = error.expect_err("it failed").to_string();
        assert!(error.contains("exit status: 7"), "{error}");
        assert!(error.contains("\nout") && error.contains("\nerr"));
    }
}
