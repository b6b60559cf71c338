//! Several files of a job, files that are not written to, and what is in them.

use std::fs;

use serde_json::{Value, json};

use crate::{cell, json_report, junit, lava, log, measured, report, result};

/// Whatever the files are called, and however many say the same.
#[test]
fn what_two_files_say_counts_once() {
    let dir = tempfile::tempdir().expect("a directory");
    let set = dir.path();
    let over = result("lava", "job", "pass");
    let mut all = measured(log());
    all.push(over.clone());
    let of_lava = lava(log(), &all);
    // A list of them, as a server gives it: JSON is YAML.
    let results = Value::from(all.clone()).to_string();
    let results = results.replace("\"definition\"", "\"suite\"");
    let results = results.replace("\"case\"", "\"name\"");
    for names in [
        &["lava.yaml", "results.yaml"][..],
        &["uart.yaml", "results.yaml"],
        &["lava.log", "lava.yaml"],
    ] {
        let files = names.iter().map(|name| match *name {
            "results.yaml" => (*name, results.as_str()),
            name => (name, of_lava.as_str()),
        });
        let cell = cell(set, ["lava", "qemu", "x"], &files.collect::<Vec<_>>());
        let (code, json, said) = json_report(set);
        assert_eq!(code, 0, "{said}");
        let job = &json["matrix"]["jobs"][0];
        assert_eq!(job["measurements"], 28, "{names:?}");
        assert_eq!(job["runs"], json!([0]), "{names:?}");
        let is_said = said.contains("logs of one job") && said.contains("again, to the last tick");
        assert_eq!(is_said, !names.contains(&"results.yaml"), "{said}");
        fs::remove_dir_all(cell).expect("removed");
    }
    // A result that is cut off, and a measurement that LAVA has not seen.
    let failed = lava("", &[result("psci-bench", "b", "fail")]);
    let (before, behind) = (lava(log(), &all), lava("", &[over]));
    let cut = format!("{before}{}\n{behind}", &failed[..failed.len() - 5]);
    for (log, why) in [
        (cut, "1 line of LAVA's log cannot be read"),
        (
            lava(log(), &all[1..]),
            "the engine has 27 of the 28 measurements",
        ),
    ] {
        let cell = cell(set, ["lava", "qemu", "x"], &[("lava.log", &log)]);
        let (code, _, said) = report(set, &[]);
        assert_eq!(code, 3, "{said}");
        assert!(said.contains(why), "{said}");
        // By itself a log is held against nothing.
        let alone = if why.contains("of the 28") { 0 } else { 3 };
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
    for path in [
        cell.join("results/uart.log"),
        set.join("link"),
        cell.join("cell.json"),
        new.clone(),
    ] {
        let (code, _, said) = report(set, &["-o", path.to_str().expect("UTF-8")]);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("-o SET/"), "{said}");
    }
    assert_eq!(fs::read_to_string(set.join("link")).expect("there"), log());
    assert!(!new.exists());
    let (code, _, said) = report(set, &["-o", set.join("new").to_str().expect("UTF-8")]);
    assert_eq!(code, 0, "{said}");
}

/// Text of others moves no cursor, and makes no markup.
#[test]
fn text_of_others_stays_text() {
    let dir = tempfile::tempdir().expect("a directory");
    let set = dir.path();
    let junit = "<testsuite><testcase name='a&#27;[31m&#10;b'><failure message='&#27;]0;x&#7;&#10;\
        | *y*'/></testcase></testsuite>";
    let files = [("uart.log", log()), ("junit.xml", junit)];
    cell(set, ["labgrid", "qemu", "fw_"], &files);
    let mut job = result("lava", "job", "fail");
    job["error_msg"] = "x\n\n# big\n\u{1b}[2J <b>".into();
    let of_lava = lava(log(), &[result("p", "c\n\u{1b}[1m", "fail"), job]);
    cell(set, ["lava", "qemu", "__init__"], &[("lava.log", &of_lava)]);
    for format in ["text", "md", "rst", "json"] {
        let (code, out, said) = report(set, &["--format", format]);
        assert_eq!(code, 1, "{said}");
        let odd = |c: char| c.is_control() && c != '\n';
        assert!(
            !out.contains(odd) && !said.contains(odd),
            "{format}: {out:?}"
        );
        assert!(
            !out.contains("\n# big") && !said.contains("\n# big"),
            "{out}"
        );
        assert!(said.contains("the job failed: x # big .[2J <b>"), "{said}");
    }
    let (_, md, _) = report(set, &["--format", "md"]);
    for text in ["| fw\\_ ", "| \\_\\_init\\_\\_ ", "\\| \\*y\\*", "\\<b\\>"] {
        assert!(md.contains(text), "{text}: {md}");
    }
}
