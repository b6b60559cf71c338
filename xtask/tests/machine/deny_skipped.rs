//! `--deny-skipped` in `qemu` and `report`: if a passing run skipped any scenarios or
//! rows, their names are printed and the exit code is 1.

use boards::GicVersion;
use report::synthetic_run;

use crate::support::scratch::Scratch;
use crate::support::{PROGRAM, tree_with};

/// The scenarios and the row that are skipped in a run without idle states.
const DENIED: &str = "skipped, which --deny-skipped forbids: \
    test_rt_instr_susp_deep_parallel: no-idle-state; \
    test_rt_instr_susp_deep_serial: no-idle-state; \
    test_rt_instr_cpu_susp_parallel: no-idle-state; \
    test_rt_instr_cpu_susp_serial: no-idle-state; \
    test_rt_instr_cpu_off_serial, CPU 0.0: no-idle-state\n";

#[test]
fn what_is_skipped_is_denied_and_named() {
    let scratch = Scratch::new(PROGRAM);
    scratch.write("good.log", synthetic_run::passed_log());
    let tree = tree_with(GicVersion::V3, "iterations=2 warmup=0");
    scratch.write("tree.dtb", &tree);
    let line = "qemu --smp 2 --dtb tree.dtb --log run.log --deny-skipped";
    let (code, stderr) = scratch.outcome(line);
    assert_eq!(code, 1, "{stderr}");
    let denied = "skipped, which --deny-skipped forbids: 4 scenarios and 1 row; ";
    assert!(stderr.contains(denied), "{stderr}");
    let text = String::from_utf8(scratch.read("run.log")).expect("UTF-8");
    let last = text.lines().last().expect("a line");
    let counts = "psci-bench: PASS (2 passed, 4 skipped, 0 failed; ";
    assert!(last.starts_with(counts), "{text}");
    assert!(last.ends_with("; 1 row skipped, 0 CPUs lost)"), "{text}");
    let row = "\r\nSkipped: test_rt_instr_cpu_off_serial, CPU 0.0: the board has no idle state ";
    assert!(text.contains(row), "{text}");
    assert!(!text.contains("<RT_INSTR:test_rt_instr_cpu_off_serial\t0\t0"));

    // A truncated log does not show whether anything was skipped.
    scratch.write("cut.log", &text[..text.len() / 2]);
    scratch.assert_outcomes(&[
        ("report --deny-skipped run.log", 1, DENIED),
        ("report --deny-skipped good.log run.log", 1, DENIED),
        ("report --deny-skipped cut.log", 3, ""),
    ]);
    for line in [
        "report --deny-skipped good.log",
        "report --deny-skipped good.log run.log --run 1",
        "report --format md run.log -o run.md",
    ] {
        let outcome = scratch.outcome(line);
        assert_eq!(outcome, (0, String::new()), "{line}");
    }
    let property = "<property name=\"test_rt_instr_cpu_off_serial.tftf.cluster0.core0.skipped\" \
        value=\"no-idle-state\"/>";
    for (format, part) in [
        ("junit", property),
        ("text", "  0     0    skipped  skipped      skipped\n"),
    ] {
        let (_, out, _) = scratch.called(&format!("report run.log --format {format}"));
        assert!(out.contains(part), "{out}");
    }
}
