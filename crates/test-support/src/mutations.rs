//! Runs a check on seeds and on mutations of the seeds, which are the same in every run.

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;

use fastrand::Rng;

/// The maximum length of a mutated input, in bytes.
const INPUT_MAX: usize = 1 << 14;
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

/// The seeds of a check, and the words that mutations insert.
pub struct Mutations {
    seeds: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
}

impl Mutations {
    /// Reads the files in the folder `seeds`, and a dictionary for libFuzzer if there is one.
    pub fn read(seeds: &Path, dictionary: &Path) -> Self {
        let entries = fs::read_dir(seeds).expect("a folder of seeds");
        let mut paths: Vec<_> = entries
            .map(|entry| entry.expect("an entry").path())
            .collect();
        paths.sort_unstable();
        let text = fs::read_to_string(dictionary).unwrap_or_default();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let quoted = lines.filter_map(|line| line.trim().strip_prefix('"')?.strip_suffix('"'));
        Self {
            seeds: paths
                .iter()
                .map(|path| fs::read(path).expect("a seed"))
                .collect(),
            words: quoted.map(unescaped).collect(),
        }
    }

    /// Runs `check` on the seeds and on mutations of `total` bytes. If it panics, keeps the input at
    /// `kept` and prints that path.
    pub fn run(&self, check: fn(&[u8]), total: usize, kept: &Path) {
        assert!(!self.seeds.is_empty(), "no seeds");
        for seed in &self.seeds {
            run_check(check, seed, kept);
        }
        let mut random = Rng::with_seed(1);
        let mut bytes = 0;
        let mut inputs = 0;
        while bytes < total && inputs < INPUTS {
            let mut input = random.choice(&self.seeds).expect("a seed").clone();
            for _ in 0..=random.usize(..4) {
                mutate(&mut input, &mut random, &self.words, &self.seeds);
            }
            run_check(check, &input, kept);
            bytes += input.len();
            inputs += 1;
        }
    }
}

fn run_check(check: fn(&[u8]), input: &[u8], kept: &Path) {
    if let Err(panic) = panic::catch_unwind(AssertUnwindSafe(|| check(input))) {
        fs::write(kept, input).expect("the input is kept");
        eprintln!("the input is in {}", kept.display());
        panic::resume_unwind(panic);
    }
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
