//! `cargo xtask report` on points: read, shown in every format, compared,
//! merged, explained.

mod support;

use std::fs;

use psci_bench::measure::Summary;
use support::golden::holds;
use support::points::{EACH_KIB, FULL_KIB, STEP, log};
use support::xtask;
use xtask::report::analysis::compare::{Options as Compared, Outcome, compare};
use xtask::report::analysis::explain::{Confidence, Kind, explain};
use xtask::report::analysis::merge::merge;
use xtask::report::export::{self, Options, Report};
use xtask::report::log::read_bytes;
use xtask::report::model::{Measured, Run, Term, Test};

fn report(scale: u64) -> Report {
    read_bytes("a.log", &log(scale))
        .expect("there is a run")
        .into()
}

fn run(scale: u64) -> Run {
    let run = report(scale).runs.remove(0);
    assert!(run.is_complete(), "{}", run.integrity);
    run
}

fn test<'r>(run: &'r Run, tag: &str) -> &'r Test {
    let found = run.tests.iter().find(|it| it.scenario.word() == tag);
    found.expect("the scenario")
}

fn written(report: &Report, format: &str) -> String {
    let exporter = export::by_name(format).expect("a format");
    let mut out = Vec::new();
    let result = exporter.write(report, &Options::default(), &mut out);
    result.expect("a Vec takes all");
    String::from_utf8(out).expect("UTF-8")
}

/// Two CPUs on QEMU under `--icount`, one of each kind of scenario with points: the
/// `plan` record in it says which.
const QEMU: &[u8] = include_bytes!("data/report/qemu-points.log");

#[test]
fn of_qemu_byte_for_byte() {
    let report = Report::from(read_bytes("a.log", QEMU).expect("there is a run"));
    assert!(report.runs[0].is_complete());
    for (format, file) in [
        ("text", "points.txt"),
        ("md", "points.md"),
        ("rst", "points.rst"),
        ("csv", "points.csv"),
        ("json", "points.json"),
        ("html", "points.html"),
        ("junit", "points.xml"),
        ("gha-benchmark", "points.gha.json"),
    ] {
        holds(file, &written(&report, format));
    }
}

/// The drawing of a sweep and of a histogram, and its text.
#[test]
fn drawn_byte_for_byte() {
    let mut report = report(100);
    let tests = &mut report.runs[0].tests;
    tests.retain(|it| ["dirty_sweep", "timer_latency"].contains(&it.scenario.word()));
    tests[0].points.retain(|it| it.cpu < 2);
    // A scenario goes by its tag where a report does not know it, and by its
    // name where it does, which may come to be another one.
    for test in tests {
        test.scenario = Term::Other(test.scenario.word().into());
    }
    holds("drawn.html", &written(&report, "html"));
    holds("drawn.txt", &written(&report, "text"));
}

#[test]
fn what_records_say() {
    let run = run(100);
    let null = test(&run, "null_call");
    assert_eq!((null.points.len(), null.rows.len()), (128, 0));
    let first = &null.points[0];
    assert_eq!(
        (first.cpu, first.how.word(), first.variant.as_str(), first.x),
        (0, "alone", "psci_version", None)
    );
    let median = 209 * 1024 + 9;
    assert_eq!(
        first.summary,
        Summary {
            n: 100,
            min: median - median / 50,
            median,
            p99: Some(median + 209 * 15),
            max: median + 209 * 30,
            mad: median / 200,
        }
    );
    // 16 ns a tick, 1024 operations a sample.
    assert!((first.each(&run, median) - median as f64 * 16.0 / 1024.0).abs() < 1e-9);
    assert_eq!(first.unit_name(&run), "ns");
    assert_eq!(null.points[1].unit_name(&run), "cycles");

    let latency = test(&run, "timer_latency");
    assert_eq!(latency.points.len(), 96);
    for point in &latency.points {
        let histogram = point.histogram.as_ref().expect("it has one");
        assert_eq!(histogram.count(), Some(100));
        let last = histogram.classes.last().expect("a class");
        assert_eq!(last.width, 4);
        assert!(
            (last.from..last.from + 4).contains(&point.summary.max),
            "{point:?}"
        );
    }
    assert_eq!(test(&run, "dirty_sweep").points[0].x, Some(0));
}

