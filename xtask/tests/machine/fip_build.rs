//! Tests that the output of `fip build` boots on QEMU, and that the payload takes measurements.

use std::process::Command;

use host::process;

use crate::support::PROGRAM;
use crate::support::scratch::Scratch;

#[test]
fn qemus_flash_boots_and_measures() {
    boots_and_measures("qemu", "6 passed, 0 skipped, 0 failed; 0 rows skipped");
    // The pinned TF-A does not implement power-downs on this board.
    boots_and_measures("qemu-sbsa", "2 passed, 4 skipped, 0 failed; 1 row skipped");
}

fn boots_and_measures(board: &str, counts: &str) {
    let scratch = Scratch::with_tf_a_tools(PROGRAM);
    let build = format!("fip build --board {board} --smp 4 --args iterations=2 -o out");
    scratch.ours(&build);
    let page = String::from_utf8(scratch.read("out/README.md")).expect("text");
    let command = page
        .lines()
        .find(|line| line.starts_with("qemu-system-aarch64"));
    let mut timeout = Command::new("timeout");
    timeout.args(["120", "sh", "-c", command.expect("a command")]);
    let log = process::output(timeout.current_dir(scratch.path("out"))).expect("QEMU");
    let pass = format!("psci-bench: PASS ({counts}, 0 CPUs lost)");
    assert!(log.contains(&pass), "{log}");
    scratch.write("run.log", &log);
    let (code, report, stderr) = scratch.called("report run.log");
    assert_eq!(code, 0, "{stderr}");
    assert!(
        report.contains("PMF") && report.contains("Powerdown"),
        "{report}"
    );
}
