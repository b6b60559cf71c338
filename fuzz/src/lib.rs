//! What the fuzz targets share: device trees out of text.
//!
//! Few mutations of a blob's bytes leave it sound, and what is behind the
//! reader's first check would hardly be reached. So an input that is no blob
//! is taken for text, out of which comes a tree that is sound in any case:
//!
//! ```text
//! !80000000 1000              memory reservation: base, size
//! compatible "a,b "c          property: strings
//! reg 0 9000000 .0a           property: cells, a byte
//! +cpus                       node within the last one
//! -                           its end
//! ```
//!
//! All numbers are hexadecimal. A string ends at the next quotation mark, or
//! with the line.

#![forbid(unsafe_code)]

use std::collections::HashMap;

const MAGIC: u32 = 0xd00d_feed;
const HEADER_SIZE: usize = 40;
const BEGIN_NODE: u32 = 1;
const END_NODE: u32 = 2;
const PROP: u32 = 3;
const END: u32 = 9;

/// The trees that `data` stands for. A blob is one as it is, and one with a
/// `totalsize` that agrees with its length: bytes that come or go leave it
/// wrong, and that is found out soon enough.
pub fn trees(data: &[u8]) -> Vec<Vec<u8>> {
    if !data.starts_with(&MAGIC.to_be_bytes()) {
        return vec![data.to_vec(), Writer::default().tree(data)];
    }
    let mut resized = data.to_vec();
    if let Some(field) = resized.get_mut(4..8) {
        field.copy_from_slice(&(data.len() as u32).to_be_bytes());
    }
    let mut trees = vec![data.to_vec(), resized];
    trees.dedup();
    trees
}

#[derive(Default)]
struct Writer<'d> {
    reservations: Vec<u8>,
    structure: Vec<u8>,
    strings: Vec<u8>,
    /// Where in `strings` the names are.
    places: HashMap<&'d [u8], u32>,
}

impl<'d> Writer<'d> {
    fn tree(mut self, text: &'d [u8]) -> Vec<u8> {
        let mut depth = 1;
        self.begin(b"");
        for line in text.split(|byte| *byte == b'\n') {
            match line.split_first() {
                None => {}
                Some((b'+', name)) => {
                    self.begin(name);
                    depth += 1;
                }
                // The root ends with the text.
                Some((b'-', _)) if depth > 1 => {
                    self.word(END_NODE);
                    depth -= 1;
                }
                Some((b'-', _)) => {}
                Some((b'!', numbers)) => self.reserve(numbers),
                Some(_) => self.property(line),
            }
        }
        for _ in 0..depth {
            self.word(END_NODE);
        }
        self.word(END);
        self.blob()
    }

    fn word(&mut self, word: u32) {
        self.structure.extend(word.to_be_bytes());
    }

    fn pad(&mut self) {
        let end = self.structure.len().next_multiple_of(4);
        self.structure.resize(end, 0);
    }

    fn begin(&mut self, name: &[u8]) {
        self.word(BEGIN_NODE);
        self.structure.extend(until(name, 0));
        self.structure.push(0);
        self.pad();
    }

    fn property(&mut self, line: &'d [u8]) {
        let name = until(line, b' ');
        let value = value(line.get(name.len()..).unwrap_or_default());
        let end = self.strings.len() as u32;
        let strings = &mut self.strings;
        let place = *self.places.entry(name).or_insert_with(|| {
            strings.extend(until(name, 0));
            strings.push(0);
            end
        });
        self.word(PROP);
        self.word(value.len() as u32);
        self.word(place);
        self.structure.extend(value);
        self.pad();
    }

    fn reserve(&mut self, numbers: &[u8]) {
        let mut words = numbers.split(|byte| *byte == b' ').map(number);
        for _ in 0..2 {
            let value = words.next().unwrap_or_default();
            self.reservations.extend(value.to_be_bytes());
        }
    }

    fn blob(mut self) -> Vec<u8> {
        self.reservations.extend([0; 16]);
        let structure = HEADER_SIZE + self.reservations.len();
        let strings = structure + self.structure.len();
        let size = strings + self.strings.len();
        let header = [
            MAGIC as usize,
            size,
            structure,
            strings,
            HEADER_SIZE,
            17,
            16,
            0,
            self.strings.len(),
            self.structure.len(),
        ];
        let mut blob: Vec<u8> = header
            .iter()
            .flat_map(|field| (*field as u32).to_be_bytes())
            .collect();
        blob.extend(self.reservations);
        blob.extend(self.structure);
        blob.extend(self.strings);
        blob
    }
}

/// What of `bytes` stands before the first `end`.
fn until(bytes: &[u8], end: u8) -> &[u8] {
    bytes.split(|byte| *byte == end).next().unwrap_or_default()
}

/// The bytes of a property's value.
fn value(mut text: &[u8]) -> Vec<u8> {
    let mut value = Vec::new();
    while let Some((first, rest)) = text.split_first() {
        text = match first {
            b' ' => rest,
            b'"' => {
                let string = until(rest, b'"');
                value.extend(string);
                value.push(0);
                rest.get(string.len() + 1..).unwrap_or_default()
            }
            b'.' => {
                let word = until(rest, b' ');
                value.push(number(word) as u8);
                rest.get(word.len()..).unwrap_or_default()
            }
            _ => {
                let word = until(text, b' ');
                value.extend((number(word) as u32).to_be_bytes());
                text.get(word.len()..).unwrap_or_default()
            }
        };
    }
    value
}

/// The number that hexadecimal digits are; other characters tell nothing.
fn number(digits: &[u8]) -> u64 {
    let digits = digits
        .iter()
        .filter_map(|byte| char::from(*byte).to_digit(16));
    digits.fold(0, |number, digit| (number << 4) | u64::from(digit))
}