#[test]
fn a_point_that_is_not_whole_is_none() {
    let text = String::from_utf8(log(100)).expect("ASCII");
    // The second half of one point, and a part of a histogram, in both copies.
    let cut = text
        .lines()
        .filter(|line| !(line.contains(" x=4096 metric=cflush ") && line.contains(" mad=")))
        .filter(|line| {
            !(line.contains(" hist t=13 mpidr=0x2 how=all var=clean metric=entry")
                && line.contains(" c=1 "))
        });
    let cut: Vec<&str> = cut.collect();
    let runs = read_bytes("a.log", cut.join("\n").as_bytes()).expect("a run");
    let run = &runs[0];
    assert!(!run.is_complete());
    let records = run.integrity.records.as_ref().expect("there are some");
    let missing: Vec<String> = records.missing.iter().map(ToString::to_string).collect();
    assert_eq!(missing.len(), 2, "{missing:?}");
    assert!(missing[1].contains("point"), "{missing:?}");
    let dirty = test(run, "dirty_sweep");
    let of = |it: &&Measured| it.x == Some(4096);
    let there: Vec<&str> = dirty
        .points
        .iter()
        .filter(of)
        .map(|it| it.metric.word())
        .collect();
    assert_eq!(there, ["powerdown", "wakeup"]);
    // The point is there, and a histogram of some samples is not.
    let clean = test(run, "timer_latency").points.iter().find(|it| {
        it.variant == "clean" && it.metric.word() == "entry" && run.cpus[it.cpu].mpidr == Some(2)
    });
    assert_eq!(clean.expect("it is there").histogram, None);
}

/// A value of a record that can not be is counted and costs that value alone.
#[test]
fn hostile_records() {
    for line in [
        "point t=7 mpidr=0x0 how=alone var=x metric=ticks per=0 n=1 min=1 med=1 max=1 mad=0",
        "point t=7 mpidr=0x0 how=alone var=x metric=ticks per=1 n=1 min=1 med=x max=1 mad=0",
        "point t=7 how=alone var=x metric=ticks per=1 n=1 min=1 med=1 max=1 mad=0",
        "point mpidr=0x0 how=alone var=x metric=ticks per=1 n=1 min=1 med=1 max=1 mad=0",
        "point t=7 mpidr=0x0 how=alone var=x x=- metric=ticks per=1",
        "hist t=7 mpidr=0x0 how=alone var=x metric=ticks from=0 step=0 c=1,1",
        "hist t=7 mpidr=0x0 how=alone var=x metric=ticks from=0 step=1 c=1,,2",
        "hist t=7 mpidr=0x0 how=alone var=x metric=ticks from=18446744073709551615 step=2 c=0,1",
        "hist t=7 mpidr=0x0 how=alone var=x metric=ticks step=2",
    ] {
        let body = format!("@PB 0000 {line} ");
        let crc = psci_bench::record::crc::Crc32::of(body.as_bytes());
        let runs = read_bytes("a.log", format!("{body}{crc:08x}\n").as_bytes()).expect("a run");
        let records = runs[0].integrity.records.as_ref().expect("one");
        assert_eq!(records.malformed, 1, "{line}");
        let points = runs[0].tests.iter().flat_map(|it| &it.points);
        assert_eq!(points.count(), 0, "{line}");
        let report = runs.into();
        for format in ["text", "html", "json", "csv", "junit"] {
            written(&report, format);
        }
    }
}

