//! What a job comes to, and whose figures are whose.

use std::fs;

use serde_json::Value;

use crate::{JUNIT, LAST, QEMU, cell, report, signed, tftf};

/// By the records, by TFTF's lines, and by what the engine counts.
#[test]
fn what_failed_is_not_green() {
    let dir = tempfile::tempdir().expect("a directory");
    let set = dir.path();
    let from = "susp_deep_serial status=passed";
    let failed = signed(QEMU, from, "susp_deep_serial status=failed");
    assert_eq!(
        signed(QEMU, from, from).replace("\r\n", "\n"),
        QEMU.replace("\r\n", "\n")
    );
    let no_last = failed.replace(LAST, "");
    let broken = failed.replace(LAST, &LAST.replace("PASS", "PxSS"));
    let records = "psci-bench: FAIL (5 passed, 0 skipped, 1 failed";
    let counts = JUNIT.replace("<testsuite>", "<testsuite errors='3' failures='2'>");
    let missing = JUNIT.replace("<testsuite>", "<testsuite tests='9'>");
    let error = JUNIT.replace("<testsuite>", "<testsuite><error message='setup'/>");
    let skipped = JUNIT.replace("/></", "><skipped/></testcase></");
    let (tftf_failed, tftf_crashed) = (tftf("Failed"), tftf("Crashed"));
    for (log, junit, expected, why) in [
        (failed.as_str(), JUNIT, 1, records),
        (&no_last, JUNIT, 1, records),
        (&broken, JUNIT, 1, records),
        (&tftf("Passed"), JUNIT, 0, ""),
        (&tftf_failed, JUNIT, 1, "cpu_susp_serial failed"),
        (&tftf_crashed, JUNIT, 1, "cpu_susp_serial crashed"),
        (QEMU, &counts, 1, "counts 5 failures and errors, and has 0"),
        (QEMU, &missing, 3, "counts 9 test cases, and has 1"),
        (QEMU, &error, 1, "failed: setup"),
        (QEMU, &skipped, 1, "nothing was run: 1 test case"),
    ] {
        let files = [("uart.log", log), ("junit.xml", junit)];
        let cell = cell(set, ["labgrid", "qemu", "x"], &files);
        let (code, out, said) = report(set, &[]);
        assert_eq!(code, expected, "{why}: {said}");
        assert!(
            said.contains(why) && out.contains(why),
            "{why}: {said}\n{out}"
        );
        if why == records {
            // The same in all formats, and for the file alone.
            assert!(
                out.contains(&format!("{records}; ")) && !out.contains("none  "),
                "{out}"
            );
            let (_, json, _) = report(set, &["--format", "json"]);
            let json: Value = serde_json::from_str(&json).expect("JSON");
            assert_eq!(json["matrix"]["jobs"][0]["outcome"], "failed");
            assert_eq!(json["runs"][0]["verdict"], "fail");
        }
        if junit == JUNIT {
            let (code, _, _) = report(&cell.join("results/uart.log"), &[]);
            assert_eq!(code, expected, "{why}");
        }
    }
    // Figures of lines alone are marked, and the mark is told.
    let files = [
        ("uart.log", tftf("Passed")),
        ("junit.xml", JUNIT.to_owned()),
    ];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
    cell(set, ["labgrid", "qemu", "x"], &files);
    let (_, out, _) = report(set, &["--format", "md"]);
    assert!(
        out.contains("figures with a ? are from RT_INSTR lines"),
        "{out}"
    );
}

/// Each run by its own board and firmware.
#[test]
fn several_boards() {
    let dir = tempfile::tempdir().expect("a directory");
    let set = dir.path();
    let juno = signed(QEMU, "model=QEMU_virt", "model=Juno_r2").replace("QEMU virt", "Juno r2");
    let newer = QEMU.replace("v2.12.1", "v2.13.0");
    let log = set.join("log");
    fs::write(&log, format!("{QEMU}\n{juno}\n{newer}")).expect("written");
    let (code, json, said) = report(&log, &["--format", "json"]);
    assert_eq!((code, said.as_str()), (0, ""));
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let columns = |board: usize| {
        let board = &json["matrix"]["boards"][board];
        let columns = board["columns"].as_array().expect("a list").iter();
        let columns = columns.map(|it| (it["run"].as_u64(), it["name"].to_string()));
        let name = board["board"].as_str().expect("a name").to_owned();
        (name, columns.collect::<Vec<_>>())
    };
    let (name, columns_of_juno) = columns(0);
    assert_eq!((name.as_str(), columns_of_juno.len()), ("Juno r2", 1));
    let (name, columns) = columns(1);
    assert_eq!(name, "QEMU virt");
    assert_eq!((columns[0].0, columns[1].0), (Some(0), Some(2)));
    assert!(columns[0].1.contains("v2.12.1") && columns[1].1.contains("v2.13.0"));

    // A cell with another board's log, not in silence and not in its tables.
    let lab = set.join("lab");
    for (firmware, log) in [("v1", QEMU), ("v2", juno.as_str()), ("v3", &juno)] {
        let files = [("uart.log", log), ("junit.xml", JUNIT)];
        cell(&lab, ["labgrid", "juno", firmware], &files);
    }
    let (_, out, said) = report(&lab, &[]);
    let note = "board juno has logs of 2 boards";
    assert!(said.contains(note) && out.contains(note), "{said}");
    assert!(said.contains("QEMU virt (SET/labgrid-juno-v1)"), "{said}");
    assert!(out.contains("juno (QEMU virt): runs") && out.contains("juno (Juno r2): runs"));
}
