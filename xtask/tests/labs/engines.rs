//! Two firmware builds, run by LAVA (several jobs in parallel) and by labgrid, with a single report
//! that covers all jobs.

use std::fs;
use std::path::Path;
use std::process::Command;

use run::plan::ScenarioId;
use serde_json::Value;

use crate::tools::{Result, lab, results, said, tools};

/// Options for a short run.
const SHORT: &str = "--smp 4 --args iterations=2";

/// The unmodified TFTF monitor from TF-A CI.
const TF_A_MONITOR: &str = r#"    monitors:
    - name: TFTF
      start: 'Booting trusted firmware test framework'
      end: 'Exiting tests.'
      pattern: "(?s)> Executing '(?P<test_case_id>.+?(?='))'(.*)  TEST COMPLETE\\s+(?P<result>(Skipped|Passed|Failed|Crashed))"
      fixupdict:
        Passed: pass
        Failed: fail
        Crashed: fail
        Skipped: skip
"#;

/// Returns a name as LAVA spells it.
fn as_lava(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    name.to_lowercase().chars().map(plain).collect()
}

/// Returns the suite's test cases in measurement order: the last one in TFTF order comes first.
fn cases_of_suite() -> [String; 6] {
    let mut suite = ScenarioId::SUITE;
    suite.rotate_right(1);
    suite.map(|it| as_lava(it.name()))
}

/// Checks the test cases, verdict and measurements of one job.
fn check_job(log: &Path) {
    let found = results(log);
    let (measured, cases): (Vec<Result>, Vec<Result>) =
        found.into_iter().partition(|it| it.measurement.is_some());
    let cases = cases.into_iter().map(|it| (it.case, it.outcome));
    let names = cases_of_suite()
        .into_iter()
        .chain(["psci_bench".to_owned()]);
    let wanted: Vec<_> = names.map(|it| (it, "pass".to_owned())).collect();
    assert_eq!(cases.collect::<Vec<_>>(), wanted, "{}", log.display());
    // Five scenarios with three figures each and one with a single figure, on four CPUs.
    assert_eq!(measured.len(), 64, "{}", log.display());
}

/// Checks that the matrix and the rows for the board contain five jobs.
fn check_matrix(report: &str, set: &Path) {
    let report: Value = serde_json::from_str(report).expect("JSON");
    let matrix = &report["matrix"];
    let jobs = matrix["jobs"].as_array().expect("a list").iter();
    let text = |job: &Value, key: &str| job[key].as_str().expect("a word").to_owned();
    let keys = ["engine", "firmware", "outcome"];
    let jobs = jobs.map(|it| keys.map(|key| text(it, key)).join(" "));
    let expected = [
        "labgrid coherency-sw passed",
        "lava coherency-sw passed",
        "labgrid default passed",
        "lava default passed",
        "lava tftf passed",
    ];
    assert_eq!(jobs.collect::<Vec<_>>(), expected);
    assert_eq!(matrix["jobs"][3]["measurements"], 64);
    let tests = matrix["boards"][0]["tests"].as_array().expect("a list");
    // PSCI_VERSION comes first.
    let rows = tests[1]["rows"].as_array().expect("a list");
    assert_eq!((tests.len(), rows.len()), (6, 4 * 3));
    for row in rows {
        let shown = row["shown"].as_array().expect("a list");
        assert_eq!(shown.len(), 5);
        assert!(shown.iter().all(|it| it[1] == true), "{row}");
    }
    // Trace one of the numbers stored by LAVA through the report.
    let first = &rows[0];
    let kept = results(&set.join("lava-qemu-default/results/lava.log"));
    let is_first = |it: &&Result| it.suite == "powerdown" && it.case == "susp_deep_parallel_0_0";
    let kept = kept.iter().find(is_first).and_then(|it| it.measurement);
    let kept = kept.expect("a number");
    let ticks = first["shown"][3][0].as_f64().expect("ticks");
    let hz = report["runs"][3]["hz"].as_f64().expect("a frequency");
    assert_eq!((ticks * 1e9 / hz).floor(), kept);
}

/// Changes a cell to use the TF-A monitor and a device rendered from a server dictionary.
fn as_tf_a_sees_it(theirs: &Path) {
    let tools = tools();
    let job = fs::read_to_string(theirs.join("job.yaml")).expect("a job");
    let (before, _) = job
        .split_once("    # LAVA reads the output only once")
        .expect("monitors");
    fs::write(theirs.join("job.yaml"), format!("{before}{TF_A_MONITOR}")).expect("written");
    let mut render = Command::new(tools.lava.python());
    render
        .args(["-c", RENDER])
        .arg(theirs)
        .arg(tools.lava.device_types());
    said(&mut render).ends(0, "");
    let mut schema = tools.lava.schema();
    let schema = said(schema.arg("device").arg(theirs.join("device.yaml")));
    assert_eq!(schema.code, 0, "{}", schema.out);
}

#[test]
fn two_builds_by_both_engines_in_one_report() {
    let tools = tools();
    let dir = tempfile::tempdir().expect("a directory");
    let set = dir.path().join("set");
    let variants = "--variant coherency=hw --variant coherency=sw";
    lab("lava", &set, &format!("{SHORT} {variants}"));
    lab("labgrid", &set, &format!("{SHORT} {variants}"));
    // The same setup as in TF-A's own jobs, with their monitor and a device rendered from a server
    // dictionary.
    lab("lava", &set, &format!("{SHORT} --name tftf"));
    let theirs = set.join("lava-qemu-tftf");
    as_tf_a_sees_it(&theirs);
    let mut run = tools.script("lab.sh");
    run.arg(&set).args(["--format", "json"]);
    let run = said(&mut run).ends(0, "");

    for job in ["default", "coherency-sw"] {
        check_job(&set.join(format!("lava-qemu-{job}/results/lava.log")));
    }
    let log = theirs.join("results/lava.log");
    let cases: Vec<String> = results(&log).into_iter().map(|it| it.case).collect();
    assert_eq!(cases, cases_of_suite());

    check_matrix(&run.out, &set);
}

/// Renders device.jinja2 with the job context, as a LAVA server does.
const RENDER: &str = r#"
import pathlib, sys, jinja2, yaml
cell, types = map(pathlib.Path, sys.argv[1:])
environment = jinja2.Environment(loader=jinja2.FileSystemLoader([cell, types]))
context = yaml.safe_load((cell / "job.yaml").read_text())["context"]
device = environment.get_template("device.jinja2").render(**context)
(cell / "device.yaml").write_text(device)
"#;
