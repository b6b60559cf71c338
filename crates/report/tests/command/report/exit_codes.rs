//! Exit codes and errors.

use report::export::{self, ReportPart};
use report::synthetic_run::use_steps;
use report::synthetic_run::{BOOT, TFTF_LOG, edited_log, passed_log};

use crate::support::scratch::Scratch;
use crate::support::{PROGRAM, scratch_of_reports};

/// Creates one log for each kind of outcome.
fn logs() -> Scratch {
    let log = passed_log();
    let scratch = scratch_of_reports(log);
    scratch.write("cut.log", &log.as_bytes()[..log.len() / 2]);
    scratch.write("wrong.log", &log.replace("PASS (", "PASS (1"));
    scratch.write("dropped.log", &log.replace("PASS", "PSS"));
    scratch.write("tftf.log", &TFTF_LOG.replace("Exiting tests.", ""));
    scratch.write("empty.log", "");
    scratch.write("garbage.log", &[0xfe; 4096]);
    for (name, percent) in [("old.log", 100), ("new.log", 120)] {
        scratch.write(name, &edited_log(|run| use_steps(run, percent)));
    }
    scratch
}

#[test]
fn exit_codes() {
    let scratch = logs();
    let for_compare = "expected one of text, md, rst, json, html, junit";
    scratch.assert_outcomes(&[
        ("report good.log --format json -o out.json", 0, ""),
        ("report cut.log", 3, "cut.log (run 1): incomplete: "),
        // The last line is damaged, but the records are complete.
        ("report wrong.log", 0, "contradicts the records"),
        ("report dropped.log", 0, "the last line is damaged"),
        ("report tftf.log", 3, "keep logging until TFTF prints that"),
        ("report good.log cut.log --run 1 -o out", 0, ""),
        ("compare old.log new.log", 1, "regressions against"),
        ("compare new.log old.log", 0, ""),
        ("report empty.log", 2, "empty.log: the log is empty"),
        ("report garbage.log", 2, "no records (@PB"),
        ("report no-such.log", 2, "no-such.log"),
        ("report .", 2, "contains no tables"),
        ("report good.log --format pdf", 2, "expected one of text, "),
        (
            "report good.log -o good.log",
            2,
            "this is the input file for LOG",
        ),
        (
            "report good.log -o /dev/full",
            2,
            "-o /dev/full: No space left",
        ),
        (
            "report good.log -o nowhere/out",
            2,
            "-o nowhere/out: no such dir",
        ),
        ("report good.log --run 2", 2, "--run 2: the input has 1 run"),
        (
            "compare good.log good.log --old tftf.log",
            2,
            "cannot combine",
        ),
        ("compare good.log good.log --format csv", 2, for_compare),
        (
            "follow - --log x -o ./x",
            2,
            "-o ./x: this is the input file for --log",
        ),
        ("report", 2, "<LOG>"),
    ]);
    assert!(!scratch.path("nowhere").exists());
    let json = String::from_utf8(scratch.read("out.json")).expect("UTF-8");
    assert!(json.contains("psci-bench-report"));
}

/// Output without figures never counts as a pass, in any format.
#[test]
fn logs_without_figures_are_never_green() {
    let scratch = Scratch::new(PROGRAM);
    let frame = "NOTICE:  Booting trusted firmware test framework\n";
    let exit = "NOTICE:  Exiting tests.\n";
    let begin = "> Executing 'CPU suspend on all cores in sequence'\n";
    let row = "<RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t0\t100\t200\t300/>\n";
    let end = format!("  TEST COMPLETE {:>54}\n{exit}", "Passed");
    let last = passed_log().lines().last().expect("a last line").to_owned();
    let failed = format!("{frame}Tests Failed  : 6\n{exit}");
    // The payload image also contains these strings, but it is not a log.
    let strings = format!("{frame}\0psci-bench \0> Executing '<RT_INSTR:\t/>{end}");
    let format_1 = format!("@PB 0000 run format=1 cpus=1 fa22336c\n{begin}{row}{end}");
    for (name, text, part) in [
        ("frame", format!("{frame}{exit}"), "no scenarios"),
        ("failed", failed, "counts 6 tests failed"),
        ("binary", strings, "incomplete: "),
        ("last", last, "no scenarios"),
        ("verdict", format!("{frame}{begin}{end}"), "no figure for"),
        ("format", format_1, "1 record (@PB ...), none"),
        ("boot", BOOT.to_owned(), "no run in its 13 lines"),
    ] {
        scratch.write(name, &text);
        for format in export::able(ReportPart::Runs).map(|format| format.name) {
            let (code, out, stderr) = scratch.called(&format!("report {name} --format {format}"));
            // There is nothing to draw.
            let is_incomplete = match format {
                "svg" => code == 2 && stderr.contains("no log has timestamps"),
                _ => code == 3 && stderr.contains(part),
            };
            assert!(is_incomplete, "{format}: {code} {stderr}");
            let is_red = out.contains("<error type=\"incomplete\"");
            assert!(is_red || format != "junit", "{name}: {out}");
        }
    }
}
