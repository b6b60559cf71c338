//! Why a run under the instruction clock has one CPU of the host, and how it
//! gets it.
//!
//! With `-icount`, QEMU 7.2 runs all virtual CPUs in one thread, in turn
//! (`accel/tcg/tcg-accel-ops-rr.c`), and moves the clock on in another when all
//! of them wait for an interrupt: `main_loop_wait` (`util/main-loop.c`) calls
//! `icount_start_warp_timer` (`softmmu/icount.c`) each time that the main loop
//! goes round. Every timer that expires sends it round
//! (`icount_notify_aio_contexts`, `aio_notify`), while the virtual CPUs run
//! again. Then it is a race: the main loop's lock is free while a virtual CPU
//! has its turn, so that, from the WFI of the last one that was awake until
//! their thread sleeps, the main loop sees all of them waiting, and moves the
//! clock on too early. The instructions of that turn are not counted yet, and
//! come on top of the instant that the next timer is due at; or a kick
//! (`async_run_on_cpu`) begins the next turns with another virtual CPU than the
//! first. The main loop has to come late by just so much, as on a busy host:
//! there, 26 of 340 runs of 8 CPUs differed from the others. Where the main
//! loop was held back, for a trial, until the virtual CPUs' thread slept, none
//! of 120 did.
//!
//! On one CPU of the host the two threads never run at once, and with
//! `SCHED_BATCH` one that wakes up does not interrupt the other (sched(7)): the
//! main loop goes round when the virtual CPUs' thread sleeps, 2 of 200 runs. What
//! is left is that the host takes the CPU away within those few instructions,
//! and gives it to the main loop next; more of that with 32 CPUs, 2 of 16 runs.
//! QEMU has no option that rules it out, and its record/replay refuses `-smp`.

use std::ffi::OsString;
use std::fs;
use std::process::{self, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a command is to begin with so that all of its threads are on one CPU
/// of the host, and do not interrupt each other. Empty where the host does not
/// have that: the run may then not repeat.
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

/// Whether the program that `words` begin with is there, and lets another one
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

/// The host's CPUs that this process may run on; none where it cannot be told.
fn allowed() -> Vec<usize> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.and_then(parse).unwrap_or_default()
}

/// The numbers in a list such as `0-3,8`, as proc(5) has them.
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
        let mut words = prefix()
            .into_iter()
            .chain(["sh", "-c", script].map(OsString::from));
        let mut command = Command::new(words.next().expect("a program"));
        let said = crate::setup::process::output(command.args(words)).expect("it runs");
        let (_, list) = said.split_once(':').expect("a list");
        let cpus = parse(list).expect("numbers");
        assert_eq!(cpus.len(), 1, "{said}");
        assert!(allowed().contains(&cpus[0]), "{said}");
    }
}
