//! `cargo xtask report --matrix`: jobs of both engines, good and bad, side by
//! side; byte for byte, and its exit codes. What is not there, damaged, or not
//! looked at is never green.
//!
//! To take over a change that was meant, run with `PSCI_BENCH_BLESS=1`, and
//! read the difference.

#[path = "../support/mod.rs"]
mod support;

mod files;
mod good;
mod missed;
mod verdicts;

use std::fs;
use std::path::{Path, PathBuf};

use psci_bench::record::crc::Crc32;
use serde_json::{Value, json};
use support::xtask;

/// Four CPUs on QEMU under `--icount`, `iterations=2 samples=all`.
const QEMU: &str = include_str!("../data/report/qemu-4cpu.log");

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

/// The figures of the `RT_INSTR` lines in a log: what an engine is to have of
/// it, by tag, cluster and core, and metric.
fn figures(log: &str) -> Vec<[&str; 5]> {
    let mut all = Vec::new();
    for line in log.lines() {
        let Some(line) = line.trim_end().strip_prefix("<RT_INSTR:") else {
            continue;
        };
        let words: Vec<&str> = line.trim_end_matches("/>").split('\t').collect();
        let metrics = match words.len() {
            4 => &["latency"][..],
            _ => &["powerdown", "wakeup", "cache-flush"],
        };
        for (metric, value) in metrics.iter().zip(&words[3..]) {
            all.push([words[0], words[1], words[2], *metric, *value]);
        }
    }
    all
}

/// What pytest writes of a log.
fn junit(log: &str) -> String {
    let mut out = "<testsuites><testsuite>".to_owned();
    for [tag, cluster, core, metric, value] in figures(log) {
        let metric = metric.replace('-', "_");
        out.push_str(&format!(
            "<testcase classname='t' name='test_scenario[{tag}]'><properties>\
             <property name='{cluster}.{core} {metric} ns' value='{value}'/></properties></testcase>"
        ));
    }
    out + "<testcase classname='t' name='test_verdict'/></testsuite></testsuites>"
}

/// What LAVA has of a log, without the job's own result.
fn measured(log: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for [tag, cluster, core, metric, value] in figures(log) {
        let tag = tag.trim_start_matches("test_rt_instr_");
        let mut one = result(metric, &format!("{tag}_{cluster}_{core}"), "pass");
        one["measurement"] = format!("{value}.0").into();
        one["units"] = "ns".into();
        all.push(one);
    }
    all.push(result("psci-bench", "psci_bench", "pass"));
    all
}

const BAD_JUNIT: &str =
    "<testsuite><testcase name='a'><failure message='bad'/></testcase></testsuite>";
const LAST: &str =
    "psci-bench: PASS (6 passed, 0 skipped, 0 failed; 48 samples, 0 not counted, 0 CPUs lost)";

/// A log of TFTF's in which a scenario ended so.
fn tftf(status: &str) -> String {
    format!(
        "NOTICE:  Booting trusted firmware test framework\r\n\
         > Executing 'CPU suspend on all cores in sequence'\r\n\
         <RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t0\t100\t200\t300/>\r\n\
         \x20 TEST COMPLETE                {status}\r\nNOTICE:  Exiting tests.\r\n"
    )
}

/// The log with `from` made `to`, and with checksums for that.
fn signed(log: &str, from: &str, to: &str) -> String {
    let mut all = Crc32::default();
    let mut out = String::new();
    for line in log.replace(from, to).lines() {
        let Some((body, _)) = line.rsplit_once(' ').filter(|_| line.starts_with("@PB ")) else {
            out.push_str(&format!("{line}\r\n"));
            continue;
        };
        let mut body = format!("{body} ");
        if let Some((before, _)) = body.split_once("crcs=") {
            body = format!("{before}crcs={:#010x} ", all.value());
            all = Crc32::default();
        }
        let crc = Crc32::of(body.as_bytes());
        if !body.contains(" end records=") {
            all.update(&crc.to_be_bytes());
        }
        out.push_str(&format!("{body}{crc:08x}\r\n"));
    }
    out
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
