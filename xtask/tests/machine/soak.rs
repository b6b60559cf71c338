//! `cargo xtask soak` on QEMU.

use std::fs;
use std::path::Path;

use crate::support::{End, FAIL, stub, xtask};

/// Runs soak; returns its exit code, its stdout and the names of the files in `keep`.
fn soak(arguments: &[&str], keep: &Path) -> (Option<i32>, String, Vec<String>) {
    let mut command = xtask(&["soak"]);
    command.args(arguments).arg("--keep").arg(keep);
    let output = command.output().expect("it can be started");
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
    let arguments = ["--runs", "2", "--icount", "--smp", "4", "--args", args];
    let (code, said, files) = soak(&arguments, &keep);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(files, ["summary.txt"]);
    let summary = fs::read_to_string(keep.join("summary.txt")).expect("a summary");
    assert_eq!(summary, said);
    // Two runs of three samples: four CPUs in each of two scenarios suspend, in the third
    // the lead alone.
    for line in [
        "run 1: PASS, ",
        "run 2: PASS, ",
        "2 runs in ",
        "samples: 72; CPUs lost: 0\n",
        "abandoned: 0 of 54 suspends (0.00 %)\n",
        "without a known reason: 0\nlogs kept: 0, in ",
    ] {
        assert!(said.contains(line), "no {line:?} in\n{said}");
    }
}

#[test]
fn logs_of_failed_runs_are_kept() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let image = dir.path().join("image");
    let text = format!("{FAIL}\r\n");
    fs::write(&image, stub(&text, End::Off)).expect("written");
    let image = image.to_str().expect("text");
    let keep = dir.path().join("kept");
    let arguments = ["--firmware", "builtin", "--smp", "1", "--image", image];
    let more = ["--runs", "2", "--load", "1"];
    let (code, said, files) = soak(&[arguments.as_slice(), &more].concat(), &keep);
    assert_eq!(code, Some(1), "{said}");
    let logs = ["run-0001-FAIL.log", "run-0002-FAIL.log", "summary.txt"];
    assert_eq!(files, logs);
    assert_eq!(
        fs::read(keep.join(logs[0])).expect("a log"),
        text.as_bytes()
    );
    // The stub's last line counts nine samples in each of two runs, without records.
    assert!(said.contains("without a known reason: 18, of which 18 are in no row\n"));
    assert!(said.contains("ended before their records"), "{said}");
}
