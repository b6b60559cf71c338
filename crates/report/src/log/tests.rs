//! Logs recorded in different ways or with different parts missing.

use suite::measure::Metric;
use suite::model::{Cell, Failure, Run, RunId, Scenario, Skip, Status, Verdict};
use suite::plan::{Method, Records, ScenarioId};
use suite::record::{FORMAT, MARK};

use super::logged_run::LoggedRun;
use super::reader::read_bytes;
use crate::analysis::findings::findings;
use crate::synthetic_run;

mod boot;
mod completeness;
mod pages;
pub(super) mod prefixes;

pub(super) const TFTF: &str = "NOTICE:  BL31: v2.12.0(release):v2.12.0\nNOTICE:  BL31: Built : 1:2:3, Nov 20 2024\n\
    NOTICE:  Booting trusted firmware test framework\nNOTICE:  Running at NS-EL2\n\
    > Executing 'CPU suspend on all cores in sequence'\n\
    <RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t0\t106120\t17100\t5260/>\n\
    <RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t1\t106880\t17060\t5280/>\n\
    <RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t0\t106900\t17020\t5290/>\n\
    <RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t1\t106910\t17030\t5290/>\n\
    \x20 TEST COMPLETE                                                 Passed\n\
    > Executing 'PSCI version call on all cores in parallel'\n\
    <RT_INSTR:test_rt_instr_psci_version_parallel\t0\t0\t1000/>\n\
    <RT_INSTR:test_rt_instr_psci_version_parallel\t0\t1\t1001/>\n\
    <RT_INSTR:test_rt_instr_psci_version_parallel\t0\t0\t1002/>\n\
    <RT_INSTR:test_rt_instr_psci_version_parallel\t0\t1\t1002/>\n\
    \x20 TEST COMPLETE                                                 Failed\n\
    > Executing 'Later'\n<RT_INSTR:test_rt_instr_later_serial\t0\t0\t01\t02\t03/>\n\
    \x20 TEST COMPLETE                                                 Passed\n\
    Tests Passed  : 2\nTests Failed  : 1\n";

pub(super) fn read_runs(log: impl AsRef<[u8]>) -> Vec<LoggedRun> {
    read_bytes("a.log", log.as_ref()).expect("there is a run")
}

