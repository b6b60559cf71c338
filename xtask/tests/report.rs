//! `cargo xtask report`: every format byte for byte, and its exit codes.
//!
//! To take over a change that was meant, run with `PSCI_BENCH_BLESS=1`, and
//! read the difference.

mod support;

use std::fs;

use serde_json::Value;
use support::golden::holds;
use support::{outcome, xtask};
use xtask::report::analysis::merge::merge;
use xtask::report::export::{self, Options, Report};
use xtask::report::log::read_bytes;

/// Four CPUs on QEMU under `--icount`, `iterations=2 samples=all`.
const QEMU: &[u8] = include_bytes!("data/report/qemu-4cpu.log");

/// A log of one scenario, `iterations=1 warmup=0`, by a payload that also
/// says what each CPU is, and what the firmware's versions are.
const FACTS: &[u8] = include_bytes!("data/report/qemu-facts.log");

/// Two CPUs on QEMU whose timers stop.
const HELPER: &[u8] = include_bytes!("data/report/qemu-helper.log");

/// A log as TFTF leaves it, by way of LAVA: no record.
const TFTF: &str = r#"- {"dt": "2026-01-02T10:11:12.345678", "lvl": "info", "msg": "boot"}
- {"dt": "2026-01-02T10:11:13.000001", "lvl": "target", "msg": "NOTICE:  BL31: v2.13.0(release):v2.13.0"}
- {"dt": "2026-01-02T10:11:13.000002", "lvl": "target", "msg": "NOTICE:  BL31: Built : 10:00:00, May 20 2025"}
- {"dt": "2026-01-02T10:11:13.000003", "lvl": "target", "msg": "NOTICE:  Booting trusted firmware test framework"}
- {"dt": "2026-01-02T10:11:13.000004", "lvl": "target", "msg": "NOTICE:  Running at NS-EL2"}
- {"dt": "2026-01-02T10:11:13.000005", "lvl": "target", "msg": "> Executing 'CPU suspend on all cores in sequence'"}
- {"dt": "2026-01-02T10:11:13.000006", "lvl": "target", "msg": "<RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t0\t106120\t17100\t5260/>"}
- {"dt": "2026-01-02T10:11:13.000007", "lvl": "target", "msg": "<RT_INSTR:test_rt_instr_cpu_susp_serial\t1\t0\t294360\t15600\t4560/>"}
- {"dt": "2026-01-02T10:11:13.000008", "lvl": "target", "msg": "  TEST COMPLETE                                                 Passed"}
- {"dt": "2026-01-02T10:11:13.000009", "lvl": "target", "msg": "NOTICE:  Exiting tests."}
"#;

fn report(log: &[u8]) -> Report {
    read_bytes("a.log", log).expect("there is a run").into()
}

/// The report with the first scenario and the last alone.
fn short() -> Report {
    let mut report = report(QEMU);
    let tests = &mut report.runs[0].tests;
    tests.drain(1..tests.len() - 1);
    report
}

