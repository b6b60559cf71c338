//! `--format dt`: the worst cases of a run as a node.

use std::fs;
use std::path::Path;
use std::process::Command;

use expect_test::expect_file;
use idle_audit::export::write_node;
use report::log::{Closing, LoggedRun, read_bytes};
use report::synthetic_run::{edited_log, passed_log, shorten, use_steps};
use runner::setup::workspace::Workspace;
use runner::setup::{self, Need};
use suite::measure::Summary;
use suite::model::{Run, Verdict};
use suite::plan::ScenarioId;

use crate::support::PROGRAM;
use crate::support::outcome;
use crate::support::scratch::Scratch;

/// Returns the synthetic run after applying `edit`, as read from its log.
fn log_of(edit: impl FnOnce(&mut Run)) -> LoggedRun {
    let runs = read_bytes("a.log", edited_log(edit).as_bytes());
    runs.expect("a run").remove(0)
}

fn node_of(logged: &LoggedRun) -> String {
    let mut out = Vec::new();
    write_node(logged, &mut out).expect("written");
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn node_has_the_worst_cases_and_their_origins() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/expected/node.dtsi");
    expect_file![path].assert_eq(&node_of(&log_of(shorten)));
}

#[test]
fn program_writes_the_node_of_one_complete_run() {
    let scratch = Scratch::new(PROGRAM);
    let log = passed_log();
    scratch.write("good.log", log);
    scratch.write("cut.log", &log[..log.len() / 2]);
    scratch.ours("audit-idle good.log --format dt -o out.dtsi");
    let node = String::from_utf8(scratch.read("out.dtsi")).expect("UTF-8");
    assert!(node.contains("idle-states {"), "{node}");
    for (line, part) in [
        ("cut.log", "records were lost"),
        ("good.log good.log", "takes one run, but there are 2"),
        ("good.log --board qemu", "has only measured values"),
        ("--board qemu", "has only measured values"),
    ] {
        scratch.refuses(&format!("audit-idle {line} --format dt -o new"), part);
    }
}

#[test]
fn states_of_steps_have_worst_cases() {
    let mut logged = log_of(|run| use_steps(run, 100));
    // Keep only the states that no scenario in the suite covers.
    logged.run.scenarios.drain(..2);
    let tree = node_of(&logged);
    assert_eq!(tree.matches("arm,psci-suspend-param").count(), 2, "{tree}");
    // The latencies are 15,004 and 3,004 ticks of 16 ns, rounded up to microseconds.
    for line in ["entry-latency-us = <241>;", "exit-latency-us = <49>;"] {
        assert!(tree.contains(line), "{line:?} is not in\n{tree}");
    }
    let (own, stopped) = tree.split_once("<0x01010022>;").expect("the state");
    assert!(stopped.contains("\tlocal-timer-stop;"), "{tree}");
    assert!(!own.contains("\tlocal-timer-stop;"), "{tree}");
    // A figure from a sweep step is the worst case, and the conditions of the step are shown.
    let swept = log_of(|run| {
        let steps = run
            .scenarios
            .iter_mut()
            .filter(|scenario| !scenario.id.is_suite());
        let series = steps
            .flat_map(|scenario| &mut scenario.cells)
            .flat_map(|cell| &mut cell.series);
        series.for_each(|series| series.summary.max = 100_000);
    });
    let part = "Powerdown 1600.00 us: dirty_sweep (deepest, Bytes 0), CPU 0.0";
    assert!(node_of(&swept).contains(part));
}

#[test]
fn compiler_accepts_the_node() {
    let workspace = Workspace::find().expect("the workspace");
    setup::ensure(&workspace, &[Need::Dtc]).expect("dtc");
    let node = node_of(&log_of(shorten));
    let dir = tempfile::tempdir().expect("a directory");
    let (source, blob) = (dir.path().join("a.dts"), dir.path().join("a.dtb"));
    let tree = format!(
        "/dts-v1/;\n/ {{\ncpus {{\n#address-cells = <1>;\n#size-cells = <0>;\n\
         cpu@0 {{ device_type = \"cpu\"; reg = <0>; cpu-idle-states = \
         <&CLUSTER_SLEEP>; }};\n{node}}};\n}};\n"
    );
    fs::write(&source, tree).expect("written");
    let mut dtc = Command::new("dtc");
    dtc.args(["-I", "dts", "-O", "dtb", "-o"]);
    let (code, stderr) = outcome(dtc.arg(&blob).arg(&source));
    assert_eq!((code, stderr.as_str()), (0, ""));
}

/// The worst case can be determined only if all records were received.
#[test]
fn run_that_may_lack_a_worst_case_is_refused() {
    type Edit = fn(&mut LoggedRun);
    let rows: [(Edit, &str); 4] = [
        (suspend_nothing, "no scenario suspended"),
        (end_by_exception, "did not finish"),
        (|logged| logged.integrity.records = None, "no records"),
        (measure_nothing, "was not measured"),
    ];
    for (edit, why) in rows {
        let mut logged = log_of(|_| ());
        edit(&mut logged);
        let error = write_node(&logged, &mut Vec::new()).expect_err("refused");
        let error = error.to_string();
        assert!(error.contains(why), "{error}");
    }
}

fn suspend_nothing(logged: &mut LoggedRun) {
    let scenarios = &mut logged.run.scenarios;
    scenarios.retain(|scenario| scenario.id == ScenarioId::PSCI_VERSION_PARALLEL);
}

fn measure_nothing(logged: &mut LoggedRun) {
    let cells = logged
        .run
        .scenarios
        .iter_mut()
        .flat_map(|scenario| &mut scenario.cells);
    for series in cells.flat_map(|cell| &mut cell.series) {
        (series.summary, series.cold) = (Summary::default(), None);
    }
}

fn end_by_exception(logged: &mut LoggedRun) {
    logged.run.end = None;
    logged.closing = Some(Closing {
        verdict: Verdict::Incomplete,
        line: "psci-bench: INCOMPLETE: exception on CPU 0.3".to_owned(),
    });
}

/// A board name from a log ends up in a comment, for the compiler.
#[test]
fn name_of_the_board_does_not_end_the_comment() {
    let mut logged = log_of(shorten);
    logged.header.board = None;
    logged.run.head.as_mut().expect("a head").model = "a\n*/".to_owned();
    let node = node_of(&logged);
    let (comment, rest) = node.split_once("*/").expect("the end of a comment");
    assert!(
        comment.contains("Board: a") && rest.starts_with("\nidle-states {"),
        "{node}"
    );
}

/// Any figure may occur in a valid record.
#[test]
fn no_figure_is_too_large() {
    for hz in [1_000, 62_500_000, 10_000_000_000] {
        for extreme in [0, 1, u64::MAX / 2, u64::MAX] {
            let mut logged = log_of(|_| ());
            logged.run.facts.as_mut().expect("facts").frequency = hz;
            let scenarios = logged.run.scenarios.iter_mut();
            for cell in scenarios.flat_map(|scenario| &mut scenario.cells) {
                for series in &mut cell.series {
                    series.cold = Some(extreme);
                    series.summary.max = extreme;
                }
            }
            assert!(!node_of(&logged).contains("NaN"));
        }
    }
}
