//! Invalid input produces exit code 2 and a message that explains what to do. Nothing is written.

use std::process::Command;

use crate::support::scratch::Scratch;
use crate::support::{PROGRAM, outcome, psci_report};

/// Commands that are refused, with part of each message.
const COMMANDS: &[(&str, &str)] = &[
    ("", "Usage: cargo xtask"),
    (
        "merge a.log b.log",
        "merge no longer exists; use `report LOG…`",
    ),
    (
        "report run.log --format bug",
        "no longer supported: use --format md",
    ),
    (
        "report run.log --format perfetto",
        "no longer supported: use --format html",
    ),
];

/// Shell commands that are refused, with part of each message. File sizes are limited to 1 KiB, and
/// `$X` is the program.
const SHELL: &[(&str, &str)] = &[
    // Invalid output file names.
    (
        "$X report - -o - < old",
        "error: -o -: specify a file (./- for",
    ),
    (
        "$X follow - --log - < old",
        "error: --log -: specify a file (./- for",
    ),
    // Files that would block a reader.
    ("$X report fifo", "error: fifo: is a named pipe"),
    ("$X compare fifo old", "error: fifo: is a named pipe"),
    // Files of another kind.
    (
        "$X report old.gz",
        "error: old.gz: compressed with gzip; decompress it with gunzip -k old.gz",
    ),
    ("$X report /dev/zero", "error: /dev/zero: is a device"),
    // Open pipes, and files that are also stdin.
    (
        "cat old | $X report /dev/stdin",
        "error: /dev/stdin: no run in its 1 line",
    ),
    (
        "cat old | $X report -",
        "error: stdin: no run in its 1 line",
    ),
];

#[test]
fn commands_are_refused_by_name() {
    let scratch = Scratch::new(PROGRAM);
    for (line, part) in COMMANDS {
        scratch.refuses(line, part);
    }
}

/// Memory is limited to prove that no large file is read into it, and file sizes are limited so
/// that writes fail. The program ignores SIGXFSZ, so a write returns an error instead of killing
/// it.
const LIMITS: &str = "trap '' XFSZ; ulimit -f 2; ulimit -v 400000;";

#[test]
fn files_are_refused_at_once_by_what_to_do() {
    let scratch = Scratch::new(PROGRAM);
    scratch.write("old", &"old".repeat(300));
    scratch.theirs("mkfifo fifo");
    scratch.theirs("gzip -k old");
    for (line, part) in SHELL {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{LIMITS} {line}")]);
        shell.current_dir(scratch.path(""));
        shell.env("X", psci_report(&[]).get_program());
        let (code, stderr) = outcome(&mut shell);
        assert_eq!(code, 2, "{line}: {stderr}");
        assert!(stderr.contains(part), "{line}: {stderr}");
    }
}
