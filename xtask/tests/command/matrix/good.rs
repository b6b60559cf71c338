//! Jobs of both engines, good and bad, and files that are none.

use std::fs;
use std::os::unix::fs::symlink;

use super::{cell, junit, lava, log, measured, report, result};
use crate::support::assert_report;

/// LAVA's result of a job.
const ENDED: &str = "case: job\ndefinition: lava\nresult: pass\n";

/// Returns a folder with a good job of each engine.
fn good_jobs() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    let set = dir.path();
    let case = |it: &str| result("psci-bench", "a_case", it);
    let mut all = measured(log());
    all.extend([case("pass"), result("lava", "job", "pass")]);
    let good = lava(log(), &all);
    let good = [("lava.log", &*good), ("result.yaml", ENDED)];
    cell(set, ["lava", "qemu", "v2.12"], &good);
    let newer = log().replace("v2.12.1", "v2.13.0");
    let junit = junit(log());
    let newer = [
        ("uart.log", &*newer),
        ("junit.xml", &junit),
        ("pytest.out", log()),
    ];
    cell(set, ["labgrid", "qemu", "v2.13"], &newer);
    dir
}

#[test]
fn good_jobs_are_side_by_side() {
    let dir = good_jobs();
    let set = dir.path();
    let (code, text, said) = report(set, &[]);
    assert_eq!((code, said.as_str()), (0, ""));
    assert_report("matrix.txt", &text);

    // A path that cannot be looked at is named.
    let qemu = set.join("labgrid-qemu-v2.13");
    symlink("nowhere", qemu.join("gone")).expect("made");
    let (code, out, said) = report(&qemu, &[]);
    assert_eq!(code, 3, "{said}");
    let why = "SET/gone: not looked at";
    assert!(said.contains(why) && out.contains(why), "{said}");
    // A lab twice is one.
    assert_eq!(report(&qemu, &[qemu.to_str().expect("UTF-8")]).1, out);
}

#[test]
fn bad_jobs_are_named() {
    let dir = good_jobs();
    let set = dir.path();
    let over = result("lava", "job", "pass");
    let case = |it: &str| result("psci-bench", "a_case", it);
    // A case that fails; the job is good all the same.
    let failing = lava(log(), &[case("fail"), over.clone()]);
    let failing = cell(set, ["lava", "qemu", "failing"], &[("lava.log", &failing)]);
    let (code, _, said) = report(set, &[]);
    assert_eq!(code, 1, "{said}");
    let failed = "failed: psci-bench/a_case not passed\n";
    assert!(said.contains(failed), "{said}");
    let (code, _, _) = report(&failing, &[]);
    assert_eq!(code, 1);

    // No end, no run, nothing at all.
    let half = &log()[..log().len() / 2];
    let mut late = result("lava", "job", "fail");
    late["error_msg"] = "lava-test-monitor timed out".into();
    for (name, text) in [
        ("half", lava(half, &[late])),
        ("mute", lava("NOTICE:  BL1", &[over])),
        ("lost", lava(log(), &[])),
    ] {
        cell(set, ["lava", "juno", name], &[("lava.log", &text)]);
    }
    cell(set, ["labgrid", "juno", "none"], &[]);
    let (code, text, said) = report(set, &["--format", "md"]);
    assert_eq!(code, 3, "{said}");
    let jobs: String = text
        .lines()
        .filter(|line| !line.contains(". "))
        .take(32)
        .fold(String::new(), |all, line| all + line + "\n");
    assert_report("matrix.md", &jobs);
}

/// A file of a cell that cannot be read makes its job incomplete, and hides no
/// other; one that is named is an error.
#[test]
fn what_is_no_job() {
    let dir = tempfile::tempdir().expect("a directory");
    let set = dir.path();
    let junit = junit(log());
    let good = [("uart.log", log()), ("junit.xml", &junit)];
    cell(set, ["labgrid", "good", "x"], &good);
    let each = "each with its suite, its name and its result";
    for (name, text, expected) in [
        ("junit.xml", "<testsuites/>", "no test case"),
        ("junit.xml", "<a><b>", "this is no XML"),
        ("result.yaml", "- 7", each),
    ] {
        let cell = cell(set, ["lava", "a", "b"], &[(name, text)]);
        let (code, out, said) = report(set, &[]);
        assert_eq!(code, 3, "{said}");
        assert!(said.contains(name) && said.contains(expected), "{said}");
        let has_good = out.contains("good: runs");
        assert!(has_good && out.contains(expected), "{out}");
        let (code, out, said) = report(&cell.join("results").join(name), &[]);
        assert_eq!((code, out.as_str()), (2, ""), "{said}");
        fs::remove_dir_all(cell).expect("removed");
    }
    let cell = cell(set, ["lava", "a", "b"], &[]);
    let mark = |name: &str| {
        let name = serde_json::to_string(name).expect("JSON");
        let schema = "\"schema\": \"psci-bench-lab-cell\", \"version\": 1";
        format!("{{{schema}, \"engine\": \"lava\", \"board\": \"a\", \"firmware\": {name}}}")
    };
    let other = mark("x").replace("psci-bench-lab-cell", "x");
    let bars = mark("a|b");
    for (text, expected) in [
        ("{}", "missing field `schema`"),
        (other.as_str(), "this is \"x\" 1"),
        (bars.as_str(), "firmware \"a|b\": a name has"),
    ] {
        fs::write(cell.join("cell.json"), text).expect("written");
        let (code, out, said) = report(set, &[]);
        assert_eq!(code, 3, "{said}");
        let is_named = said.contains("cell.json") && said.contains(expected);
        assert!(is_named && out.contains("good: runs"), "{said}{out}");
    }
}
