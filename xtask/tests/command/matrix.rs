//! `cargo xtask report --matrix`: jobs of both engines, good and bad, side by
//! side; byte for byte, and its exit codes. What is not there, damaged, or not
//! looked at is never green.

mod files;
mod good;
mod verdicts;

use std::fs;
use std::path::{Path, PathBuf};

use crate::report::log;
use crate::support::{called, xtask};
use serde_json::{Value, json};

/// Returns a log of LAVA's, with the board's lines and LAVA's results.
fn lava(uart: &str, results: &[Value]) -> String {
    let entry = |level: &str, msg: Value| {
        let dt = "2026-01-02T10:11:12.345678";
        format!("- {{\"dt\": \"{dt}\", \"lvl\": \"{level}\", \"msg\": {msg}}}\n")
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

/// Returns the figures of the `RT_INSTR` lines in a log, which an engine has to have,
/// by tag, cluster and core, and metric.
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

/// Returns pytest's file of a log.
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

/// Returns LAVA's results of a log, without the job's own.
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

/// Returns a log of TFTF's in which a scenario ended so.
fn tftf(status: &str) -> String {
    format!(
        "NOTICE:  Booting trusted firmware test framework\r\n\
         > Executing 'CPU suspend on all cores in sequence'\r\n\
         <RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t0\t100\t200\t300/>\r\n\
         \x20 TEST COMPLETE                {status}\r\nNOTICE:  Exiting tests.\r\n"
    )
}

fn report(set: &Path, words: &[&str]) -> (i32, String, String) {
    let mut command = xtask(&["report", "--matrix"]);
    let (code, out, said) = called(command.arg(set).args(words));
    let text = |text: String| text.replace(&set.display().to_string(), "SET");
    (code, text(out), text(said))
}

/// Returns the report as JSON.
fn json_report(set: &Path) -> (i32, Value, String) {
    let (code, out, said) = report(set, &["--format", "json"]);
    (code, serde_json::from_str(&out).expect("JSON"), said)
}
