//! Runs each check on its fuzzer's seeds and on mutations of the seeds, which are the same in every
//! run. The fuzzers find more bugs, because they favor inputs that increase coverage, but these
//! tests find obvious mistakes within seconds and need no special build.

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};

use fastrand::Rng;
use fuzz::{Check, TARGETS};
use suite::record::{FORMAT, MARK, Record, RecordLine, pieces};

/// The maximum length of a mutated input, in bytes.
const INPUT_MAX: usize = 1 << 14;
/// The total size of a check's mutated inputs, in bytes. The run time is proportional to this size.
const BYTES: usize = 1 << 22;
/// The limit for `uart_log`, which is slower because it writes reports in all formats.
const BYTES_OF_LOGS: usize = 1 << 19;
/// The maximum number of mutated inputs for each check.
const INPUTS: usize = 20_000;

/// Boundary values.
const BORDERS: [u64; 8] = [
    0,
    1,
    0x7f,
    0xff,
    0x7fff_ffff,
    0xffff_ffff,
    i64::MAX as u64,
    u64::MAX,
];

fn package() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns a target's seeds, sorted by name.
fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = package().join("seeds").join(name);
    let entries = fs::read_dir(&folder).expect("a folder of seeds");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort_unstable();
    let files = paths.iter().map(|path| fs::read(path).expect("a seed"));
    files.collect()
}

/// Returns the entries in a target's dictionary, or none if the target has no dictionary.
fn words(name: &str) -> Vec<Vec<u8>> {
    let Ok(text) = fs::read_to_string(package().join("dictionaries").join(name)) else {
        return Vec::new();
    };
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let quoted = lines.filter_map(|line| line.trim().strip_prefix('"')?.strip_suffix('"'));
    quoted.map(unescaped).collect()
}

/// Returns the bytes of a dictionary entry, with `\xNN`, `\"` and `\\` unescaped.
fn unescaped(word: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = word.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'x') => {
                let digits: String = rest.by_ref().take(2).map(char::from).collect();
                bytes.push(u8::from_str_radix(&digits, 16).expect("two digits"));
            }
            other => bytes.extend(other),
        }
    }
    bytes
}

/// Changes `input` in one place.
fn mutate(input: &mut Vec<u8>, random: &mut Rng, words: &[Vec<u8>], seeds: &[Vec<u8>]) {
    let place = random.usize(..=input.len());
    let rest = input.len() - place;
    let some = random.usize(..=rest.min(64));
    match random.usize(..8) {
        0 if rest > 0 => input[place] ^= 1 << random.usize(..8),
        1 if rest > 0 => input[place] = random.u8(..),
        2 => drop(input.drain(place..place + some)),
        3 => {
            let again = input[place..place + some].to_vec();
            input.splice(place..place, again);
        }
        4 if !words.is_empty() => {
            let word = random.choice(words).expect("a word").clone();
            let over = some.min(word.len()) * random.usize(..2);
            input.splice(place..place + over, word);
        }
        5 => {
            let other = random.choice(seeds).expect("a seed");
            let from = random.usize(..=other.len());
            let end = (from + random.usize(..256)).min(other.len());
            input.splice(place..place + some, other[from..end].iter().copied());
        }
        6 => {
            let value = *random.choice(&BORDERS).expect("a value");
            let size = 8 >> random.usize(..4);
            let bytes = match random.usize(..3) {
                0 => value.to_string().into_bytes(),
                1 => value.to_be_bytes()[8 - size..].to_vec(),
                _ => value.to_le_bytes()[..size].to_vec(),
            };
            let over = bytes.len().min(rest);
            input.splice(place..place + over, bytes);
        }
        _ => input.truncate(input.len() - random.usize(..=rest.min(64))),
    }
    input.truncate(INPUT_MAX);
}

/// Runs a check. If the check panics, keeps the input and prints its path.
fn run(name: &str, check: Check, input: &[u8]) {
    if let Err(panic) = panic::catch_unwind(AssertUnwindSafe(|| check(input))) {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.input"));
        fs::write(&path, input).expect("the input is kept");
        eprintln!("{name}: the input is in {}", path.display());
        panic::resume_unwind(panic);
    }
}

fn run_mutations(name: &str, total: usize) {
    let mut targets = TARGETS.iter();
    let (_, check) = targets
        .find(|(target_name, _)| *target_name == name)
        .expect("a target");
    let seeds = seeds(name);
    let words = words(name);
    assert!(!seeds.is_empty(), "{name}: no seeds");
    for seed in &seeds {
        run(name, *check, seed);
    }
    let mut random = Rng::with_seed(1);
    let mut bytes = 0;
    let mut inputs = 0;
    while bytes < total && inputs < INPUTS {
        let mut input = random.choice(&seeds).expect("a seed").clone();
        for _ in 0..=random.usize(..4) {
            mutate(&mut input, &mut random, &words, &seeds);
        }
        run(name, *check, &input);
        bytes += input.len();
        inputs += 1;
    }
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
