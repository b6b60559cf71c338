//! Uses third-party parsers to check the formats meant for other programs, and tests which reports
//! are rejected.

use report::export;
use report::synthetic_run::{edited_log, passed_log};
use suite::measure::{Instant, Metric};
use suite::model::{Failure, Sample, Skip, Status};

use super::{read, try_written, written};
use crate::support::scratch_of_reports;

/// The junit-parser crate parses the output.
#[test]
fn junit() {
    let mut report = read(passed_log());
    let run = &mut report.runs[0].run;
    let head = run.head.as_mut().expect("a head");
    head.model = "a <board> & \"quotes\"\u{1b}[0m".to_owned();
    run.scenarios[0].status = Status::Failed(Failure::TooFewSamples {
        cpu: 1.into(),
        valid: 1,
        requested: 2,
    });
    run.scenarios[1].status = Status::Skipped(Skip::NoIdleState);
    run.scenarios[2].status = Status::Unknown;
    let bytes = written(&report, "junit");
    let parsed = junit_parser::from_reader(bytes.as_bytes()).expect("JUnit XML");
    let [suite] = parsed.suites.as_slice() else {
        panic!("{} suites", parsed.suites.len());
    };
    assert_eq!((parsed.tests, parsed.failures, parsed.errors), (6, 1, 1));
    assert_eq!((suite.tests, suite.failures, suite.errors), (6, 1, 1));
    assert_eq!(suite.skipped, 1);
    let name = &suite.name;
    assert!(name.starts_with("a <board> & \"quotes\""), "{name}");
    let cases = &suite.cases;
    let failure = cases[0].status.failure_as_ref();
    let message = "CPU 0.1 has too few valid samples: 1 of 2, less than 90 %";
    assert_eq!(failure.failure_type, "too-few-samples");
    assert_eq!(failure.message, message);
    let skipped = cases[1].status.skipped_as_ref();
    assert_eq!(skipped.skipped_type, "no-idle-state");
    let error = cases[2].status.error_as_ref();
    assert_eq!(
        error.message,
        "the log does not show how the scenario ended"
    );
    assert!(cases[3].status.is_success() && cases[5].status.is_success());
}

/// Published tables have no closing line, but this does not make them incomplete.
#[test]
fn junit_of_tables() {
    let scratch = scratch_of_reports(passed_log());
    for (verb, expected) in [("report", 0), ("compare published/juno/v2.12", 1)] {
        let line = format!("{verb} published/juno/v2.13 --format junit -o out.xml");
        scratch.assert_outcomes(&[(&line, expected, "")]);
        let bytes = scratch.read("out.xml");
        let parsed = junit_parser::from_reader(bytes.as_slice()).expect("JUnit XML");
        assert_eq!((parsed.errors, parsed.failures > 0), (0, expected == 1));
        let cases = parsed.suites[0].cases.iter();
        assert!(cases.filter(|case| case.status.is_success()).count() >= 6);
    }
}

/// A board name from a log ends up in terminals, spreadsheets and compilers.
#[test]
fn boards_name_is_printable() {
    let log = edited_log(|run| {
        run.head.as_mut().expect("a head").model = "a\u{1b}[2J\u{9b}\u{b5}\n*/".to_owned();
        run.scenarios.truncate(1);
    });
    let tftf = "NOTICE:  Booting trusted firmware test framework\r\n  Board      : a\u{9b}\u{b5}\r\n\
        > Executing 'CPU suspend on all cores in sequence'\r\n\
        <RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t0\t100\t200\t300/>\r\n";
    let runs = [read(&log), read(tftf)];
    for format in export::ALL {
        for report in &runs {
            let Ok(text) = try_written(report, format.name) else {
                continue;
            };
            let is_odd = |c: char| c.is_control() && c != '\n' || "\u{b5}\u{fffd}".contains(c);
            assert!(!text.contains(is_odd), "{}: {text}", format.name);
        }
    }
    assert_eq!(runs[0].runs[0].board(), Some("a?[2J?? */"));
}

/// Any figure may occur in a valid record.
#[test]
fn no_figure_is_too_large() {
    let extremes = [i64::MIN + 1, -1, 0, 1, i64::MAX];
    let bases = [0, 1, u64::MAX / 2, u64::MAX];
    for hz in [1_000, 62_500_000, 10_000_000_000, 0] {
        for (place, extreme) in extremes.into_iter().enumerate() {
            let mut report = read(passed_log());
            let run = &mut report.runs[0].run;
            run.facts.as_mut().expect("facts").frequency = hz;
            let most = extreme.unsigned_abs();
            for cell in run
                .scenarios
                .iter_mut()
                .flat_map(|scenario| &mut scenario.cells)
            {
                let cpu = cell.cpu.index();
                let mut samples: Vec<Sample> = cell.samples.iter().collect();
                let all = samples.iter_mut().map(|sample| &mut sample.instants);
                for instants in cell.shown.iter_mut().chain(all) {
                    instants.base = bases[(place + cpu) % bases.len()];
                    for (nth, instant) in Instant::ALL.into_iter().enumerate() {
                        let ticks = if nth % 3 == 0 {
                            extreme
                        } else {
                            extremes[(place + nth * cpu) % extremes.len()]
                        };
                        instants.set(instant, ticks);
                    }
                }
                cell.samples = samples.into_iter().collect();
                cell.set_figure(Metric::Powerdown, Some(most.saturating_mul(2)));
                for series in &mut cell.series {
                    series.cold = Some(most.saturating_mul(2));
                    (series.summary.max, series.summary.mad) = (u64::MAX, most);
                }
            }
            for format in export::ALL {
                // The report may be written or rejected, but must not cause a panic.
                if let Ok(text) = try_written(&report, format.name) {
                    assert!(!text.contains("NaN"), "{}", format.name);
                }
            }
        }
    }
}