#[test]
fn what_points_show() {
    let run = run(100);
    let all = |tag: &str, kind: Kind| {
        let found = explain(&run, test(&run, tag));
        let found: Vec<_> = found.into_iter().filter(|it| it.kind == kind).collect();
        assert!(!found.is_empty(), "{tag}");
        found
    };
    // The least of eight CPUs' medians is 209, the lower one in the middle 212.
    let net = all("null_call", Kind::Net);
    assert_eq!(net.len(), 4);
    let (own, empty) = (212 * 1024 + 9, 3 * 1024 + 9);
    let expected = format!(
        "psci_version {:.2} ns",
        (own - empty) as f64 * 16.0 / 1024.0
    );
    assert!(net[0].sentence.contains(&expected), "{}", net[0]);
    assert!(net[0].sentence.contains("one CPU alone"), "{}", net[0]);
    assert!(net[1].sentence.contains("cycles"), "{}", net[1]);
    assert!(net[2].sentence.contains("all CPUs at once"), "{}", net[2]);

    let contention = all("contend_sweep", Kind::Contention);
    let step = STEP as f64 * 0.016;
    let expected = format!("the longest Powerdown grows by {step:.2} us with each CPU");
    assert!(
        contention[0].sentence.contains(&expected),
        "{}",
        contention[0]
    );
    let Confidence::Fit(fit) = contention[0].confidence else {
        panic!("{contention:?}");
    };
    assert_eq!((fit.n, fit.r2_percent), (8, 100));

    let dirty = all("dirty_sweep", Kind::DirtyFlush);
    let each = EACH_KIB * 16;
    let expected = format!("Cache Flush grows by {each}.00 ns with each KiB that is dirty");
    assert!(dirty[0].sentence.contains(&expected), "{}", dirty[0]);
    let expected = format!(" up to {FULL_KIB} KiB, and is 76.16 us from there on");
    assert!(dirty[0].sentence.contains(&expected), "{}", dirty[0]);
}

#[test]
fn every_format_has_them() {
    let mut report = report(100);
    let text = written(&report, "text");
    for title in [
        "Calls to the firmware that do nothing, one CPU alone (ns per operation)",
        "(cycles per operation)",
        ": Cache Flush, one CPU alone (us)",
    ] {
        assert!(text.contains(title), "{title:?} is not in\n{text}");
    }
    for format in ["md", "rst"] {
        let made = written(&report, format);
        assert!(made.contains(": Cache Flush, one CPU alone (us)"), "{made}");
    }
    let csv = written(&report, "csv");
    let points: usize = report.runs[0].tests.iter().map(|it| it.points.len()).sum();
    assert_eq!(csv.lines().count(), points + 1);
    let flush = "cflush,2220,35520,1,100,34816,35520,36160,36800,176,100,0,62500000,alone,write,4096,\
                 ticks,1,0,2176,2220,2260,2300,11";
    assert!(csv.contains(flush), "{csv}");
    let json: serde_json::Value = serde_json::from_str(&written(&report, "json")).expect("JSON");
    let point = &json["runs"][0]["tests"][2]["points"][2];
    assert_eq!(point["metric"], "cflush");
    assert_eq!(point["statistics"]["ticks"]["median"], 2200);
    assert_eq!(point["operation"]["median"], 35200.0);
    let histogram = &json["runs"][0]["tests"][1]["points"][0]["histogram"];
    assert_eq!(
        histogram[0],
        serde_json::json!({"from": 40, "width": 4, "count": 20})
    );
    let junit = written(&report, "junit");
    let name = "null_call.warm.cluster0.core0.alone.psci_version.ticks.median_ns";
    assert!(junit.contains(name), "{junit}");
    let gha = written(&report, "gha-benchmark");
    assert!(gha.contains("contend_sweep (all.core.8.powerdown), Powerdown, place 8 of 8"));
    assert!(gha.contains("\"ns/op\""));

    // The worst of three states, of which no scenario of the suite tells.
    report.runs[0]
        .tests
        .retain(|it| it.scenario.word() == "idle_states");
    let tree = written(&report, "dt");
    assert_eq!(tree.matches("arm,psci-suspend-param").count(), 3, "{tree}");
    // 16 ns of 1000 + 9000 + 700 * 7 + 100, and of 800 + 2250 + 100.
    for line in [
        "arm,psci-suspend-param = <0x01010022>;",
        "entry-latency-us = <241>;",
        "exit-latency-us = <51>;",
    ] {
        assert!(tree.contains(line), "{line:?} is not in\n{tree}");
    }
    // A CPU that stayed awake woke them from the last one.
    let (own, stopped) = tree.split_once("<0x01010022>;").expect("the state");
    assert!(stopped.contains("\tlocal-timer-stop;"), "{tree}");
    assert!(!own.contains("\tlocal-timer-stop;"), "{tree}");
}

