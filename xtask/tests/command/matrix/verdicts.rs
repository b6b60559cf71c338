//! Outcomes of jobs, and figures by board.

use std::fs;

use psci_bench::model::{Failure, Status};

use serde_json::{Value, json};

use super::{cell, json_report, junit, log, report, tftf};
use crate::report::edited_log;

/// By the records, by TFTF's lines, and by what the engine counts.
#[test]
fn what_failed_is_not_green() {
    let dir = tempfile::tempdir().expect("a directory");
    let set = dir.path();
    let failed = edited_log(|run| run.scenarios[2].status = Status::Failed(Failure::NotStated));
    let at = failed.rfind("psci-bench: ").expect("a last line");
    let no_last = failed[..at].to_owned();
    let records = "psci-bench: FAIL (3 passed, 0 skipped, 1 failed";
    let good = "<testsuite>";
    let counts = "<testsuite errors='3' failures='2'>";
    let missing = "<testsuite tests='99'>";
    for (log, suite, expected, why) in [
        (failed.as_str(), good, 1, records),
        (&no_last, good, 1, records),
        (&tftf("Passed"), good, 0, ""),
        (log(), counts, 1, "counts 5 failures and errors, and has 0"),
        (log(), missing, 3, "counts 99 test cases, and has 29"),
    ] {
        let junit = junit(log).replace(good, suite);
        let files = [("uart.log", log), ("junit.xml", &junit)];
        cell(set, ["labgrid", "qemu", "x"], &files);
        let (code, out, said) = report(set, &[]);
        assert_eq!(code, expected, "{why}: {said}");
        assert!(said.contains(why) && out.contains(why), "{said}\n{out}");
        if why == records {
            let (_, json, _) = json_report(set);
            assert_eq!(json["matrix"]["jobs"][0]["outcome"], "failed");
            assert_eq!(json["runs"][0]["verdict"], "fail");
        }
    }
    // A job that has lost its subject.
    let skipped = "<testsuite><testcase name='a'><skipped/></testcase></testsuite>";
    let files = [("uart.log", log()), ("junit.xml", skipped)];
    cell(set, ["labgrid", "qemu", "x"], &files);
    let (code, _, said) = report(set, &[]);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("nothing was run: 1 test case"), "{said}");
    // Figures of lines alone are marked, with a note.
    let log = tftf("Passed");
    let of_log = junit(&log);
    let files = [("uart.log", log.as_str()), ("junit.xml", &of_log)];
    cell(set, ["labgrid", "qemu", "x"], &files);
    let (_, out, _) = report(set, &["--format", "md"]);
    let marked = "figures with a ? are from RT_INSTR lines";
    assert!(out.contains(marked), "{out}");
}

/// Each run by its own board and firmware.
#[test]
fn several_boards() {
    let dir = tempfile::tempdir().expect("a directory");
    let set = dir.path();
    let juno = edited_log(|run| run.head.as_mut().expect("a head").model = "Juno r2".into());
    let newer = log().replace("v2.12.1", "v2.13.0");
    let path = set.join("log");
    fs::write(&path, format!("{}\n{juno}\n{newer}", log())).expect("written");
    let (code, json, said) = json_report(&path);
    assert_eq!((code, said.as_str()), (0, ""));
    let boards = json["matrix"]["boards"].as_array().expect("a list").iter();
    let boards = boards.map(|it| (it["name"].as_str(), &it["columns"]));
    let boards: Vec<(Option<&str>, &Value)> = boards.collect();
    let columns = json!([
        [0, "v2.12.1(release):v2.12.1"],
        [2, "v2.13.0(release):v2.13.0"]
    ]);
    let of_juno = json!([[1, "v2.12.1(release):v2.12.1"]]);
    let expected = [(Some("Juno r2"), &of_juno), (Some("QEMU virt"), &columns)];
    assert_eq!(boards, expected);

    // A cell with another board's log: not in its tables.
    let lab = set.join("lab");
    for (firmware, log) in [("v1", log()), ("v2", juno.as_str()), ("v3", &juno)] {
        let files = [("uart.log", log), ("junit.xml", &junit(log))];
        cell(&lab, ["labgrid", "juno", firmware], &files);
    }
    let (_, out, _) = report(&lab, &[]);
    assert!(out.contains("juno (QEMU virt): runs") && out.contains("juno (Juno r2): runs"));

    // A log of another job: its CPUs are not the cell's.
    let mark = lab.join("labgrid-juno-v1/cell.json");
    let text = fs::read_to_string(&mark).expect("there");
    for (cpus, expected) in [("4", 0), ("8", 3), ("\"4\"", 3)] {
        let own = text.replacen('{', &format!("{{\"cpus\": {cpus}, "), 1);
        fs::write(&mark, own).expect("written");
        let (code, _, said) = report(&lab, &[]);
        assert_eq!(code, expected, "{said}");
        let why = "the log is of another job: of 4 CPUs, and the cell has 8";
        assert_eq!(said.contains(why), cpus == "8", "{said}");
    }
}
