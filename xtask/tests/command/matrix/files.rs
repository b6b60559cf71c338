//! Several files of a job, and files that are not written to.

use std::fs;

use serde_json::json;

use super::{cell, json_report, junit, lava, log, measured, report, result};

/// Whatever the files are called, and however many say the same.
#[test]
fn what_two_files_say_counts_once() {
    let dir = tempfile::tempdir().expect("a directory");
    let set = dir.path();
    let over = result("lava", "job", "pass");
    let mut all = measured(log());
    all.push(over.clone());
    let of_lava = lava(log(), &all);
    let files = [("lava.log", &*of_lava), ("lava.yaml", &of_lava)];
    let of_both = cell(set, ["lava", "qemu", "x"], &files);
    let (code, json, said) = json_report(set);
    assert_eq!(code, 0, "{said}");
    let job = &json["matrix"]["jobs"][0];
    assert_eq!(
        (&job["measurements"], &job["runs"]),
        (&28.into(), &json!([0]))
    );
    assert!(said.contains("again, to the last tick"), "{said}");
    fs::remove_dir_all(of_both).expect("removed");
    // A result that is cut off, and a measurement that LAVA has not seen.
    let failed = lava("", &[result("psci-bench", "b", "fail")]);
    let (before, behind) = (lava(log(), &all), lava("", &[over]));
    let cut = format!("{before}{}\n{behind}", &failed[..failed.len() - 5]);
    let less = lava(log(), &all[1..]);
    for (log, why, alone) in [
        (cut, "1 line of LAVA's log cannot be read", 3),
        // By itself a log is held against nothing.
        (less, "the engine has 27 of the 28 measurements", 0),
    ] {
        let cell = cell(set, ["lava", "qemu", "x"], &[("lava.log", &log)]);
        let (code, _, said) = report(set, &[]);
        assert_eq!(code, 3, "{said}");
        assert!(said.contains(why), "{said}");
        assert_eq!(report(&cell.join("results/lava.log"), &[]).0, alone);
    }
}

/// Inputs are not overwritten.
#[test]
fn results_are_not_written_to() {
    let dir = tempfile::tempdir().expect("a directory");
    let set = dir.path();
    let junit = junit(log());
    let files = [("uart.log", log()), ("junit.xml", &junit)];
    let cell = cell(set, ["labgrid", "qemu", "x"], &files);
    fs::hard_link(cell.join("results/uart.log"), set.join("link")).expect("made");
    let new = cell.join("results/report.txt");
    for path in [&cell.join("results/uart.log"), &set.join("link"), &new] {
        let (code, _, said) = report(set, &["-o", path.to_str().expect("UTF-8")]);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("-o SET/"), "{said}");
    }
    assert_eq!(fs::read_to_string(set.join("link")).expect("there"), log());
    assert!(!new.exists());
}
