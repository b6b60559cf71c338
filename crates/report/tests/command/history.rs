//! The history of figures across releases, in every format.

use std::fmt::Write as _;

use report::synthetic_run::passed_log;

use crate::support::scratch::Scratch;
use crate::support::{PROGRAM, scratch_of_reports};

const JUNO: &str = "history published/juno/v2.9 published/juno/v2.10 published/juno/v2.12 \
                    published/juno/v2.13";
const SERIAL: &str = "test_rt_instr_cpu_susp_serial.csv";

/// Writes a release with one scenario. Each row contains a CPU and its Powerdown figure.
fn release(scratch: &Scratch, name: &str, rows: &[(&str, u32)]) {
    let mut text = String::new();
    for (label, powerdown) in rows {
        let _ = writeln!(text, "{label},{powerdown},20000,5000");
    }
    scratch.write(&format!("{name}/{SERIAL}"), &text);
}

#[test]
fn every_format_has_the_jump() {
    let scratch = scratch_of_reports(passed_log());
    let chart = "<figure id=\"t2-cflush\">";
    for (format, parts) in [
        ("text", ["\n1.1  v2.12  v2.13", "+1644.80 %  worse"]),
        ("md", ["| 1.1 | v2.12 | v2.13 |", "+1644.80 % | worse"]),
        ("rst", ["| 1.1 | v2.12 | v2.13 |", "+1644.80 % | worse"]),
        (
            "html",
            [chart, "v2.13: 77.12 us, +1644.80 % from 4.42 us in v2.12"],
        ),
        ("csv", ["77120.0,ns,0,v2.12,1644.7", ",worse\n"]),
        ("json", ["\"figure\": 77120.0,", "\"outcome\": \"worse\""]),
    ] {
        let (code, out, stderr) = scratch.called(&format!("{JUNO} --format {format}"));
        assert_eq!((code, stderr.as_str()), (0, ""), "{format}");
        for part in parts {
            assert!(out.contains(part), "{format}: {part:?} is not in:\n{out}");
        }
        // Headings are scenario names, one of which is over 80 characters long.
        let is_wide = |line: &&str| line.contains("  ") && line.chars().count() > 80;
        let wide = out.lines().find(is_wide);
        assert!(wide.is_none() || format != "text", "{wide:?}");
    }
    let (_, out, _) = scratch.called(&format!("{JUNO} --tolerance 99.9%"));
    assert!(out.contains("Jumps       0 worse, 0 better"), "{out}");
}

#[test]
fn wide_tables_are_continued_and_gaps_are_shown() {
    let scratch = Scratch::new(PROGRAM);
    for nth in 1..=12 {
        let both = [("0,0", 100_000), ("0,1", 100_000 + 10_000 * nth)];
        let rows = if nth == 5 { &both[..1] } else { &both };
        release(&scratch, &format!("v1.{nth}"), rows);
    }
    let releases: Vec<String> = (1..=12).map(|number| format!("v1.{number}")).collect();
    let line = format!("history {}", releases.join(" "));
    let (code, out, _) = scratch.called(&line);
    assert_eq!(code, 0);
    let first = "Powerdown (us)
CPU    v1.1    v1.2    v1.3    v1.4    v1.5    v1.6    v1.7    v1.8    v1.9
---  ------  ------  ------  ------  ------  ------  ------  ------  ------
0.0  100.00  100.00  100.00  100.00  100.00  100.00  100.00  100.00  100.00
0.1  110.00  120.00  130.00  140.00     n/a  160.00  170.00  180.00  190.00

Powerdown (us), continued
CPU   v1.10   v1.11   v1.12
---  ------  ------  ------
0.0  100.00  100.00  100.00
0.1  200.00  210.00  220.00
";
    assert!(out.contains(first), "{out}");
    // A jump across a gap is measured from the release before the gap.
    let jump = "\n0.1  v1.4   v1.6   140.00  160.00  +14.29 %  worse\n";
    assert!(out.contains(jump), "{out}");
    assert!(out.contains("Gaps        3 of 72 figures (n/a)"), "{out}");
    let (_, page, _) = scratch.called(&format!("{line} --format html"));
    // The chart does not connect the figures before and after the gap.
    for (class, begins) in [("trace c0", 1), ("trace c1", 2)] {
        let path = page
            .lines()
            .find(|line| line.contains(class))
            .expect("a chart line");
        let [moves, strokes] = ['M', 'L'].map(|letter| path.matches(letter).count());
        let points = if class == "trace c0" { 12 } else { 11 };
        assert_eq!((moves, moves + strokes), (begins, points), "{path}");
    }
    let (_, csv, _) = scratch.called(&format!("{line} --format csv"));
    assert_eq!(csv.lines().count(), 1 + 72, "{csv}");
    let gap = "v1.5,v1.5,test_rt_instr_cpu_susp_serial,tftf,,powerdown,,,,,,0,1,0,,ns,,,,\n";
    assert!(csv.contains(gap), "{csv}");
}

#[test]
fn folder_with_two_releases_is_a_history() {
    let scratch = scratch_of_reports(passed_log());
    release(&scratch, "juno/previous", &[("0,0", 10_000)]);
    release(&scratch, "juno/current", &[("0,0", 40_000)]);
    let (code, out, stderr) = scratch.called("history juno");
    assert_eq!((code, &*stderr), (0, ""), "{out}");
    assert!(out.contains("previous  current"), "{out}");
}

#[test]
fn boards_are_side_by_side() {
    let scratch = scratch_of_reports(passed_log());
    let boards = format!("history published/juno/v2.13 published/n1sdp/v2.9/{SERIAL}");
    let (code, out, stderr) = scratch.called(&boards);
    assert_eq!((code, stderr.as_str()), (0, ""));
    for part in [
        "PSCI latencies of juno, n1sdp\n",
        "  juno  n1sdp\n",
        "Gaps        ",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    for part in ["Jumps", "Releases", "worse", "Tolerance"] {
        assert!(!out.contains(part), "{part}: {out}");
    }
    let (code, page, _) = scratch.called(&format!("{boards} --format html"));
    assert!(code == 0 && !page.contains("<svg"), "{page}");
    let (_, csv, _) = scratch.called(&format!("{boards} --format csv"));
    assert!(csv.contains("\nn1sdp,published/n1sdp/v2.9/"), "{csv}");
}

#[test]
fn wrong_releases_are_refused() {
    let scratch = scratch_of_reports(passed_log());
    release(&scratch, "v1.1", &[("0,0", 100)]);
    release(&scratch, "v1.2", &[("7,7", 100)]);
    let two = [passed_log(), passed_log()].concat();
    scratch.write("two.log", &two);
    for (words, expected) in [
        (
            "v1.1".to_owned(),
            "v1.1: a history needs at least two releases",
        ),
        ("v1.1 two.log".to_owned(), "two.log: contains 2 runs"),
        (
            "v1.1 v1.2 --format junit".to_owned(),
            "expected one of text, md, rst, csv, json, html",
        ),
        (
            "v1.1 v1.2 -o v1.1/out".to_owned(),
            "is in the input folder for RUN",
        ),
    ] {
        scratch.refuses(&format!("history {words}"), expected);
    }
}
