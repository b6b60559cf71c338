//! Files of `cargo xtask report` for other programs, as readers that are
//! not this project's take it; and what it refuses to write.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use psci_bench::model::Verdict;
use serde_json::Value;
use support::{outcome, xtask};
use xtask::report::export::{self, Options, Report};
use xtask::report::log::read_bytes;
use xtask::report::model::{Closing, Other, Point, Status, Why};
use xtask::setup::workspace::Workspace;
use xtask::setup::{self, Need};

/// Four CPUs on QEMU under `--icount`, `iterations=2 samples=all`.
const QEMU: &[u8] = include_bytes!("data/report/qemu-4cpu.log");

fn report() -> Report {
    read_bytes("a.log", QEMU).expect("there is a run").into()
}

fn written(report: &Report, format: &str) -> Result<Vec<u8>, String> {
    let exporter = export::by_name(format).expect("a format");
    let mut out = Vec::new();
    let result = exporter.write(report, &Options::default(), &mut out);
    result.map(|()| out).map_err(|error| error.to_string())
}

fn json(format: &str) -> Value {
    let bytes = written(&report(), format).expect("written");
    serde_json::from_slice(&bytes).expect("JSON")
}

fn why(word: &str, key: &str, value: &str) -> Option<Why> {
    let detail: Other = (key.to_owned(), value.to_owned());
    Some(Why {
        word: word.to_owned(),
        details: vec![detail],
    })
}

/// JUnit by the crate junit-parser.
#[test]
fn junit() {
    let mut report = report();
    let run = &mut report.runs[0];
    run.model = Some("a <board> & \"quotes\"\u{1b}[0m".to_owned());
    run.tests[0].status = Status::Failed;
    run.tests[0].why = why("too-few-samples", "cpu", "0.1");
    run.tests[1].status = Status::Skipped;
    run.tests[1].why = why("no-state", "level", "1");
    run.tests[2].status = Status::Unknown;
    let bytes = written(&report, "junit").expect("written");
    let read = junit_parser::from_reader(bytes.as_slice()).expect("JUnit's XML");
    let [suite] = read.suites.as_slice() else {
        panic!("{} suites", read.suites.len());
    };
    assert_eq!((read.tests, read.failures, read.errors), (7, 1, 1));
    assert_eq!((suite.tests, suite.failures, suite.errors), (7, 1, 1));
    assert_eq!(suite.skipped, 1);
    assert!(
        suite.name.starts_with("a <board> & \"quotes\""),
        "{}",
        suite.name
    );
    let cases = &suite.cases;
    let failure = cases[0].status.failure_as_ref();
    assert_eq!(failure.failure_type, "too-few-samples");
    assert_eq!(failure.message, "too-few-samples: cpu 0.1");
    let skipped = cases[1].status.skipped_as_ref();
    assert_eq!(skipped.message, "no-state: level 1");
    let error = cases[2].status.error_as_ref();
    assert_eq!(error.message, "the log does not say how it ended");
    assert!(cases[3].status.is_success() && cases[6].status.is_success());
    assert_eq!(cases[6].original_name, "Verdict");
    let property = |name: &str| {
        let found = suite.properties.vec.iter().find(|it| it.0 == name);
        found.map(|it| it.1.as_str())
    };
    let test = "test_rt_instr_cpu_susp_serial.tftf.cluster0";
    let figure = |name: &str| property(&format!("{test}.{name}"));
    assert_eq!(figure("core1.powerdown.ns"), Some("56368"));
    assert_eq!(figure("core3.wakeup.median_ns"), Some("16528"));

    // Half a log is not green.
    let half = read_bytes("a.log", &QEMU[..QEMU.len() / 2])
        .expect("a run")
        .into();
    let bytes = written(&half, "junit").expect("written");
    let read = junit_parser::from_reader(bytes.as_slice()).expect("JUnit's XML");
    let last = read.suites[0].cases.last().expect("a case");
    let error = last.status.error_as_ref();
    assert!(error.message.starts_with("none: the log has no last line"));
}

