//! TF-A's data files: one release after the other.

use std::fs;

use psci_bench::plan::ScenarioId;
use xtask::report::analysis::compare::Options;
use xtask::report::export::{self, Report, Writer};

use super::{edited, log, read};

/// Returns the made-up run with half the Powerdown of a CPU in sequence.
fn faster() -> Report {
    edited(|run| {
        let powerdown = &mut run.scenarios[2].rows[0].figures.powerdown;
        *powerdown = powerdown.map(|it| it / 2);
    })
}

#[test]
fn current_becomes_previous_and_nothing_is_lost() {
    let dir = tempfile::tempdir().expect("a directory");
    let format = export::by_name("tfa-docs").expect("a format");
    let Writer::Tree(write) = format.writer else {
        panic!("{format:?}");
    };
    let write = |report: &Report| write(report, Some("qemu"), &Options::default(), dir.path());
    let name = format!("{}.csv", ScenarioId::CpuSuspendSerial);
    let read_back = |which: &str| {
        let path = dir.path().join("docs/perf/data/qemu").join(which);
        fs::read_to_string(path.join(&name)).unwrap_or_default()
    };
    let first = read(log());
    write(&first).expect("written");
    let current = read_back("current");
    let row = |text: &str| {
        let line = text.lines().next().unwrap_or_default().replace('"', "");
        line.split(',').map(str::to_owned).collect::<Vec<_>>()
    };
    let figures = row(&current);
    let ns: u64 = figures[2].parse().expect("nanoseconds");
    assert!(current.starts_with("\"0\",\"0\",\"") && !current.contains('\r'));
    assert_eq!((current.lines().count(), figures.len()), (4, 5));
    assert_eq!(read_back("previous"), "");
    // Another report of the same figures is no new release.
    write(&first).expect("written");
    assert_eq!(read_back("previous"), "");

    write(&faster()).expect("written");
    assert_eq!(read_back("previous"), current);
    assert_eq!(
        row(&read_back("current"))[2],
        format!("{} (-50.00%)", ns / 2)
    );
    // The changes in it do not disturb the third.
    write(&first).expect("written");
    let third = read_back("current");
    assert_eq!(row(&third)[2], format!("{ns} (+100.00%)"));

    let none = edited(|run| run.scenarios.clear());
    let mut part = faster();
    part.runs[0].run.scenarios.truncate(3);
    let mut lost = read(log());
    lost.runs[0].run.scenarios[2].rows.pop();
    let lossy = read(&log().replace(" {\"row\":", " {\"rwo\":"));
    for (report, why) in [
        (none, "no figure for tfa-docs"),
        (part, "the run has no figure for this file"),
        (lost, "the run has no figure for CPU 1.1"),
        (lossy, "records are missing"),
    ] {
        let refused = write(&report).expect_err("too little").to_string();
        assert!(
            refused.contains(why) && refused.contains("nothing was written"),
            "{refused}"
        );
        assert_eq!(read_back("current"), third);
    }
}