#[test]
fn points_are_compared_by_what_they_are_of() {
    let runs = [run(100)];
    let same = compare(&runs, &run(100), &Compared::default()).expect("one board");
    assert_eq!(same[0].point_regressions().count(), 0);
    let all = |it: &xtask::report::analysis::compare::Comparison| -> usize {
        it.tests.iter().map(|test| test.points.len()).sum()
    };
    let points: usize = runs[0].tests.iter().map(|it| it.points.len()).sum();
    assert_eq!(all(&same[0]), points);

    // A fifth more is worse, but for the made-up latencies, which do not move.
    let worse = compare(&[run(120)], &runs[0], &Compared::default()).expect("one board");
    let moved = worse[0].point_regressions().count();
    assert_eq!(moved, points - 96);
    let null = worse[0]
        .tests
        .iter()
        .find(|it| it.scenario.word() == "null_call");
    let change = &null.expect("it").points[0];
    assert!((change.percent().expect("not from zero") - 20.0).abs() < 0.1);

    // The same CPU with itself: in another order, and where CPUs wait for each
    // other the same place with itself.
    let mut other = run(100);
    for test in &mut other.tests {
        test.points.reverse();
        if test.scenario.word() == "contend_sweep" {
            let summaries: Vec<Summary> = test.points.iter().map(|it| it.summary).collect();
            let full = test.points.iter().filter(|it| it.x == Some(8)).count();
            for (place, point) in test.points.iter_mut().enumerate().take(full) {
                // Another CPU has the place, of the same figure.
                point.summary = summaries[(place + 2) % full];
            }
        }
    }
    let moved = compare(&[other], &runs[0], &Compared::default()).expect("one board");
    let outcomes = moved[0].tests.iter().flat_map(|test| &test.points);
    assert!(outcomes.clone().all(|it| it.outcome == Outcome::Same));
    assert_eq!(outcomes.count(), points);

    // Points that the other side lacks are listed.
    let mut short = run(100);
    short.tests[0].points.truncate(5);
    let lacks = compare(&[short], &runs[0], &Compared::default()).expect("one board");
    assert_eq!(lacks[0].tests[0].lone_points, (0, 123));
    let told = lacks[0].findings.iter();
    assert!(
        told.map(|it| &it.sentence)
            .any(|it| it.contains("123 points of the baseline"))
    );
}

#[test]
fn a_regression_of_a_point_is_exit_code_1() {
    let dir = tempfile::tempdir().expect("a directory");
    let (new, old) = (dir.path().join("new.log"), dir.path().join("old.log"));
    fs::write(&new, log(120)).expect("written");
    fs::write(&old, log(100)).expect("written");
    let path = |path: &std::path::Path| path.to_str().expect("UTF-8").to_owned();
    let (new, old) = (path(&new), path(&old));
    let code = |one: &str, other: &str, format: &str| {
        let arguments = ["report", one, "--baseline", other, "--format", format];
        let output = xtask(&arguments).output().expect("it can be started");
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (worse, said) = code(&new, &old, "text");
    assert_eq!(worse, Some(1), "{said}");
    assert!(said.contains("regressions against"), "{said}");
    for format in ["md", "rst", "json", "html"] {
        assert_eq!(code(&new, &old, format).0, Some(1));
    }
    assert_eq!(code(&old, &new, "text").0, Some(0));
    assert_eq!(code(&old, &old, "text").0, Some(0));
}

#[test]
fn points_of_several_runs() {
    let runs = [run(100), run(120)];
    let merged = merge(&runs).expect("one board");
    let null = &merged.tests[0];
    assert_eq!((null.points.len(), null.points[0].shown.len()), (128, 2));
    let medians: Vec<u64> = null.points[0]
        .shown
        .iter()
        .map(|it| it.expect("both").median)
        .collect();
    let one = 209 * 1024 + 9;
    assert_eq!(medians, [one, one * 120 / 100]);
    let report = Report {
        runs: runs.to_vec(),
        merged: Some(merged),
        ..Report::default()
    };
    for format in ["text", "md", "rst", "html", "json"] {
        let made = written(&report, format);
        let title = "Calls to the firmware that do nothing: medians of 2 runs";
        assert!(format == "json" || made.contains(title), "{format}");
    }
    // Another number of operations is another sample.
    let mut other = run(100);
    other.tests[0].points[0].per = 512;
    let merged = merge(&[run(100), other]).expect("one board");
    assert_eq!(merged.tests[0].points[0].shown[1], None);
}