/// As src/extract.ts of github-action-benchmark takes a custom tool's file:
/// a list of objects with these keys and types, and no name twice.
#[test]
fn gha_benchmark() {
    let all = json("gha-benchmark");
    let all = all.as_array().expect("a list");
    let mut names = BTreeMap::new();
    for entry in all {
        let entry = entry.as_object().expect("an object");
        let mut keys: Vec<&str> = entry.keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["extra", "name", "range", "unit", "value"]);
        for key in ["extra", "name", "range", "unit"] {
            assert!(entry[key].is_string(), "{key}: {}", entry[key]);
        }
        let value = entry["value"].as_u64().expect("a number");
        let name = entry["name"].as_str().expect("a string");
        assert!(names.insert(name, value).is_none(), "{name} is there twice");
    }
    // Four scenarios with 3 figures, CPU_OFF with as many, PSCI_VERSION.
    assert_eq!(names.len(), 4 * (5 * 3 + 1));
    let test = "QEMU virt: test_rt_instr_susp_deep_parallel (tftf), Powerdown";
    let places = (1..=4).map(|place| names[format!("{test}, place {place} of 4").as_str()]);
    let places: Vec<u64> = places.collect();
    assert!(places.is_sorted() && places[3] == 2_328_944, "{places:?}");
    let serial = "QEMU virt: test_rt_instr_cpu_susp_serial (tftf), Wakeup, CPU 0.2";
    assert_eq!(names[serial], 16_528);

    let twice = Report {
        runs: [report().runs, report().runs].concat(),
        ..Report::default()
    };
    let refused = written(&twice, "gha-benchmark").expect_err("the same names");
    assert!(refused.contains("--run N"), "{refused}");
}

/// Begin, end and name.
type Slice<'e> = (f64, f64, &'e str);

/// The rules of the Trace Event format: what begins within a slice of its
/// thread ends within it, and all tracks have names.
#[test]
fn perfetto() {
    let trace = json("perfetto");
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
    assert_eq!(
        named.values().filter(|it| it.starts_with("CPU 0.")).count(),
        4
    );
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
    // The figures of the table, and the queue: flush after flush.
    let cpu = |core: u64| &tracks[&(2, core + 2)];
    let flush = |core| cpu(core).iter().find(|it| it.2 == "cache flush");
    let flush = |core| *flush(core).expect("a flush");
    let length = |slice: Slice<'_>| ((slice.1 - slice.0) * 1000.0).round();
    assert_eq!(length(flush(0)), 2_133_808.0);
    assert_eq!(length(flush(1)), 35_184.0);
    assert!(flush(1).1 <= flush(2).1 && flush(2).1 <= flush(3).1 && flush(3).1 <= flush(0).1);
}

