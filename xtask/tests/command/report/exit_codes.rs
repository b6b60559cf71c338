//! Exit codes and errors.

use report::export;

use super::formats::TFTF;
use super::steps::of_steps;
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
        scratch.write(name, &edited_log(|run| of_steps(run, percent)));
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
        ("/dev/zero", 2, "this is a device"),
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

/// Text without a figure is green in no format, and in no matrix.
#[test]
fn logs_without_figures_are_never_green() {
    let scratch = Scratch::empty();
    let frame = "NOTICE:  Booting trusted firmware test framework\n";
    let exit = "NOTICE:  Exiting tests.\n";
    let begin = "> Executing 'CPU suspend on all cores in sequence'\n";
    let row = "<RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t0\t100\t200\t300/>\n";
    let end = format!("  TEST COMPLETE {:>54}\n{exit}", "Passed");
    let last = log().lines().last().expect("a last line").to_owned();
    let failed = format!("{frame}Tests Failed  : 6\n{exit}");
    // As in the payload's own image.
    let strings = format!("{frame}\0psci-bench \0> Executing '<RT_INSTR:\t/>{end}");
    let format_1 = format!("@PB 0000 run format=1 cpus=1 fa22336c\n{begin}{row}{end}");
    for (name, text, part) in [
        ("frame", format!("{frame}{exit}"), "no scenario in it"),
        ("failed", failed, "counts 6 tests failed"),
        ("binary", strings, "incomplete: "),
        ("last", last, "no scenario in it"),
        ("verdict", format!("{frame}{begin}{end}"), "no figure of"),
        ("format", format_1, "1 record (@PB ...), and not one is"),
    ] {
        scratch.write(name, &text);
        for format in export::ALL.iter().map(|it| it.name) {
            let to = format!("-o out/{format}.{name} --platform x");
            let to = if format == "tfa-docs" { &to } else { "" };
            let (code, out, said) =
                scratch.called(&format!("report {name} --format {format} {to}"));
            let is_refused = code == 2 && matches!(format, "dt" | "perfetto" | "tfa-docs");
            let is_incomplete = code == 3 && said.contains(part);
            assert!(is_refused || is_incomplete, "{format}: {code} {said}");
            let is_red = out.contains("<error type=\"incomplete\"");
            assert!(is_red || format != "junit", "{name}: {out}");
        }
        let (code, out, said) = scratch.called(&format!("report --matrix {name}"));
        assert_eq!(code, 3, "{name}: {said}");
        assert!(out.contains("incomplete") && said.contains(part), "{said}");
    }
}
