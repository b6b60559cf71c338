//! Exit codes and errors.

use crate::formats::TFTF;
use crate::log;
use crate::made_up_run::edited_log;
use crate::points::of_points;
use crate::support::scratch::Scratch;

/// Logs of all kinds.
fn logs() -> Scratch {
    let log = log();
    let scratch = Scratch::of_reports(&log);
    scratch.write("cut.log", &log.as_bytes()[..log.len() / 2]);
    scratch.write("wrong.log", &log.replace("PASS (", "PASS (1"));
    scratch.write("dropped.log", &log.replace("PASS", "PSS"));
    scratch.write("tftf.log", &TFTF.replace("Exiting tests.", ""));
    scratch.write("empty.log", "");
    scratch.write("garbage.log", &[0xfe; 4096]);
    for (name, percent) in [("old-points.log", 100), ("new-points.log", 120)] {
        scratch.write(name, &edited_log(|run| of_points(run, percent)));
    }
    scratch
}

#[test]
fn exit_codes() {
    let scratch = logs();
    scratch.assert_reports(&[
        ("good.log --format json -o out.json", 0, ""),
        ("cut.log", 3, "cut.log (run 1): incomplete: "),
        // A last line that suffered: the records have it all.
        ("wrong.log", 0, "contradicts the records"),
        ("dropped.log", 0, "the last line is damaged"),
        ("tftf.log", 3, "log until TFTF says that"),
        ("good.log good.log --merge -o out", 0, "it is counted once"),
        ("good.log cut.log --run 1 -o out", 0, ""),
        (
            "new-points.log --baseline old-points.log",
            1,
            "regressions against",
        ),
        ("old-points.log --baseline new-points.log", 0, ""),
        ("empty.log", 2, "empty.log: the log is empty"),
        ("garbage.log", 2, "it is binary"),
        ("good.log empty.log", 2, "empty.log"),
        ("no-such.log", 2, "no-such.log"),
        (".", 2, "no table in this folder"),
        ("good.log --format pdf", 2, "the formats are text, "),
        ("good.log -o good.log", 2, "this is the file that LOG reads"),
        ("good.log --format tfa-docs", 2, "by -o"),
        ("good.log --format tfa-docs -o good.log", 2, "no directory"),
        ("good.log --run 2", 2, "there are 1 runs"),
        ("good.log tftf.log --merge", 2, "cannot merge"),
        (
            "good.log good.log --merge --format csv",
            2,
            "--format csv has no place for --merge; these have: text, md, rst, json, html",
        ),
        (
            "good.log --baseline good.log --format dt",
            2,
            "no place for --baseline; these have: text, md, rst, json, html, junit, tfa-docs",
        ),
        ("good.log --platform juno", 2, "these have: tfa-docs"),
        ("good.log --log x", 2, "--log is for a run that is followed"),
        (
            "good.log --baud 9600",
            2,
            "--baud is for a run that is followed",
        ),
        (
            "--serial - --log x.log -o ./x.log",
            2,
            "that -o ./x.log names as well",
        ),
        ("cut.log --format dt -o out.dtsi", 2, "not all records"),
        ("", 2, "<LOG>"),
    ]);
    assert!(!scratch.path("out.dtsi").exists());
    let json = String::from_utf8(scratch.read("out.json")).expect("UTF-8");
    assert!(json.contains("psci-bench-report"));
}
