//! Output for other programs by readers that are not this project's; and refusals.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use psci_bench::model::{Failure, Instant, Skip, Status, Verdict};
use serde_json::Value;
use xtask::report::export;
use xtask::report::log::{Closing, LoggedRun};
use xtask::setup::workspace::Workspace;
use xtask::setup::{self, Need};

use crate::support::outcome;
use crate::{log, read, short, try_written, written};

/// JUnit by the crate junit-parser.
#[test]
fn junit() {
    let mut report = read(&log());
    let run = &mut report.runs[0].run;
    let head = run.head.as_mut().expect("a head");
    head.model = "a <board> & \"quotes\"\u{1b}[0m".to_owned();
    run.scenarios[0].status = Status::Failed(Failure::TooFewSamples {
        cpu: 1,
        valid: 1,
        asked: 2,
    });
    run.scenarios[1].status = Status::Skipped(Skip::NoIdleState);
    run.scenarios[2].status = Status::Unknown;
    let bytes = written(&report, "junit");
    let parsed = junit_parser::from_reader(bytes.as_bytes()).expect("JUnit's XML");
    let [suite] = parsed.suites.as_slice() else {
        panic!("{} suites", parsed.suites.len());
    };
    assert_eq!((parsed.tests, parsed.failures, parsed.errors), (6, 1, 1));
    assert_eq!((suite.tests, suite.failures, suite.errors), (6, 1, 1));
    assert_eq!(suite.skipped, 1);
    let name = &suite.name;
    assert!(name.starts_with("a <board> & \"quotes\""), "{name}");
    let cases = &suite.cases;
    let failure = cases[0].status.failure_as_ref();
    let message = "CPU 0.1 has 1 valid samples of 2 asked for, fewer than 90 %";
    assert_eq!(failure.failure_type, "too-few-samples");
    assert_eq!(failure.message, message);
    let skipped = cases[1].status.skipped_as_ref();
    assert!(skipped.message.starts_with("the board names no idle state"));
    assert_eq!(skipped.skipped_type, "no-idle-state");
    let error = cases[2].status.error_as_ref();
    assert_eq!(error.message, "the log does not say how it ended");
    assert!(cases[3].status.is_success() && cases[5].status.is_success());
    assert_eq!(cases[5].original_name, "Verdict");
    // No two cases and no two figures have one name.
    let names: BTreeSet<&str> = cases.iter().map(|it| it.original_name.as_str()).collect();
    assert_eq!(names.len(), cases.len());
    let figures = suite.properties.vec.iter().filter(|it| it.0.contains('.'));
    let names: BTreeMap<&str, &str> = figures.clone().map(|it| (&*it.0, &*it.1)).collect();
    assert_eq!(names.len(), figures.count());
    let serial = "test_rt_instr_cpu_susp_serial.tftf.cluster0.core1.powerdown";
    let [median, shown] = ["median_ns", "ns"].map(|it| names[format!("{serial}.{it}").as_str()]);
    assert_eq!(median, shown);

    // Half a log is not green.
    let log = log();
    let half = read(&log[..log.len() / 2]);
    let bytes = written(&half, "junit");
    let parsed = junit_parser::from_reader(bytes.as_bytes()).expect("JUnit's XML");
    let last = parsed.suites[0].cases.last().expect("a case");
    let error = last.status.error_as_ref();
    assert!(error.message.starts_with("none: the log has no last line"));
}

/// Begin, end and name.
type Slice<'e> = (f64, f64, &'e str);

/// The rules of the Trace Event format: what begins within a slice of its
/// thread ends within it, and all tracks have names.
#[test]
fn perfetto() {
    let trace = written(&read(&log()), "perfetto");
    let trace: Value = serde_json::from_str(&trace).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("a list");
    let mut named = BTreeMap::new();
    let mut tracks: BTreeMap<(u64, u64), Vec<Slice<'_>>> = BTreeMap::new();
    for event in events {
        let track = (
            event["pid"].as_u64().expect("a process"),
            event["tid"].as_u64().expect("a thread"),
        );
        let name = event["name"].as_str().expect("a name");
        match event["ph"].as_str() {
            Some("M") if name == "thread_name" => {
                named.insert(track, event["args"]["name"].as_str().expect("a name"));
            }
            Some("M") => {}
            Some("i") => assert!(event["ts"].as_f64().is_some_and(|ts| ts >= 0.0)),
            Some("X") => {
                let from = event["ts"].as_f64().expect("a time");
                let length = event["dur"].as_f64().expect("a duration");
                assert!(from >= 0.0 && length >= 0.0, "{event}");
                let slices = tracks.entry(track).or_default();
                slices.push((from, from + length, name));
            }
            other => panic!("{other:?}"),
        }
    }
    let cpus = named.values().filter(|it| it.starts_with("CPU "));
    assert_eq!(cpus.count(), 4);
    for (track, slices) in &tracks {
        assert!(named.contains_key(track), "{track:?} has no name");
        // In the file's order: a parent, then what is in it.
        let mut open: Vec<Slice<'_>> = Vec::new();
        for slice in slices {
            while open.last().is_some_and(|outer| outer.1 <= slice.0 + 0.0005) {
                open.pop();
            }
            if let Some(outer) = open.last() {
                assert!(slice.1 <= outer.1 + 0.0005, "{slice:?} is not in {outer:?}");
            }
            open.push(*slice);
        }
        assert!(open.len() <= 2, "{open:?}");
    }
    let flush = tracks[&(2, 2)].iter().find(|it| it.2 == "cache flush");
    assert!(flush.is_some_and(|it| it.1 > it.0));
}

