//! Runs each check on its fuzzer's seeds and on mutations of the seeds, which are the same in every
//! run. The fuzzers find more bugs, because they favor inputs that increase coverage, but these
//! tests find obvious mistakes within seconds and need no special build.

use std::fs;
use std::path::{Path, PathBuf};

use fuzz::TARGETS;
use suite::record::{FORMAT, MARK, Record, RecordLine, pieces};
use test_support::mutations::Mutations;

/// The total size of a check's mutated inputs, in bytes. The run time is proportional to this size.
const BYTES: usize = 1 << 22;
/// The limit for `uart_log`, which is slower because it writes reports in all formats.
const BYTES_OF_LOGS: usize = 1 << 19;
fn package() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn run_mutations(name: &str, total: usize) {
    let mut targets = TARGETS.iter();
    let (_, check) = targets
        .find(|(target_name, _)| *target_name == name)
        .expect("a target");
    let [seeds, dictionary] = ["seeds", "dictionaries"].map(|part| package().join(part).join(name));
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.input"));
    Mutations::read(&seeds, &dictionary).run(*check, total, &kept);
}

#[test]
fn fip_survives_mutations() {
    run_mutations("fip", BYTES);
}

#[test]
fn device_tree_survives_mutations() {
    run_mutations("device_tree", BYTES);
}

#[test]
fn user_tree_survives_mutations() {
    run_mutations("user_tree", BYTES);
}

#[test]
fn acpi_survives_mutations() {
    run_mutations("acpi", BYTES);
}

#[test]
fn uart_log_survives_mutations() {
    run_mutations("uart_log", BYTES_OF_LOGS);
}

#[test]
fn board_toml_survives_mutations() {
    run_mutations("board_toml", BYTES);
}

#[test]
fn image_survives_mutations() {
    run_mutations("image", BYTES);
}

#[test]
fn every_target_is_tested_and_has_a_fuzzer() {
    let names = TARGETS.map(|(name, _)| name);
    let folder = package().join("fuzz_targets");
    for name in names {
        assert!(folder.join(format!("{name}.rs")).is_file(), "{name}");
    }
    assert_eq!(fs::read_dir(folder).expect("fuzzers").count(), names.len());
    let tests = include_str!("mutations.rs");
    for name in names {
        assert!(
            tests.contains(&format!("run_mutations(\"{name}\", ")),
            "{name}"
        );
    }
}

/// A parser stops immediately at a record in a different format.
#[test]
fn seeds_contain_records_in_the_current_format() {
    for name in ["pass", "short", "absurd"] {
        let path = package().join(format!("seeds/uart_log/{name}.log"));
        let log = fs::read(path).expect("a seed");
        let pieces = log.split(|byte| *byte == b'\n').flat_map(pieces);
        let sound = pieces
            .filter_map(RecordLine::parse)
            .filter(RecordLine::is_sound);
        let read: Vec<_> = sound.filter_map(|claim| claim.record()).collect();
        let marks = String::from_utf8_lossy(&log).matches(MARK).count();
        assert_eq!(read.len(), marks, "{name}");
        let is_head = matches!(&read[0], Record::Run(run) if run.format == FORMAT);
        assert!(is_head, "{name}");
    }
}
