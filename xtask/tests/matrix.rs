//! `cargo xtask report --matrix`: jobs of both engines, good and bad, side by
//! side; byte for byte, and its exit codes.
//!
//! To take over a change that was meant, run with `PSCI_BENCH_BLESS=1`, and
//! read the difference.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use support::golden::holds;
use support::xtask;

/// Four CPUs on QEMU under `--icount`, `iterations=2 samples=all`.
const QEMU: &str = include_str!("data/report/qemu-4cpu.log");

/// A log of LAVA's, with what the board says and what LAVA makes of it.
fn lava(uart: &str, results: &[Value]) -> String {
    let entry = |level: &str, msg: Value| {
        let msg = json!({"dt": "2026-01-02T10:11:12.345678", "lvl": level, "msg": msg});
        // As LAVA writes it: in that order, and with blanks.
        let line = msg
            .to_string()
            .replace("\",\"", "\", \"")
            .replace("\":", "\": ");
        line.replace("{\"dt\"", "- {\"dt\"") + "\n"
    };
    let said = uart
        .lines()
        .map(|line| entry("target", line.trim_end().into()));
    let found = results
        .iter()
        .map(|result| entry("results", result.clone()));
    said.chain(found).collect()
}

fn result(suite: &str, case: &str, result: &str) -> Value {
    json!({"definition": suite, "case": case, "result": result})
}

fn cell(set: &Path, names: [&str; 3], files: &[(&str, &str)]) -> PathBuf {
    let cell = set.join(names.join("-"));
    fs::create_dir_all(cell.join("results")).expect("made");
    let [engine, board, firmware] = names;
    let mark = json!({
        "schema": "psci-bench-lab-cell", "version": 1,
        "engine": engine, "board": board, "firmware": firmware,
    });
    fs::write(cell.join("cell.json"), mark.to_string()).expect("written");
    for (name, text) in files {
        fs::write(cell.join("results").join(name), text).expect("written");
    }
    cell
}

fn report(set: &Path, words: &[&str]) -> (i32, String, String) {
    let output = xtask(&["report", "--matrix"])
        .arg(set)
        .args(words)
        .output()
        .expect("it runs");
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.replace(&set.display().to_string(), "SET")
    };
    let code = output.status.code().expect("not killed");
    (code, text(&output.stdout), text(&output.stderr))
}

#[test]
fn good_jobs_and_bad_ones() {
    let dir = tempfile::tempdir().expect("a directory");
    let set = dir.path();
    let over = result("lava", "job", "pass");
    let case = |it: &str| result("psci-bench", "a_case", it);
    let mut number = result("powerdown", "cpu_off_serial_0_0", "pass");
    number["measurement"] = "812.0".into();
    number["units"] = "ns".into();
    let good = lava(QEMU, &[case("pass"), number, over.clone()]);
    cell(
        set,
        ["lava", "qemu", "v2.12"],
        &[
            ("lava.log", &good),
            ("result.yaml", "case: job\ndefinition: lava\nresult: pass\n"),
        ],
    );
    let newer = QEMU.replace("v2.12.1", "v2.13.0");
    let junit =
        "<testsuites><testsuite><testcase classname='t' name='a'/></testsuite></testsuites>";
    cell(
        set,
        ["labgrid", "qemu", "v2.13"],
        &[
            ("uart.log", &newer),
            ("junit.xml", junit),
            ("pytest.out", QEMU),
        ],
    );
    let (code, text, said) = report(set, &[]);
    assert_eq!((code, said.as_str()), (0, ""));
    holds("matrix.txt", &text);

    // A case that fails; the job is good all the same.
    let failing = lava(QEMU, &[case("fail"), over.clone()]);
    let failing = cell(set, ["lava", "qemu", "failing"], &[("lava.log", &failing)]);
    let (code, _, said) = report(set, &[]);
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("failed: psci-bench/a_case not passed\n"),
        "{said}"
    );
    let (code, _, _) = report(&failing, &[]);
    assert_eq!(code, 1);

    // No end, no run, nothing at all.
    let half = &QEMU[..QEMU.len() / 2];
    let mut late = result("lava", "job", "fail");
    late["error_msg"] = "lava-test-monitor timed out".into();
    cell(
        set,
        ["lava", "juno", "half"],
        &[("lava.log", &lava(half, &[late]))],
    );
    cell(
        set,
        ["lava", "juno", "mute"],
        &[("lava.log", &lava("NOTICE:  BL1", &[over]))],
    );
    cell(
        set,
        ["lava", "juno", "lost"],
        &[("lava.log", &lava(QEMU, &[]))],
    );
    cell(set, ["labgrid", "juno", "none"], &[]);
    let (code, text, said) = report(set, &["--format", "md"]);
    assert_eq!(code, 3, "{said}");
    let jobs: String = text
        .lines()
        .filter(|line| !line.contains(". "))
        .take(30)
        .fold(String::new(), |all, line| all + line + "\n");
    holds("matrix.md", &jobs);

    // Whatever the order, and by the file.
    let (code, text, _) = report(&set.join("labgrid-qemu-v2.13/results/uart.log"), &[]);
    assert_eq!(code, 0);
    assert!(text.contains("QEMU virt"), "{text}");
}

#[test]
fn what_is_no_job() {
    let dir = tempfile::tempdir().expect("a directory");
    let set = dir.path();
    for (name, text, expected) in [
        ("junit.xml", "<testsuites/>", "no test case"),
        ("junit.xml", "not XML", "no test case"),
        ("junit.xml", "<a><b>", "ends early"),
        ("result.yaml", "- 7", "no results of LAVA's"),
        ("results.yml", "{", "no results of LAVA's"),
    ] {
        let cell = cell(set, ["lava", "a", "b"], &[(name, text)]);
        let (code, _, said) = report(set, &[]);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(name) && said.contains(expected), "{said}");
        fs::remove_dir_all(cell).expect("removed");
    }
    let cell = cell(set, ["lava", "a", "b"], &[]);
    for (text, expected) in [
        ("{}", "missing field"),
        ("", "EOF"),
        (
            r#"{"schema": "x", "version": 1, "engine": "", "board": "", "firmware": ""}"#,
            "this is x 1",
        ),
    ] {
        fs::write(cell.join("cell.json"), text).expect("written");
        let (code, _, said) = report(set, &[]);
        assert_eq!(code, 2, "{said}");
        assert!(
            said.contains("cell.json") && said.contains(expected),
            "{said}"
        );
    }
}
