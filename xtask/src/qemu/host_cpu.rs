//! The one CPU of the host for a run under the instruction clock. On two, QEMU's
//! main loop may move the clock on while the virtual CPUs' thread runs, and the run
//! then does not repeat: docs/architecture.md has the race and what is left of it.

use std::ffi::OsString;
use std::fs;
use std::process::{self, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Returns what a command is to begin with so that all of its threads are on one CPU of
/// the host, and do not interrupt each other. Empty where the host does not have that:
/// the run may then not repeat.
pub fn prefix() -> Vec<OsString> {
    // Runs at the same time are to be on different CPUs.
    static STARTED: AtomicUsize = AtomicUsize::new(0);
    let nth = process::id() as usize + STARTED.fetch_add(1, Ordering::Relaxed);
    let cpus = allowed();
    let Some(cpu) = nth.checked_rem(cpus.len()).and_then(|nth| cpus.get(nth)) else {
        return Vec::new();
    };
    let pinned = ["taskset", "-c", &cpu.to_string()].map(OsString::from);
    let batch = ["chrt", "-b", "0"].map(OsString::from);
    static WORK: OnceLock<[bool; 2]> = OnceLock::new();
    let [is_pinned, is_batch] = WORK.get_or_init(|| [works(&pinned), works(&batch)]);
    let mut words = Vec::new();
    if *is_pinned {
        words.extend(pinned);
        // Of use on one CPU alone.
        if *is_batch {
            words.extend(batch);
        }
    }
    words
}

/// Returns whether the program that `words` begin with is there, and lets another one
/// run: a container may forbid it.
fn works(words: &[OsString]) -> bool {
    let Some((program, rest)) = words.split_first() else {
        return false;
    };
    let mut command = Command::new(program);
    command.args(rest).arg("true");
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null());
    let status = quiet.stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Returns the host's CPUs that this process may run on; none where Linux does not list them.
fn allowed() -> Vec<usize> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.and_then(parse).unwrap_or_default()
}

/// Returns the numbers in a list such as `0-3,8`, as proc(5) has them.
fn parse(list: &str) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        // No host has so many, and then this is no such list.
        let last: usize = last.parse().ok().filter(|last| *last < 1 << 16)?;
        numbers.extend(first.parse::<usize>().ok()?..=last);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        assert_eq!(parse("\t0\n"), Some(vec![0]));
        assert_eq!(parse("0-3,8"), Some(vec![0, 1, 2, 3, 8]));
        for damaged in ["", "a", "1-", "-1", "0,,1", "0-99999999999", "0-70000"] {
            assert_eq!(parse(damaged), None, "{damaged}");
        }
    }

    #[test]
    fn a_command_is_on_one_cpu() {
        let script = "grep Cpus_allowed_list /proc/self/status";
        let script = ["sh", "-c", script].map(OsString::from);
        let mut words = prefix().into_iter().chain(script);
        let mut command = Command::new(words.next().expect("a program"));
        let said = crate::setup::process::output(command.args(words)).expect("it runs");
        let (_, list) = said.split_once(':').expect("a list");
        let cpus = parse(list).expect("numbers");
        assert_eq!(cpus.len(), 1, "{said}");
        assert!(allowed().contains(&cpus[0]), "{said}");
    }
}
