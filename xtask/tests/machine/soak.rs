//! `cargo xtask soak` on QEMU.

use std::fs;
use std::path::Path;

use crate::support::xtask;

/// Runs `soak`. Returns the exit code, stdout and the names of the files in `keep`.
fn soak(arguments: &[&str], keep: &Path) -> (Option<i32>, String, Vec<String>) {
    let mut command = xtask(&["soak"]);
    command.args(arguments).arg("--keep").arg(keep);
    let output = command.output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut files: Vec<String> = fs::read_dir(keep)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
        .map(|entry| entry.expect("readable").file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    files.sort();
    (output.status.code(), said, files)
}

#[test]
fn two_runs_of_the_payload() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let keep = dir.path().join("kept");
    let args = "iterations=3 warmup=1 only=susp_deep_parallel,cpu_susp_serial,cpu_off_serial";
    let run = ["--icount", "--smp", "4", "--args", args];
    let arguments = [&["--runs", "2", "--load", "1"][..], &run].concat();
    let (code, said, files) = soak(&arguments, &keep);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(files, ["summary.txt"]);
    let summary = fs::read_to_string(keep.join("summary.txt")).expect("a summary");
    assert_eq!(summary, said);
    // Each of the two runs takes three samples on every CPU in each of three scenarios. All four
    // CPUs suspend in two of these scenarios, and only the lead suspends in the third.
    for line in [
        "run 1: PASS, ",
        "run 2: PASS, ",
        "2 runs in ",
        "samples: 72; suspends: 54; CPUs lost: 0\nlogs kept: 0, in ",
    ] {
        assert!(said.contains(line), "no {line:?} in\n{said}");
    }
}
