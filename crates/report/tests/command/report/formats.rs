//! Compares all formats byte for byte.

use report::export::Report;
use report::synthetic_run::use_steps;
use report::synthetic_run::{TFTF_LOG, passed_log};
use suite::measure::Metric;
use suite::model::{Failure, Skip, Status};

use super::{edited, read, short, written};
use crate::support::assert_report;

/// Checks for lines in a text report.
fn assert_lines(report: &str, lines: &[&str]) {
    for line in lines {
        assert!(
            report.lines().any(|report_line| report_line == *line),
            "{line}: {report}"
        );
    }
}

#[test]
fn figures_of_lines_are_marked_in_text() {
    assert_lines(
        &written(&read(TFTF_LOG), "text"),
        &[
            "  Payload     TFTF, or a program with the same output",
            "  Firmware    BL31 v2.13.0(release):v2.13.0, built 10:00:00, May 20 2025 (not verified)",
            "  Integrity   no records: all figures are from lines without a checksum and are not verified",
            "  Verdict     none (TFTF); the suite ran to completion",
            "      0     0   106.12 ?  17.10 ?       5.26 ?",
            "      1     0   294.36 ?  15.60 ?       4.56 ?",
        ],
    );
}

#[test]
fn lost_records_are_named_in_text() {
    let mut lost = passed_log().to_owned();
    for kind in ["cell", "cpus"] {
        let (old, new) = (format!(" {{\"{kind}\":"), format!(" {{\"{kind}!\":"));
        lost = lost.replacen(&old, &new, 2);
    }
    let mut report = read(&lost);
    report.runs[0].run.scenarios.truncate(2);
    assert_lines(
        &written(&report, "text"),
        &[
            "warning: record 0003 lost",
            "warning: made-up labels (65535.N) for 4 CPUs whose record was lost",
            "  Integrity   59 of 62 records",
            "  65535     2        n/a     n/a          n/a",
            "  65535     3      20.80    0.80        10.40",
            "  * No findings: 2 records of test_rt_instr_susp_deep_parallel are lost.",
            "  * No findings: the records of 4 CPUs are lost.",
        ],
    );
}

/// Returns a run with a scenario that failed, one that was skipped, and one that passed without one
/// of its rows.
fn not_passed() -> Report {
    edited(|run| {
        run.scenarios.truncate(4);
        run.scenarios.remove(1);
        run.scenarios[0].status = Status::Failed(Failure::TooFewSamples {
            cpu: 1.into(),
            valid: 1,
            requested: 2,
        });
        run.scenarios[1].status = Status::Skipped(Skip::NoIdleState);
        run.scenarios[1].cells.clear();
        run.scenarios[2].cells[2].skipped = Some(Skip::NoHelper);
    })
}

#[test]
fn every_format() {
    assert_report("not-passed.txt", &written(&not_passed(), "text"));
    for (format, name) in [
        ("md", "short.md"),
        ("rst", "short.rst"),
        ("csv", "short.csv"),
        ("junit", "short.xml"),
    ] {
        assert_report(name, &written(&short(), format));
    }
    // All scenarios are copies of one scenario, and all CPUs are copies of one CPU.
    for (cpus, format, name) in [(2, "html", "short.html"), (1, "json", "short.json")] {
        let mut report = short();
        let run = &mut report.runs[0].run;
        run.scenarios.remove(1);
        for scenario in &mut run.scenarios {
            let cells_per_cpu = if scenario.id.is_suite() { 1 } else { 2 };
            scenario.cells.truncate(cells_per_cpu * cpus);
        }
        run.cpus.truncate(2 * cpus);
        assert_report(name, &written(&report, format));
    }
}

/// The lines of best fit agree with the findings, both for the suite and for steps.
#[test]
fn lines_of_best_fit_are_where_figures_grow() {
    for (grows, powerdown) in [(true, [1000, 1100, 1200]), (false, [1200, 1000, 1100])] {
        let mut suite = edited(|run| run.scenarios.truncate(1));
        // The timestamps, and therefore the order, are unchanged.
        let cells = suite.runs[0].run.scenarios[0].cells.iter_mut();
        for (cell, ticks) in cells.zip(powerdown) {
            cell.set_figure(Metric::Powerdown, Some(ticks));
        }
        let steps = edited(|run| {
            use_steps(run, 100);
            for cell in run.scenarios[1].cells.iter_mut().filter(|_| !grows) {
                cell.step.value = cell.step.value.map(|value| 6 - value);
            }
        });
        for (report, word) in [
            (suite, "No visible lock queue"),
            (steps, "No visible contention"),
        ] {
            let page = written(&report, "html");
            assert_eq!(page.contains("<path class=\"fit\""), grows, "{word}");
            assert_eq!(page.contains(word), !grows, "{word}");
        }
    }
}
