//! `--deny-skipped` of `qemu` and `report`: a run that passes, and has skipped
//! scenarios and a row, ends with exit code 1 and with their names.

#[path = "support/made_up_run.rs"]
mod made_up_run;
mod support;

use std::fs;
use std::path::Path;

use psci_bench::plan::Records;
use support::{outcome, tree_without_states, xtask};

/// The scenarios that a run without idle states skips.
const DENIED: &str = "skipped, which --deny-skipped forbids: \
    test_rt_instr_susp_deep_parallel: no-idle-state; \
    test_rt_instr_susp_deep_serial: no-idle-state; \
    test_rt_instr_cpu_susp_parallel: no-idle-state; \
    test_rt_instr_cpu_susp_serial: no-idle-state; \
    test_rt_instr_cpu_off_serial, CPU 0.0: no-idle-state\n";

/// Runs that tree on QEMU; exit code and stderr.
fn qemu(dir: &Path, words: &str) -> (i32, String) {
    let tree = dir.join("tree.dtb");
    fs::write(&tree, tree_without_states("iterations=2 warmup=0")).expect("written");
    let mut command = xtask(&["qemu", "--smp", "2", "--dtb"]);
    command.arg(tree).arg("--log").arg(dir.join("run.log"));
    outcome(command.args(words.split_whitespace()))
}

fn report(words: &[&str]) -> (i32, String) {
    outcome(xtask(&["report", "--deny-skipped"]).args(words))
}

#[test]
fn what_is_skipped_is_denied_and_named() {
    let dir = tempfile::tempdir().expect("a directory");
    let (code, said) = qemu(dir.path(), "--deny-skipped");
    assert_eq!(code, 1, "{said}");
    assert!(said.contains(DENIED), "{said}");
    let log = dir.path().join("run.log");
    let text = fs::read_to_string(&log).expect("a log");
    let last = text.lines().last().unwrap_or_default();
    assert!(
        last.starts_with("psci-bench: PASS (2 passed, 4 skipped, 0 failed; "),
        "{text}"
    );
    assert!(last.ends_with(", 1 rows skipped, 0 CPUs lost)"), "{text}");
    let row = "\r\nSkipped: test_rt_instr_cpu_off_serial, CPU 0.0: the board names no idle state ";
    assert!(text.contains(row), "{text}");
    assert!(!text.contains("<RT_INSTR:test_rt_instr_cpu_off_serial\t0\t0"));

    // A run that skips nothing, and one without the option.
    let only = "--args only=psci_version_parallel --deny-skipped";
    assert_eq!(qemu(dir.path(), only).0, 0);
    let (code, said) = qemu(dir.path(), "");
    assert_eq!(code, 0, "{said}");
    assert!(!said.contains("skipped"), "{said}");

    let log = log.to_str().expect("UTF-8");
    // A run that skipped nothing.
    let whole = dir.path().join("whole.log");
    let text_of_whole = made_up_run::log(&made_up_run::run(), Records::Once);
    fs::write(&whole, text_of_whole).expect("written");
    let whole = whole.to_str().expect("UTF-8");
    for (words, expected) in [
        (&[log][..], 1),
        (&[whole, log], 1),
        (&["--matrix", log], 1),
        (&[whole], 0),
        (&["--matrix", whole], 0),
        (&[whole, log, "--run", "1"], 0),
    ] {
        let (code, said) = report(words);
        assert_eq!(code, expected, "{words:?}: {said}");
        let named = said.contains(DENIED);
        assert_eq!(named, expected == 1, "{words:?}: {said}");
    }
    let (code, said) = outcome(xtask(&["report", "--matrix"]).arg(log));
    assert_eq!((code, said.as_str()), (0, ""));
    // A log that is cut tells nothing for sure.
    let cut = dir.path().join("cut.log");
    fs::write(&cut, &text[..text.len() / 2]).expect("written");
    assert_eq!(report(&[cut.to_str().expect("UTF-8")]).0, 3);

    let written = |format: &str| {
        let made = xtask(&["report", log, "--format", format]).output();
        String::from_utf8(made.expect("it runs").stdout).expect("UTF-8")
    };
    let row = "<property name=\"test_rt_instr_cpu_off_serial.tftf.cluster0.core0.skipped\" \
               value=\"no-idle-state\"/>";
    assert!(written("junit").contains(row));
    let text = written("text");
    assert!(text.contains("passed; CPU 0.0 skipped (the board names no idle state "));
    let row = "  0     0    skipped  skipped      skipped\n";
    assert!(text.contains(row), "{text}");
}
