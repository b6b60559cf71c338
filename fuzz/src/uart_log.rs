//! UART logs: records and the statistics computed from them, the last line, the diagnosis of a run
//! without a last line, and reports in every format.

use std::time::Duration;

use follow::last_scenario;
use follow::stream::{MachineEnding, find_verdict};
use report::analysis::compare::{self, compare};
use report::analysis::typical::typical;
use report::export::{self, Report};
use report::log::read_bytes;
use runner::build::firmware_kind::FirmwareKind;
use runner::qemu::diagnosis::{Context, diagnose, explain_doubt, is_option_refused};
use runner::qemu::loader::FirmwareLoader;
use runner::qemu::machine_process::MachineResult;
use suite::crc::CRC_32;
use suite::model as verdict;
use suite::record::{MARK, RecordLine, RunBuilder, pieces};
use test_support::tree_text::accepted;

/// Checks one input.
pub fn check(data: &[u8]) {
    let repaired = with_checksums(data);
    for log in [data, &repaired] {
        records(log);
        diagnoses(log);
        reports(log);
    }
    let verdict = find_verdict(data);
    let lines = || data.split(|byte| *byte == b'\n');
    assert!(verdict.is_none() || lines().any(|line| verdict::parse_line(line) == verdict));
}

fn records(log: &[u8]) {
    let mut builder = RunBuilder::default();
    for piece in log.split(|byte| *byte == b'\n').flat_map(pieces) {
        let claim = RecordLine::parse(piece).filter(RecordLine::is_sound);
        if let Some(record) = claim.and_then(|claim| claim.record()) {
            builder.add_record(record);
        }
    }
    let _ = builder.finish();
}

/// Reports on the runs in `log` in every format.
fn reports(log: &[u8]) {
    let mut report = match read_bytes("log", log) {
        Ok(runs) => Report::from(runs),
        Err(error) => {
            assert!(error.to_string().starts_with("log: "));
            return;
        }
    };
    for logged in &report.runs {
        let _ = (logged.verdict(), logged.denied(), logged.doubts());
        assert!(!logged.verdict_text().is_empty());
        assert_eq!(logged.is_complete(), logged.lacks().is_empty());
        let cpus = logged.run.cpus.len();
        for scenario in &logged.run.scenarios {
            let mut cells = scenario.cells.iter();
            assert!(cells.all(|cell| cell.cpu.index() < cpus));
        }
        let Some(records) = &logged.integrity.records else {
            continue;
        };
        let missing: u64 = records.missing.iter().map(|gap| gap.count()).sum();
        if let Some(expected) = records.expected {
            assert_eq!(records.received + missing, expected);
        }
    }
    if !report.runs.is_empty() {
        accepted(typical(&report.runs));
    }
    // The first run serves as the baseline for all runs.
    if let Some(first) = report.runs.first() {
        let all = compare(&report.runs, first, &compare::Options::default());
        report.comparisons = accepted(all).unwrap_or_default();
    }
    for exporter in export::ALL {
        let mut out = Vec::new();
        // An exporter may reject the report, but its error must have a message.
        accepted(exporter.write(&report, &mut out));
        assert!(std::str::from_utf8(&out).is_ok());
    }
}

/// Returns `log` with a valid checksum on every line marked as a record. Mutations hardly
/// ever produce a valid checksum.
fn with_checksums(log: &[u8]) -> Vec<u8> {
    let mut repaired = Vec::new();
    for line in log.split(|byte| *byte == b'\n') {
        let line = line.trim_ascii_end();
        let end = line.iter().rposition(|byte| *byte == b' ');
        match end.and_then(|record_end| line.get(..record_end)) {
            Some(body) if line.starts_with(MARK.as_bytes()) => {
                repaired.extend(body);
                repaired.extend(format!(" {:08x}", CRC_32.checksum(body)).bytes());
            }
            _ => repaired.extend(line),
        }
        repaired.push(b'\n');
    }
    repaired
}

/// Diagnoses the log that follows the first byte, which selects the firmware and the ending.
fn diagnoses(data: &[u8]) {
    let Some((choice, log)) = data.split_first() else {
        return;
    };
    let firmware = [FirmwareKind::TfA, FirmwareKind::Builtin][usize::from(choice & 1)];
    let ending = match choice >> 1 & 7 {
        0 => MachineEnding::Interrupted,
        1 => MachineEnding::Parked,
        2 => MachineEnding::Exited { success: true },
        3 => MachineEnding::Exited { success: false },
        _ => MachineEnding::TimedOut,
    };
    let cpu = if choice & 0x10 == 0 { "max,a=b" } else { "x" };
    let outcome = MachineResult {
        log: log.to_vec(),
        stderr: String::from_utf8_lossy(log).into_owned(),
        ending,
        elapsed: Duration::ZERO,
    };
    let context = Context {
        loader: &FirmwareLoader,
        firmware,
        cpu,
        timeout: 1,
        image: log,
    };
    assert!(!diagnose(&outcome, &context).is_empty());
    let _ = is_option_refused(&outcome);
    let _ = explain_doubt(firmware, cpu);
    let text = String::from_utf8_lossy(log);
    if let Some(scenario) = last_scenario(&text) {
        assert!(text.contains(scenario));
    }
}