fn written(report: &Report, format: &str) -> String {
    let exporter = export::by_name(format).expect("a format");
    let mut out = Vec::new();
    let result = exporter.write(report, &Options::default(), &mut out);
    result.expect("a Vec takes all");
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn text() {
    holds("qemu.txt", &written(&report(QEMU), "text"));
    holds("facts.txt", &written(&report(FACTS), "text"));
    holds("tftf.txt", &written(&report(TFTF.as_bytes()), "text"));
}

#[test]
fn a_log_that_lost_records() {
    let text = String::from_utf8_lossy(QEMU);
    let cut = text
        .replace("@PB 0012 row", "@PB 0012 rwo")
        .replace("@PB 0019 ev", "@PB 0019 ve")
        .replace("@PB 0006 cpu", "@PB 0006 cqu");
    let mut report = report(cut.as_bytes());
    report.runs[0].tests.truncate(1);
    holds("lossy.txt", &written(&report, "text"));
}

#[test]
fn markdown() {
    holds("short.md", &written(&short(), "md"));
}

#[test]
fn rst() {
    holds("short.rst", &written(&short(), "rst"));
}

#[test]
fn csv() {
    holds("short.csv", &written(&short(), "csv"));
}

#[test]
fn json() {
    let mut report = short();
    report.runs[0].tests.truncate(1);
    holds("short.json", &written(&report, "json"));
}

/// A row has the CPU that stayed awake for it, in parallel and in sequence.
#[test]
fn json_rows_have_their_helper() {
    let json: Value = serde_json::from_str(&written(&report(HELPER), "json")).expect("JSON");
    let woken_by = |test: usize, row: usize| {
        let row = &json["runs"][0]["tests"][test]["rows"][row];
        (row["cpu"].as_u64(), row["woken_by"].as_u64())
    };
    assert_eq!(woken_by(0, 0), (Some(1), Some(0)));
    assert_eq!(woken_by(1, 0), (Some(0), Some(1)));
    assert_eq!(woken_by(2, 0), (Some(0), Some(1)));
    assert_eq!(woken_by(2, 1), (Some(1), Some(0)));
}

#[test]
fn junit() {
    holds("short.xml", &written(&short(), "junit"));
}

#[test]
fn gha_benchmark() {
    holds("short.gha.json", &written(&short(), "gha-benchmark"));
}

#[test]
fn perfetto() {
    holds("short.perfetto.json", &written(&short(), "perfetto"));
}

#[test]
fn idle_states() {
    holds("qemu.dtsi", &written(&report(QEMU), "dt"));
}

/// A scenario with a time line and a queue; all others are made alike.
#[test]
fn html() {
    let mut report = short();
    report.runs[0].tests.truncate(1);
    holds("short.html", &written(&report, "html"));
}

#[test]
fn merged() {
    let mut runs = [report(QEMU).runs, report(QEMU).runs].concat();
    runs[1].tests[0].rows[2].figures[0].1 += 625;
    runs[1].tests[0].rows[1].verified = false;
    for run in &mut runs {
        run.tests.truncate(1);
    }
    let merged = Some(merge(&runs).expect("one board"));
    let mut whole = written(
        &Report {
            runs,
            merged,
            ..Report::default()
        },
        "text",
    );
    let at = whole
        .find("parallel, method tftf: 2 runs")
        .expect("a table");
    holds("merged.txt", &whole.split_off(at));
}

/// A missing sample may be the worst case.
#[test]
fn idle_states_of_every_cpu() {
    let mut lost = report(QEMU);
    lost.runs[0].tests[1].rows.pop();
    let exporter = export::by_name("dt").expect("a format");
    let refused = exporter.write(&lost, &Options::default(), &mut Vec::new());
    let refused = refused.expect_err("a CPU is missing").to_string();
    assert!(
        refused.contains("test_rt_instr_susp_deep_serial has no sample of CPU 0.3"),
        "{refused}"
    );
}

/// A release after the other: what was current is compared with and kept.
#[test]
fn tfa_docs() {
    let dir = tempfile::tempdir().expect("a directory");
    let exporter = export::by_name("tfa-docs").expect("a format");
    let options = Options {
        platform: Some("qemu".to_owned()),
    };
    let write = |report: &Report| exporter.write_tree(report, &options, dir.path());
    let read = |which: &str, test: &str| {
        let path = dir.path().join("docs/perf/data/qemu").join(which);
        fs::read_to_string(path.join(format!("test_rt_instr_{test}.csv"))).unwrap_or_default()
    };
    let first = report(QEMU);
    write(&first).expect("written");
    let current = read("current", "susp_deep_parallel");
    assert!(current.starts_with("\"0\",\"0\",\"2328944\",\"45968\",\"2133808\"\n\"0\",\"1\","));
    assert!(!current.contains('\r') && current.lines().count() == 4);
    let version = read("current", "psci_version_parallel");
    assert!(version.starts_with("\"0\",\"0\",\"3056\"\n"), "{version}");
    assert_eq!(read("previous", "susp_deep_parallel"), "");

    // The same again is no new release.
    write(&first).expect("written");
    assert_eq!(read("previous", "susp_deep_parallel"), "");

    let mut second = report(QEMU);
    second.runs[0].tests[0].rows[0].figures[0].1 /= 2;
    write(&second).expect("written");
    assert_eq!(read("previous", "susp_deep_parallel"), current);
    let changed = read("current", "susp_deep_parallel");
    assert!(
        changed.starts_with("\"0\",\"0\",\"1164464 (-50.00%)\",\"45968\","),
        "{changed}"
    );

    // The changes in it do not disturb the third.
    write(&first).expect("written");
    let third = read("current", "susp_deep_parallel");
    assert!(
        third.starts_with("\"0\",\"0\",\"2328944 (+100.00%)\","),
        "{third}"
    );

    // Without a figure all stays.
    let mut none = report(QEMU);
    none.runs[0].tests.clear();
    // Nor does less than is there take its place, or what is not verified.
    let mut part = report(QEMU);
    part.runs[0].tests.truncate(2);
    part.runs[0].tests[1].rows[0].figures[0].1 += 1;
    let mut lost = report(QEMU);
    lost.runs[0].tests[0].rows.pop();
    let lossy = report(
        String::from_utf8_lossy(QEMU)
            .replace(" row t=1 ", " rwo t=1 ")
            .replace(" ev t=1 ", " ve t=1 ")
            .as_bytes(),
    );
    for (report, why) in [
        (none, "no figure for tfa-docs"),
        (
            part,
            "susp_parallel.csv: the run has no figure for this file",
        ),
        (lost, "deep_parallel.csv: the run has no figure for CPU 0.3"),
        (lossy, "records are missing"),
    ] {
        let refused = write(&report).expect_err("too little").to_string();
        assert!(
            refused.contains(why) && refused.contains("nothing was written"),
            "{refused}"
        );
        assert_eq!(read("current", "susp_deep_parallel"), third);
    }
}

fn run(arguments: &[&str]) -> (i32, String) {
    let arguments = [&["report"], arguments].concat();
    let (code, said) = outcome(&mut xtask(&arguments));
    assert!(!said.contains("panicked"), "{said}");
    (code, said)
}

#[test]
fn exit_codes() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        fs::write(&path, bytes).expect("written");
        path.to_str().expect("UTF-8").to_owned()
    };
    let good = file("good.log", QEMU);
    let cut = file("cut.log", &QEMU[..QEMU.len() / 2]);
    let empty = file("empty.log", b"");
    let garbage = file("garbage.log", &[0xfe; 4096]);
    let out = dir.path().join("out.json");
    let out = out.to_str().expect("UTF-8");

    assert_eq!(run(&[&good, "--format", "json", "-o", out]).0, 0);
    assert!(fs::read_to_string(out).is_ok_and(|json| json.contains("psci-bench-report")));
    let (code, said) = run(&[&cut]);
    assert_eq!(code, 3);
    assert!(said.contains("cut.log (run 1): incomplete: "), "{said}");
    // A last line that suffered: the records have it all.
    let text = String::from_utf8_lossy(QEMU);
    let wrong = file("wrong.log", text.replace("PASS (6", "PASS (5").as_bytes());
    let (code, said) = run(&[&wrong]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("contradicts the records"), "{said}");
    let (code, said) = run(&[&file("dropped.log", text.replace("PASS", "PSS").as_bytes())]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("the last line is damaged"), "{said}");
    let tftf = TFTF.replace("Exiting tests.", "");
    let (code, said) = run(&[&file("tftf.log", tftf.as_bytes())]);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("log until TFTF says that"), "{said}");
    for (arguments, what) in [
        (vec![empty.as_str()], "empty.log: the log is empty"),
        (vec![&garbage], "it is binary"),
        (vec![&good, &empty], "empty.log"),
        (vec!["no-such.log"], "no-such.log"),
        (
            vec![dir.path().to_str().expect("UTF-8")],
            "no table in this folder",
        ),
        (vec![&good, "--format", "pdf"], "the formats are text, "),
        (vec![&good, "-o", &good], "this is the file that LOG reads"),
        (vec![&good, "--format", "tfa-docs"], "by -o"),
        (
            vec![&good, "--format", "tfa-docs", "-o", &good],
            "no directory",
        ),
        (vec![&good, "--run", "2"], "there are 1 runs"),
        (vec![&good, &cut, "--merge"], "cannot merge"),
        (
            vec![&good, &good, "--merge", "--format", "csv"],
            "--format csv has no place for --merge; these have: text, md, rst, json, html",
        ),
        (
            vec![&good, "--baseline", &good, "--format", "dt"],
            "no place for --baseline; these have: text, md, rst, json, html, junit, tfa-docs",
        ),
        (vec![&good, "--platform", "juno"], "these have: tfa-docs"),
        (
            vec![&good, "--log", out],
            "--log is for a run that is followed",
        ),
        (
            vec![&good, "--baud", "9600"],
            "--baud is for a run that is followed",
        ),
        (
            vec!["--serial", "-", "--log", "x.log", "-o", "./x.log"],
            "that -o ./x.log names as well",
        ),
        (vec![], "<LOG>"),
    ] {
        let (code, said) = run(&arguments);
        assert_eq!(code, 2, "{arguments:?}: {said}");
        assert!(said.contains(what), "{what:?} is not in:\n{said}");
    }
    let (code, said) = run(&[&good, &good, "--merge", "-o", out]);
    assert_eq!(code, 0);
    assert!(said.contains("it is counted once"), "{said}");
    let both = run(&[&good, &cut, "--run", "1", "-o", out]);
    assert_eq!(both.0, 0, "{}", both.1);
}
