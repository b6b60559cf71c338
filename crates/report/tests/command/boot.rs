//! Boot times: the stages between TF-A's timestamps, in reports, comparisons and histories.

use expect_test::expect;
use report::export::{ReportPart, able};
use report::synthetic_run::{BOOT, FIRMWARE, passed_log};
use serde_json::Value;

use crate::report::{read, written};
use crate::support::scratch::Scratch;
use crate::support::{assert_report, scratch_of_reports};

/// Creates logs of boots with and without a run.
fn scratch() -> Scratch {
    let run = passed_log();
    let scratch = scratch_of_reports(run);
    let slower = BOOT
        .replace("ts 1600000", "ts 1700000")
        .replace("v2.15.0", "v2.16.0");
    scratch.write("boot.log", BOOT);
    scratch.write("old.log", &run.replace(FIRMWARE, BOOT));
    scratch.write("new.log", &run.replace(FIRMWARE, &slower));
    scratch
}

#[test]
fn log_that_shows_only_a_boot_is_a_table_and_incomplete() {
    let scratch = scratch();
    let (code, out, stderr) = scratch.called("report boot.log");
    assert_eq!(code, 3, "{stderr}");
    assert_report("boot.txt", &out);
    let why = "boot.log (run 1): incomplete: no run in its 13 lines";
    assert!(stderr.contains(why), "{stderr}");
    scratch.assert_outcomes(&[
        ("report boot.log good.log", 3, why),
        ("report good.log boot.log --format junit", 3, why),
        ("report boot.log --counter-hz 999", 2, "--counter-hz"),
        ("compare good.log boot.log", 2, "boot.log: no run in its"),
        ("compare boot.log good.log", 2, "boot.log: no run in its"),
        ("history good.log boot.log", 2, "boot.log: no run in its"),
    ]);
}

#[test]
fn frequency_that_the_user_gives_converts_ticks() {
    let scratch = scratch();
    let (_, out, _) = scratch.called("report boot.log --counter-hz 1000000");
    let row = "\nBL31                 1500000.00   100000.00    6.7 %\n";
    assert!(out.contains(row), "{out}");
    assert!(!out.contains("--counter-hz"), "{out}");
    // A run's own record takes precedence: 62.5 MHz.
    let (code, out, _) = scratch.called("report old.log --counter-hz 1000000");
    let row = "\nBL31                 24000.00   1600.00    6.7 %\n";
    assert!(code == 0 && out.contains(row), "{out}");
}

#[test]
fn documented_boot_is_the_samples() {
    let sample = include_str!("../../../../docs/samples/six-tables.log");
    let page = include_str!("../../../../docs/report.md");
    let text = written(&read(sample), "text");
    let (_, table) = text.split_once("\nStages (us)\n").expect("a table");
    let (table, _) = table.split_once("\n\n").expect("its end");
    assert!(page.contains(table), "{table}");
}

#[test]
fn page_shows_the_stages_as_a_bar() {
    let (_, page, _) = scratch().called("report old.log --format html");
    let (_, chart) = page
        .split_once("<figure id=\"run1-boot\">")
        .expect("a chart");
    let (chart, _) = chart.split_once("</figure>").expect("its end");
    let bar = |title: &str| {
        let line = chart
            .lines()
            .find(|line| line.contains(&format!("<title>{title}: ")));
        let line = line.unwrap_or_else(|| panic!("{title}: {chart}"));
        [" x=", " width=", " y="].map(|name| -> f64 {
            let (_, rest) = line.split_once(&format!("{name}\"")).expect(name);
            let (number, _) = rest.split_once('"').expect("a quote");
            number.parse().expect("a number")
        })
    };
    let [start, width, y] = bar("BL2");
    let [part_start, part_width, part_y] = bar("BL2, loading images");
    let [next, ..] = bar("BL2 to BL31");
    assert!((start + width - next).abs() < 0.1, "{chart}");
    let share = part_width / width;
    assert!((share - 1_000.0 / 1_080.0).abs() < 0.001, "{share}");
    assert!(part_start > start && part_y > y, "{chart}");
    assert!(!chart.contains("Total"), "{chart}");
}

#[test]
fn change_of_a_stage_is_shown_and_not_judged() {
    let scratch = scratch();
    let both = "old.log new.log";
    let (code, out, _) = scratch.called(&format!("compare {both}"));
    let (_, table) = out.split_once("\nBoot time").expect("a table");
    let (table, _) = table.split_once("\n\n").expect("its end");
    expect![[r#"
         (us; one boot each, not judged)
        Stage                     Old       New     Change
        -------------------  --------  --------  ---------
        BL1                   3200.00   3200.00    +0.00 %
        BL1, loading BL2      1920.00   1920.00    +0.00 %
        BL1 to BL2             640.00    640.00    +0.00 %
        BL2                  17280.00  17280.00    +0.00 %
        BL2, loading images  16000.00  16000.00    +0.00 %
        BL2 to BL31           1280.00   1280.00    +0.00 %
        BL31                  1600.00   3200.00  +100.00 %
        Total                24000.00  25600.00    +6.67 %"#]]
    .assert_eq(table);
    assert_eq!(code, 0, "{out}");
    let (_, json, _) = scratch.called(&format!("compare {both} --format json"));
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let boot = json["comparisons"][0]["boot"].as_array().expect("rows");
    assert_eq!(boot.len(), 8);
    assert_eq!(boot[6]["stage"], "bl31");
    assert_eq!(
        boot[6]["values"],
        serde_json::json!([1_600_000.0, 3_200_000.0])
    );
    assert_eq!(json["runs"][0]["boot"][6]["ticks"], 200_000);
    let (code, out, _) = scratch.called(&format!("history {both}"));
    let row = "\nBL31                  1600.00   3200.00\n";
    assert!(code == 0 && out.contains(row), "{out}");
    // Only one of these logs has boot times.
    let (_, out, _) = scratch.called("compare old.log good.log");
    assert!(!out.contains("Boot time"), "{out}");
}

/// Any number may occur in a line without a checksum.
#[test]
fn no_timestamp_is_too_large() {
    let scratch = scratch();
    let most = u64::MAX.to_string();
    for (name, ids) in [
        ("all", "0 1 2 3 4 5 6 7 8 9"),
        ("last", "5"),
        ("bl31", "4 5"),
    ] {
        let mut log = BOOT.to_owned();
        for id in ids.split(' ') {
            let (before, rest) = log.split_once(&format!("tid {id}\tts ")).expect("a line");
            let (_, after) = rest.split_once('\r').expect("its end");
            log = format!("{before}tid {id}\tts {most}\r{after}");
        }
        scratch.write(name, &log);
        for format in able(ReportPart::Runs).filter(|format| format.name != "svg") {
            for hz in ["", " --counter-hz 1000", " --counter-hz 10000000000"] {
                let line = format!("report {name} --format {}{hz}", format.name);
                let (code, out, stderr) = scratch.called(&line);
                assert_eq!(code, 3, "{line}: {stderr}");
                assert!(!out.contains("NaN"), "{line}");
            }
        }
    }
}