/// The device tree compiler takes the node, and fdtget reads it.
#[test]
fn idle_states() {
    let workspace = Workspace::find().expect("the workspace");
    setup::ensure(&workspace, &[Need::Dtc]).expect("dtc");
    let node = String::from_utf8(written(&report(), "dt").expect("written")).expect("UTF-8");
    let dir = tempfile::tempdir().expect("a directory");
    let (source, blob) = (dir.path().join("a.dts"), dir.path().join("a.dtb"));
    let tree = format!(
        "/dts-v1/;\n/ {{\ncpus {{\n#address-cells = <1>;\n#size-cells = <0>;\n\
         cpu@0 {{ device_type = \"cpu\"; reg = <0>; cpu-idle-states = <&CPU_SLEEP \
         &CLUSTER_SLEEP>; }};\n{node}}};\n}};\n"
    );
    fs::write(&source, tree).expect("written");
    let mut dtc = Command::new("dtc");
    dtc.args(["-I", "dts", "-O", "dtb", "-o"]);
    let (code, said) = outcome(dtc.arg(&blob).arg(&source));
    assert_eq!((code, said.as_str()), (0, ""));
    let get = |state: &str, property: &str| fdtget(&blob, state, property);
    // From the log, in ticks of 16 ns: max=3523, and a cold powerdown=146483.
    assert_eq!(get("cpu-sleep", "entry-latency-us"), 57);
    assert_eq!(get("cluster-sleep", "entry-latency-us"), 2344);
    assert_eq!(get("cluster-sleep", "arm,psci-suspend-param"), 0x0201_0222);
    for state in ["cpu-sleep", "cluster-sleep"] {
        let sum = get(state, "entry-latency-us") + get(state, "exit-latency-us");
        assert_eq!(get(state, "min-residency-us"), sum);
    }
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
    let refused = |edit: fn(&mut Report)| {
        let mut report = report();
        edit(&mut report);
        written(&report, "dt").expect_err("refused")
    };
    let said = refused(|report| report.runs[0].tests.clear());
    assert!(said.contains("no scenario has suspended"), "{said}");
    let said = refused(|report| report.runs[0].integrity.unverified_rows = 1);
    assert!(said.contains("the worst case may be in"), "{said}");
    let said = refused(|report| {
        report.runs[0].closing = Some(Closing {
            verdict: Verdict::Incomplete,
            line: "psci-bench: INCOMPLETE: exception on CPU 0.3".to_owned(),
        });
    });
    assert!(said.contains("did not reach its end"), "{said}");
    let said = refused(|report| report.runs[0].integrity.records = None);
    assert!(said.contains("no records"), "{said}");
    let said = refused(|report| {
        for row in report.runs[0]
            .tests
            .iter_mut()
            .flat_map(|test| &mut test.rows)
        {
            row.summaries.clear();
            row.cold.clear();
        }
    });
    assert!(said.contains("nobody measured"), "{said}");

    let dir = tempfile::tempdir().expect("a directory");
    let log = dir.path().join("cut.log");
    fs::write(&log, &QEMU[..QEMU.len() / 2]).expect("written");
    let log = log.to_str().expect("UTF-8");
    let out = dir.path().join("out.dtsi");
    let arguments = [
        "report",
        log,
        "--format",
        "dt",
        "-o",
        out.to_str().expect("UTF-8"),
    ];
    let (code, said) = outcome(&mut xtask(&arguments));
    assert_eq!(code, 2, "{said}");
    assert!(!out.exists());
}

/// A record may be sound and say anything.
#[test]
fn no_figure_is_too_large() {
    let extremes = [i64::MIN + 1, -1, 0, 1, i64::MAX];
    for hz in [1_000, 62_500_000, 10_000_000_000, 0] {
        for (place, extreme) in extremes.into_iter().enumerate() {
            let mut report = report();
            let run = &mut report.runs[0];
            run.facts.hz = Some(hz);
            for row in run.tests.iter_mut().flat_map(|test| &mut test.rows) {
                let bases = [0, 1, u64::MAX / 2, u64::MAX];
                for (nth, point) in Point::ALL.into_iter().enumerate() {
                    let ticks = extremes[(place + nth * row.cpu) % extremes.len()];
                    let ticks = if nth % 3 == 0 { extreme } else { ticks };
                    let samples = row.samples.iter_mut().map(|it| &mut it.instants);
                    for instants in row.event.iter_mut().chain(samples) {
                        instants.base = Some(bases[(place + row.cpu) % bases.len()]);
                        instants.set(point, ticks);
                    }
                }
                let most = extreme.unsigned_abs();
                for (_, figure) in row.figures.iter_mut().chain(&mut row.cold) {
                    *figure = most.saturating_mul(2);
                }
                for (_, summary) in &mut row.summaries {
                    (summary.max, summary.mad) = (u64::MAX, most);
                }
            }
            for exporter in export::ALL.iter().filter(|it| !it.is_tree()) {
                // Written or refused, and no panic.
                if let Ok(bytes) = written(&report, exporter.name()) {
                    let text = String::from_utf8(bytes).expect("UTF-8");
                    assert!(!text.contains("NaN"), "{}", exporter.name());
                }
            }
        }
    }
}
