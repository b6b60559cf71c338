//! Two firmware builds, run by LAVA (several jobs in parallel) and by labgrid.

use std::fs;
use std::path::Path;
use std::process::Command;

use suite::plan::{ScenarioId, TAG_PREFIX};
use test_support::CommandOutput;

use crate::tools::{Result, lab, psci_report, results, tools};

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
    let plain_char = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    name.to_lowercase().chars().map(plain_char).collect()
}

/// Returns the suite's test cases in measurement order: the last one in TFTF order comes first.
fn cases_of_suite() -> [String; 6] {
    let mut suite = ScenarioId::SUITE;
    suite.rotate_right(1);
    suite.map(|scenario| as_lava(scenario.name()))
}

/// Returns the suite's figures in a log in nanoseconds, in the form in which LAVA names them.
fn figures(log: &Path) -> Vec<(String, f64)> {
    let mut command = Command::new(psci_report());
    command.args(["report", "--format", "csv"]);
    let report = CommandOutput::of(command.arg(log)).ends(0, "").out;
    let mut reader = csv::Reader::from_reader(report.as_bytes());
    let names = reader.headers().expect("a header").clone();
    let lines = reader.records().map(|line| line.expect("a line"));
    let figures = lines.filter_map(|line| {
        let field = |name: &str| {
            let place = names.iter().position(|other| other == name);
            line[place.expect(name)].to_owned()
        };
        let scenario = field("scenario");
        let tag = scenario.strip_prefix(TAG_PREFIX)?;
        let metric = field("metric").replace("cflush", "cache-flush");
        let (cluster, core) = (field("cluster"), field("core"));
        let figure = field("shown_ns").parse().ok()?;
        Some((format!("{metric}/{tag}_{cluster}_{core}"), figure))
    });
    figures.collect()
}

/// Checks the test cases, verdict and measurements of one job.
fn check_job(log: &Path) {
    let found = results(log);
    let (measured, cases): (Vec<Result>, Vec<Result>) = found
        .into_iter()
        .partition(|result| result.measurement.is_some());
    let cases = cases.into_iter().map(|case| (case.case, case.outcome));
    let names = cases_of_suite()
        .into_iter()
        .chain(["psci_bench".to_owned()]);
    let wanted: Vec<_> = names.map(|name| (name, "pass".to_owned())).collect();
    assert_eq!(cases.collect::<Vec<_>>(), wanted, "{}", log.display());
    // Five scenarios with three figures each and one with a single figure, on four CPUs.
    assert_eq!(measured.len(), 64, "{}", log.display());
    let figures = figures(log);
    for it in measured {
        let figure = (
            format!("{}/{}", it.suite, it.case),
            it.measurement.expect("a number"),
        );
        assert!(figures.contains(&figure), "{figure:?}: {figures:?}");
    }
}

/// Changes a job to use the TF-A monitor and a device rendered from a server dictionary.
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
    CommandOutput::of(&mut render).ends(0, "");
    let mut schema = tools.lava.schema();
    let checked = CommandOutput::of(schema.arg("device").arg(theirs.join("device.yaml")));
    assert_eq!(checked.code, 0, "{}", checked.out);
}

#[test]
fn jobs_of_both_engines_pass() {
    let tools = tools();
    let dir = tempfile::tempdir().expect("a directory");
    let set = dir.path().join("set");
    for engine in ["lava", "labgrid"] {
        lab(
            engine,
            &set,
            &format!("{SHORT} --name sw --variant coherency=sw"),
        );
    }
    // The same setup as in TF-A's own jobs, with their monitor and a device rendered from a server
    // dictionary.
    lab("lava", &set, &format!("{SHORT} --name tftf"));
    let theirs = set.join("lava-qemu-tftf");
    as_tf_a_sees_it(&theirs);
    let mut script = tools.script();
    let run = CommandOutput::of(script.arg(&set)).ends(0, "");
    let jobs = run.err.lines().filter(|line| line.ends_with(": passed"));
    assert_eq!(jobs.count(), 3, "{}", run.err);

    check_job(&set.join("lava-qemu-sw/results/lava.log"));
    let log = theirs.join("results/lava.log");
    let cases: Vec<String> = results(&log).into_iter().map(|case| case.case).collect();
    assert_eq!(cases, cases_of_suite());
}

/// Renders the device dictionary from README.md with the job context, as a LAVA server does.
const RENDER: &str = r#"
import pathlib, sys, jinja2, yaml
job, types = map(pathlib.Path, sys.argv[1:])
environment = jinja2.Environment(loader=jinja2.FileSystemLoader(types))
context = yaml.safe_load((job / "job.yaml").read_text())["context"]
dictionary = "{% extends 'qemu.jinja2' %}\n{% set mac_addr = '52:54:00:12:34:58' %}\n"
device = environment.from_string(dictionary).render(**context)
(job / "device.yaml").write_text(device)
"#;