pub(super) fn read_one(log: impl AsRef<[u8]>) -> LoggedRun {
    let mut runs = read_runs(log);
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

fn log_of(run: &Run) -> String {
    synthetic_run::log(run, Records::Once)
}

pub(super) fn whole_log() -> String {
    log_of(&synthetic_run::run())
}

/// Returns the run that the log contains. Its `end` record contains the number of records.
pub(super) fn sent() -> Run {
    let mut run = synthetic_run::run();
    let records = whole_log().matches(MARK).count();
    run.end.as_mut().expect("an end").records = records as u32;
    run
}

/// Returns the log, leaving out records for which `is_lost` returns true.
fn without(is_lost: impl Fn(&str) -> bool) -> String {
    let log = whole_log();
    let is_kept = |line: &&str| !line.starts_with(MARK) || !is_lost(line);
    log.split_inclusive('\n').filter(is_kept).collect()
}

#[test]
pub(super) fn whole_log_gives_the_run() {
    let logged = read_one(whole_log());
    assert_eq!(logged.run, sent());
    let integrity = &logged.integrity;
    let records = integrity.records.as_ref().expect("records");
    assert_eq!(records.expected, Some(records.received));
    assert!(logged.is_complete() && integrity.is_verified() && logged.doubts().is_empty());
    assert_eq!((integrity.rt_instr, integrity.rt_instr_wrong), (12, 0));
    assert_eq!(logged.firmware_version(), Some("v2.12.1(release):v2.12.1"));
    assert_eq!(logged.firmware.len(), 2);
    assert_eq!(logged.verdict(), Some(Verdict::Pass));
    assert_eq!(logged.board(), Some("QEMU virt"));
    assert_eq!(logged.payload_version(), Some("0.1.0"));
}

/// Returns a log with its lines wrapped as a terminal with `columns` columns would wrap them.
fn broken(log: &str, columns: usize) -> String {
    log.lines()
        .flat_map(|line| line.as_bytes().chunks(columns))
        .map(|part| format!("{}\r\n", String::from_utf8_lossy(part)))
        .collect()
}

#[test]
fn logs_of_all_kinds_read_alike() {
    let text = whole_log();
    let map_lines = |make: &dyn Fn(&str) -> String| -> String { text.lines().map(make).collect() };
    let wrap_lines = |form: &str| map_lines(&|line| form.replace('$', line));
    let yaml = |line: &str| {
        let message = serde_json::Value::from(line);
        let entry =
            |level| format!("- {{\"dt\": \"x\", \"lvl\": \"{level}\", \"msg\": {message}}}\n");
        entry("target") + &entry("debug")
    };
    let interrupt_line = |line: &str| {
        if line.starts_with("psci-bench: ") {
            format!("{line}\r\nINFO:    BL31: x\r\n")
        } else {
            format!("{line}NOTICE:  BL31: hello\r\n")
        }
    };
    let twice = synthetic_run::log(&synthetic_run::run(), Records::Twice);
    for (name, log) in [
        ("LF", wrap_lines("$\n")),
        ("CR", wrap_lines("$\r")),
        ("CR CR LF", wrap_lines("$\r\r\n")),
        ("LF CR", wrap_lines("$\n\r")),
        ("stamps", wrap_lines("[2026-01-02 10:11:12.345] $\r\n")),
        ("seconds", wrap_lines("[    7.234567] $\n")),
        ("colours", wrap_lines("\x1b[32m$\x1b[0m\r\n")),
        ("NUL", wrap_lines("\0$\0\r\n")),
        ("LAVA", map_lines(&yaml)),
        ("132 columns", broken(&text, 132)),
        ("glued", text.replace("\r\n@PB", "@PB")),
        ("firmware between", map_lines(&interrupt_line)),
        ("a bad copy", twice.replacen(" 0012 {", " 0012 [", 1)),
        ("twice", twice),
    ] {
        let logged = read_one(&log);
        assert_eq!(logged.run, sent(), "{name}");
        assert!(logged.is_complete(), "{name}: {:?}", logged.integrity);
        assert_eq!(logged.doubts(), [""; 0], "{name}");
        assert_eq!(logged.integrity.unverified_rows, 0, "{name}");
    }
}

fn scenario(logged: &LoggedRun, id: ScenarioId) -> &Scenario {
    logged.scenario(id, Method::Tftf).expect("it was measured")
}

/// If a record is lost, nothing else is affected, and the report identifies the record.
#[test]
fn lost_records_are_named_and_cost_themselves() {
    let serial = "{\"s\":\"cpu_susp_serial\"}";
    let row = "{\"cell\":[\"cpu_susp_serial\",1,".to_owned();
    let row_samples = format!("[{serial},1,");
    let last = "{\"scenario\":[{\"s\":\"cpu_susp_serial\"}";
    for (lost, shortfall) in [
        ("{\"run\":", "record 0000 lost"),
        ("{\"cpus\":", "record 0003 lost"),
        (
            "{\"end\":",
            "the end record is lost, so more may be missing",
        ),
        (
            "{\"cell\":[\"dirty_sweep\"",
            "record 0051 lost; record 0053 lost",
        ),
        (&row, "record 00"),
        (last, "record 00"),
    ] {
        let logged = read_one(without(|record| record.contains(lost)));
        let shortfalls = logged.integrity.shortfalls().join("; ");
        assert!(shortfalls.contains(shortfall), "{lost}: {shortfalls}");
        let run = &logged.run;
        let whole = sent();
        assert!(!logged.is_complete() && run.cpus.len() == 4, "{lost}");
        assert_eq!(run.scenarios.len(), whole.scenarios.len(), "{lost}");
        if lost == "{\"cpus\":" {
            assert_eq!(logged.integrity.guessed_cpus, 4);
            assert_eq!(logged.run.label(1.into()).to_string(), "65535.1");
            assert_eq!(logged.run.scenarios[2].cells, whole.scenarios[2].cells);
        }
    }
    // A line is not a substitute for a cell's records.
    let logged = read_one(without(|record| {
        record.contains(&row) || record.contains(&row_samples)
    }));
    assert!(
        scenario(&logged, ScenarioId::CPU_SUSPEND_SERIAL)
            .cell(1.into())
            .is_none()
    );
    let wrong = whole_log().replacen("serial\t0\t1\t", "serial\t0\t1\t9", 1);
    let logged = read_one(&wrong);
    assert_eq!(logged.run, sent());
    assert_eq!(
        (logged.is_complete(), logged.integrity.rt_instr_wrong),
        (false, 1)
    );
}

/// The other records can be verified without the record that identifies the payload and the board.
#[test]
fn log_without_the_headers_record_keeps_the_rest() {
    let whole = read_one(whole_log());
    let logged = read_one(without(|record| record.contains("{\"run\":")));
    let rest = Run {
        head: None,
        ..sent()
    };
    assert_eq!(logged.run, rest);
    assert_eq!(logged.lacks(), ["record 0000 lost"]);
    assert_eq!(logged.board(), Some("QEMU virt"));
    assert_eq!(logged.payload_version(), Some("0.1.0"));
    for scenario in &whole.run.scenarios {
        assert_eq!(findings(&logged, scenario), findings(&whole, scenario));
    }
}

#[test]
fn scenario_that_lacks_a_record_has_no_findings_and_is_named() {
    let whole = read_one(whole_log());
    let row = "{\"cell\":[\"cpu_susp_serial\",1,";
    let last = "{\"scenario\":[{\"s\":\"cpu_susp_serial\"}";
    for (lost, what) in [
        (&[row][..], "1 record of test_rt_instr_cpu_susp_serial is"),
        (
            &[row, "{\"sample\":[{\"s\":\"cpu_susp_serial\"},2,"],
            "3 records of test_rt_instr_cpu_susp_serial are",
        ),
        (
            &[last],
            "the last record of test_rt_instr_cpu_susp_serial is",
        ),
    ] {
        let logged = read_one(without(|record| {
            lost.iter().any(|lost_text| record.contains(lost_text))
        }));
        assert!(logged.lacks().contains(&format!("{what} lost")), "{what}");
        for (scenario, whole_one) in logged.run.scenarios.iter().zip(&whole.run.scenarios) {
            let findings_left = findings(&logged, scenario);
            if scenario.id == ScenarioId::CPU_SUSPEND_SERIAL {
                let sentences: Vec<&str> = findings_left
                    .iter()
                    .map(|finding| finding.sentence.as_str())
                    .collect();
                assert_eq!(sentences, [format!("No findings: {what} lost.")]);
            } else {
                assert_eq!(findings_left, findings(&whole, whole_one), "{what}");
            }
        }
    }
    // Without these records, the labels and durations of all scenarios would be wrong.
    for (lost, what) in [
        ("{\"facts\":", "the machine record is"),
        ("{\"cpus\":", "the records of 4 CPUs are"),
    ] {
        let logged = read_one(without(|record| record.contains(lost)));
        for scenario in &logged.run.scenarios {
            let findings_left = findings(&logged, scenario);
            let expected = format!("No findings: {what} lost.");
            assert_eq!(findings_left[0].sentence, expected);
            assert_eq!(findings_left.len(), 1);
        }
    }
}

/// Simulates two programs logging the same console to one file.
#[test]
fn log_with_each_line_doubled_is_one_run_with_a_note() {
    let log = whole_log();
    let doubled = log.split_inclusive('\n').flat_map(|line| [line, line]);
    let logged = read_one(doubled.collect::<String>());
    assert_eq!(logged.run, sent());
    assert!(logged.is_complete(), "{:?}", logged.lacks());
    let doubts = logged.doubts();
    assert_eq!(doubts.len(), 1);
    assert!(doubts[0].ends_with("lines repeated back to back; each counts once"));
}

#[test]
fn runs_are_split_at_boots() {
    let log = whole_log();
    let runs = read_runs(format!("{log}\r\nboard resets\r\n{log}"));
    assert_eq!(runs.len(), 2);
    assert!(
        runs.iter()
            .all(|logged| logged.is_complete() && logged.run == sent())
    );
    assert_eq!(runs[1].source.run_number, 2);
    assert!(runs[1].source.lines.0 > runs[0].source.lines.1);

    // Power fails at some point in the first run.
    for part in 1..40 {
        let at = log.len() * part / 40;
        let cut = [&log.as_bytes()[..at], b"\x00\xfe\r\n", log.as_bytes()].concat();
        let runs = read_runs(cut);
        let last = runs.last().expect("runs");
        assert!(last.is_complete() && last.run == sent(), "cut at {at}");
        assert!(runs.len() <= 2, "cut at {at}");
    }
    // The last line of the first run is lost, along with the firmware's banner.
    let headless = &log[log.find("> Executing").unwrap_or(0)..];
    let joined = log.replace("psci-bench: PASS", "psci-bench: PSS") + headless;
    assert_eq!(read_runs(joined).len(), 2);
}

#[test]
fn tftf_log_has_lines_alone() {
    let old_record = "@PB 0000 run format=1 cpus=2 fa22336c";
    let older = read_one(format!("{old_record}\n{TFTF}NOTICE:  Exiting tests.\n"));
    assert_eq!(older.lacks()[0], "1 record (@PB ...), none of them intact");
    let logged = read_one(format!("{TFTF}NOTICE:  Exiting tests.\n"));
    assert!(logged.is_complete() && !logged.integrity.is_verified());
    assert!(logged.integrity.records.is_none());
    assert_eq!(logged.integrity.unverified_rows, 8);
    assert_eq!(logged.exception_level(), Some(2));
    // Rows with the same labels are not treated as threads.
    assert_eq!((logged.run.cpus.len(), logged.run.threads()), (4, 1));
    let suspend = scenario(&logged, ScenarioId::CPU_SUSPEND_SERIAL);
    let cells = suspend.cells.iter();
    let ns: Vec<Option<u64>> = cells
        .map(|cell| logged.ns(cell.figure(Metric::Powerdown)?))
        .collect();
    assert_eq!(ns, [106_120, 106_880, 106_900, 106_910].map(Some));
    let version = scenario(&logged, ScenarioId::PSCI_VERSION_PARALLEL);
    assert_eq!(version.status, Status::Failed(Failure::NotStated));
    let doubts = logged.doubts().concat();
    assert!(doubts.contains("unknown to this version: test_rt_instr_later_serial"));
    assert!(
        logged
            .verdict_text()
            .contains("the suite ran to completion")
    );

    let line = "<RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t0\t106120\t17100\t5260/>\n";
    let cut = read_one(format!(
        "NOTICE:  Booting trusted firmware test framework\n{line}{line}"
    ));
    assert!(!cut.is_complete() && cut.lacks().concat().contains("Exiting tests."));
    assert_eq!((cut.run.cpus.len(), cut.run.threads()), (1, 1));
    assert_eq!(cut.integrity.rt_instr_repeated, 1);
}

#[test]
fn clock_is_unknown_without_facts() {
    let kinds = ["run", "facts", "plan", "end", "cpus", "identity"];
    let marks = kinds.map(|kind| format!(" {{\"{kind}\":"));
    let logged = read_one(without(|record| {
        marks.iter().any(|mark| record.contains(mark))
    }));
    assert_eq!((logged.ns(7), logged.unit()), (None, "ticks"));
    assert_eq!(logged.duration(7), "7");
    assert_eq!(logged.board(), Some("QEMU virt"));
    assert_eq!(logged.run.cpus.len(), 4);
    assert_eq!(read_one(whole_log()).duration(7), "0.11");
}

/// Returns the log with some records replaced, by sequence number. The new records have correct
/// checksums.
pub(super) fn with_records(log: &str, others: &[(&str, &str)]) -> String {
    let lines = log.lines().map(|line| {
        let run = line.get(..MARK.len() + RunId::DIGITS + 1).unwrap_or("");
        let replaces =
            |seq: &str| run.starts_with(MARK) && line.starts_with(&format!("{run}{seq} "));
        let Some((seq, json)) = others.iter().find(|(seq, _)| replaces(seq)) else {
            return format!("{line}\n");
        };
        let record = format!("{run}{seq} {json}");
        let crc = suite::crc::CRC_32.checksum(record.as_bytes());
        format!("{record} {crc:08x}\n")
    });
    lines.collect()
}

#[test]
fn log_without_a_run_is_refused_with_advice() {
    let message = |log: &[u8]| {
        let error = read_bytes("a.log", log).err();
        error.map_or(String::new(), |error| error.to_string())
    };
    let log = whole_log();
    let records = log.lines().filter(|line| line.starts_with(MARK));
    let wrong: String = records
        .map(|record| record.replace(':', ";") + "\n")
        .collect();
    let firmware = "NOTICE:  BL1: v2.12(release):x\r\nNOTICE:  BL31: v2.12(release):x\r\n";
    for (log, part) in [
        (&b""[..], "a.log: the log is empty"),
        (b"hello\r\nworld\r\n", "in its 2 lines (14 bytes)"),
        (b"hello\n", "in its 1 line (6 bytes): no records (@PB"),
        (wrong.as_bytes(), "none with a valid checksum"),
        (
            firmware.as_bytes(),
            "lines from firmware BL31 v2.12(release):x",
        ),
    ] {
        assert!(message(log).contains(part), "{}", message(log));
    }
}
