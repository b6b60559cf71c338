//! Jobs of both engines, good and bad, and files that are none.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::assert_report;
use crate::{cell, junit, lava, log, measured, report, result};

/// Returns a folder with a good job of each engine.
fn good_jobs() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    let set = dir.path();
    let case = |it: &str| result("psci-bench", "a_case", it);
    let mut all = measured(log());
    all.extend([case("pass"), result("lava", "job", "pass")]);
    let good = lava(log(), &all);
    cell(
        set,
        ["lava", "qemu", "v2.12"],
        &[
            ("lava.log", &good),
            ("result.yaml", "case: job\ndefinition: lava\nresult: pass\n"),
        ],
    );
    let newer = log().replace("v2.12.1", "v2.13.0");
    cell(
        set,
        ["labgrid", "qemu", "v2.13"],
        &[
            ("uart.log", &newer),
            ("junit.xml", &junit(log())),
            ("pytest.out", log()),
        ],
    );
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
    let (_, _, said) = report(&qemu, &[qemu.to_str().expect("UTF-8")]);
    assert!(said.contains("named more than once"), "{said}");

    // Whatever the order, and by the file.
    let (code, text, _) = report(&set.join("labgrid-qemu-v2.13/results/uart.log"), &[]);
    assert_eq!(code, 0);
    assert!(text.contains("QEMU virt"), "{text}");
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
    assert!(
        said.contains("failed: psci-bench/a_case not passed\n"),
        "{said}"
    );
    let (code, _, _) = report(&failing, &[]);
    assert_eq!(code, 1);

    // No end, no run, nothing at all.
    let half = &log()[..log().len() / 2];
    let mut late = result("lava", "job", "fail");
    late["error_msg"] = "lava-test-monitor timed out".into();
    cell(
        set,
        ["lava", "juno", "half"],
        &[("lava.log", &lava(half, &[late]))],
    );
    cell(
        set,
        ["lava", "juno", "mute"],
        &[("lava.log", &lava("NOTICE:  BL1", &[over]))],
    );
    cell(
        set,
        ["lava", "juno", "lost"],
        &[("lava.log", &lava(log(), &[]))],
    );
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
    let null = "- {suite: null, name: a, result: pass}";
    for (name, text, expected) in [
        ("junit.xml", "<testsuites/>", "no test case"),
        ("junit.xml", "not XML", "no test case"),
        ("junit.xml", "<a><b>", "ends early"),
        ("result.yaml", "- 7", each),
        ("result.yaml", null, "null into string"),
        ("results.yml", "{", "no results of LAVA's"),
    ] {
        let cell = cell(set, ["lava", "a", "b"], &[(name, text)]);
        let (code, out, said) = report(set, &[]);
        assert_eq!(code, 3, "{said}");
        assert!(said.contains(name) && said.contains(expected), "{said}");
        let has_good = out.contains("good: runs");
        assert!(has_good && out.contains(expected), "{out}");
        let is_for_users = ["struct", "use Option"].iter().all(|it| !said.contains(it));
        assert!(is_for_users, "{said}");
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
    let (lines, bars) = (mark("a\n# b\u{1b}"), mark("a|b"));
    for (text, expected) in [
        ("{}", "there is no text for \"schema\""),
        ("[]", "there is no text for \"schema\""),
        ("", "EOF"),
        (other.as_str(), "this is \"x\" 1"),
        (lines.as_str(), "firmware \"a\\n# b\\u{1b}\": a name has"),
        (bars.as_str(), "firmware \"a|b\": a name has"),
    ] {
        fs::write(cell.join("cell.json"), text).expect("written");
        let (code, out, said) = report(set, &[]);
        assert_eq!(code, 3, "{said}");
        assert!(
            said.contains("cell.json") && said.contains(expected),
            "{said}"
        );
        assert!(out.contains("good: runs"), "{out}");
    }
}