/// The device tree compiler takes the node, and fdtget reads it.
#[test]
fn idle_states() {
    let workspace = Workspace::find().expect("the workspace");
    setup::ensure(&workspace, &[Need::Dtc]).expect("dtc");
    let node = written(&short(), "dt");
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
    let (code, said) = outcome(dtc.arg(&blob).arg(&source));
    assert_eq!((code, said.as_str()), (0, ""));
    let get = |state: &str, property: &str| fdtget(&blob, state, property);
    assert_eq!(get("cluster-sleep", "arm,psci-suspend-param"), 0x0201_0222);
    // The cold first sample has twice the figures of the second.
    let entry = get("cluster-sleep", "entry-latency-us");
    let exit = get("cluster-sleep", "exit-latency-us");
    assert_eq!(exit, (2 * 50 * 16u64).div_ceil(1000));
    assert!(entry > 2 * 300 * 16 / 1000);
    assert_eq!(get("cluster-sleep", "min-residency-us"), entry + exit);
}

fn fdtget(blob: &Path, state: &str, property: &str) -> u64 {
    let mut fdtget = Command::new("fdtget");
    let node = format!("/cpus/idle-states/{state}");
    let output = fdtget.args(["-t", "u"]).arg(blob).args([&node, property]);
    let output = output.output().expect("it is of dtc's package");
    let said = String::from_utf8_lossy(&output.stdout);
    said.trim().parse().expect("a number")
}

/// No worst case but of records that all came through.
#[test]
fn idle_states_are_refused() {
    type Edit = fn(&mut LoggedRun);
    let rows: [(Edit, &str); 5] = [
        (|it| it.run.scenarios.clear(), "no scenario has suspended"),
        (
            |it| it.integrity.unverified_rows = 1,
            "the worst case may be in",
        ),
        (end_by_exception, "did not reach its end"),
        (|it| it.integrity.records = None, "no records"),
        (
            |it| {
                let scenarios = it.run.scenarios.iter_mut();
                let rows = scenarios.flat_map(|it| &mut it.rows);
                rows.for_each(|row| row.statistics.clear());
            },
            "was not measured",
        ),
    ];
    for (edit, why) in rows {
        let mut report = read(&log());
        edit(&mut report.runs[0]);
        let said = try_written(&report, "dt").expect_err("refused");
        assert!(said.contains(why), "{said}");
    }
}

fn end_by_exception(run: &mut LoggedRun) {
    run.run.end = None;
    run.closing = Some(Closing {
        verdict: Verdict::Incomplete,
        line: "psci-bench: INCOMPLETE: exception on CPU 0.3".to_owned(),
    });
}

/// A record may be sound and contain any figure.
#[test]
fn no_figure_is_too_large() {
    let extremes = [i64::MIN + 1, -1, 0, 1, i64::MAX];
    let bases = [0, 1, u64::MAX / 2, u64::MAX];
    for hz in [1_000, 62_500_000, 10_000_000_000, 0] {
        for (place, extreme) in extremes.into_iter().enumerate() {
            let mut report = read(&log());
            let run = &mut report.runs[0].run;
            run.facts.as_mut().expect("facts").frequency = hz;
            let most = extreme.unsigned_abs();
            for row in run.scenarios.iter_mut().flat_map(|it| &mut it.rows) {
                let cpu = usize::from(row.cpu);
                let samples = row.samples.iter_mut().map(|it| &mut it.instants);
                for instants in row.shown.iter_mut().chain(samples) {
                    instants.base = bases[(place + cpu) % bases.len()];
                    for (nth, instant) in Instant::ALL.into_iter().enumerate() {
                        let ticks = extremes[(place + nth * cpu) % extremes.len()];
                        let ticks = if nth % 3 == 0 { extreme } else { ticks };
                        instants.set(instant, ticks);
                    }
                }
                row.figures.powerdown = Some(most.saturating_mul(2));
                for statistic in &mut row.statistics {
                    statistic.cold = Some(most.saturating_mul(2));
                    (statistic.summary.max, statistic.summary.mad) = (u64::MAX, most);
                }
            }
            for point in run.scenarios.iter_mut().flat_map(|it| &mut it.points) {
                (point.figures.max, point.figures.mad) = (u64::MAX, most);
            }
            for format in export::ALL.iter().filter(|it| !it.is_tree()) {
                // Written or refused, and no panic.
                if let Ok(text) = try_written(&report, format.name) {
                    assert!(!text.contains("NaN"), "{}", format.name);
                }
            }
        }
    }
}
