//! Exit codes and errors.

use super::formats::TFTF;
use super::points::of_points;
use super::{edited_log, log};
use crate::support::scratch::Scratch;

/// Logs of all kinds.
fn logs() -> Scratch {
    let log = log();
    let scratch = Scratch::of_reports(log);
    scratch.write("cut.log", &log.as_bytes()[..log.len() / 2]);
    scratch.write("wrong.log", &log.replace("PASS (", "PASS (1"));
    scratch.write("dropped.log", &log.replace("PASS", "PSS"));
    scratch.write("tftf.log", &TFTF.replace("Exiting tests.", ""));
    scratch.write("empty.log", "");
    scratch.write("garbage.log", &[0xfe; 4096]);
    for (name, percent) in [("old.log", 100), ("new.log", 120)] {
        scratch.write(name, &edited_log(|run| of_points(run, percent)));
    }
    scratch
}

#[test]
fn exit_codes() {
    let scratch = logs();
    let for_merge = "csv has no place for --merge; these have: text, md, rst, json, html";
    let for_compare = "for --baseline; these have: text, md, rst, json, html, junit, tfa-docs";
    scratch.assert_reports(&[
        ("good.log --format json -o out.json", 0, ""),
        ("cut.log", 3, "cut.log (run 1): incomplete: "),
        // A last line that suffered: the records have it all.
        ("wrong.log", 0, "contradicts the records"),
        ("dropped.log", 0, "the last line is damaged"),
        ("tftf.log", 3, "log until TFTF says that"),
        ("good.log good.log --merge -o out", 0, "it is counted once"),
        ("good.log cut.log --run 1 -o out", 0, ""),
        ("new.log --baseline old.log", 1, "regressions against"),
        ("old.log --baseline new.log", 0, ""),
        ("empty.log", 2, "empty.log: the log is empty"),
        ("garbage.log", 2, "no records (@PB"),
        ("no-such.log", 2, "no-such.log"),
        (".", 2, "no table in this folder"),
        ("good.log --format pdf", 2, "the formats are text, "),
        ("good.log -o good.log", 2, "this is the file of LOG"),
        ("good.log --format tfa-docs", 2, "by -o"),
        ("good.log --format tfa-docs -o good.log", 2, "no directory"),
        ("good.log --format tfa-docs -o tree", 2, "needs --platform"),
        ("good.log -o /dev/full", 2, "-o /dev/full: No space left"),
        ("good.log -o nowhere/out", 2, "-o nowhere/out: there is no"),
        ("good.log --run 2", 2, "--run 2: the input has 1 run"),
        ("good.log tftf.log --merge", 2, "cannot merge"),
        ("good.log good.log --merge --format csv", 2, for_merge),
        ("good.log --baseline good.log --format dt", 2, for_compare),
        ("good.log --platform juno", 2, "these have: tfa-docs"),
        ("good.log --log x", 2, "--log is for a run that is followed"),
        ("good.log --baud 9600", 2, "--baud is for a run that is"),
        (
            "--serial - --log x -o ./x",
            2,
            "-o ./x: this is the file of --log",
        ),
        ("cut.log --format dt -o out.dtsi", 2, "not all records"),
        ("", 2, "<LOG>"),
    ]);
    for name in ["out.dtsi", "tree", "nowhere"] {
        assert!(!scratch.path(name).exists(), "{name}");
    }
    let json = String::from_utf8(scratch.read("out.json")).expect("UTF-8");
    assert!(json.contains("psci-bench-report"));
}
