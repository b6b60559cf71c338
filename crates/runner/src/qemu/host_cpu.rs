//! Keeps a run with the instruction clock on a single host CPU. On two CPUs, the QEMU main loop may
//! advance the clock while the virtual CPU thread runs, so the run is not repeatable.
//! docs/reliability.md describes this race, which a single CPU makes rare but does not rule out.

use std::ffi::OsString;
use std::process::{self, Command};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::thread::{CpuSet, sched_getaffinity};

/// Returns the command prefix that keeps all threads of a command on one host CPU, where they do
/// not interrupt each other. The prefix is empty if the host does not support this, in which case
/// the run may not be repeatable.
pub fn prefix() -> Vec<OsString> {
    // Simultaneous runs should use different CPUs.
    static STARTED: AtomicUsize = AtomicUsize::new(0);
    let nth = process::id() as usize + STARTED.fetch_add(1, Ordering::Relaxed);
    let cpus = allowed();
    let Some(nth) = nth.checked_rem(cpus.len()) else {
        return Vec::new();
    };
    let cpu = cpus[nth].to_string();
    let words = ["taskset", "-c", &cpu, "chrt", "-b", "0"];
    // `chrt` is useful only together with `taskset`. A container may forbid either command.
    static WORDS: OnceLock<usize> = OnceLock::new();
    let count = *WORDS.get_or_init(|| {
        let is_working = |count: &usize| is_success(&words[..*count]);
        [6, 3].into_iter().find(is_working).unwrap_or(0)
    });
    words[..count].iter().map(OsString::from).collect()
}

/// Returns true if the program named by the first element of `words` exists and can run another
/// program.
fn is_success(words: &[&str]) -> bool {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg("true");
    host::process::output(&mut command).is_ok()
}

/// Returns the host CPUs that this thread may run on, or an empty list if they are unknown.
fn allowed() -> Vec<usize> {
    let Ok(allowed) = sched_getaffinity(None) else {
        return Vec::new();
    };
    let cpus = 0..CpuSet::MAX_CPU;
    cpus.filter(|cpu| allowed.is_set(*cpu)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_on_one_cpu() {
        let words = prefix()
            .into_iter()
            .chain(["nproc".into()])
            .collect::<Vec<_>>();
        let mut command = Command::new(&words[0]);
        let output = host::process::output(command.args(&words[1..])).expect("it runs");
        assert_eq!(output.trim(), "1");
    }
}
