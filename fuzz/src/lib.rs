//! Device trees out of text, for the fuzz targets.
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

use std::fmt::Display;

use xtask::soak::boot_fuzz::blob::{Blob, Token};

const MAGIC: u32 = 0xd00d_feed;

/// Returns what succeeded; an error has to have a text.
pub fn worded<T, E: Display>(result: Result<T, E>) -> Option<T> {
    let checked = result.map_err(|error| assert!(!format!("{error:#}").is_empty()));
    checked.ok()
}

/// Returns the trees that `data` stands for. A blob is one as it is, and one with a
/// `totalsize` that agrees with its length, which a mutation seldom leaves right.
pub fn trees(data: &[u8]) -> Vec<Vec<u8>> {
    if !data.starts_with(&MAGIC.to_be_bytes()) {
        return vec![data.to_vec(), tree(data)];
    }
    let mut resized = data.to_vec();
    if let Some(field) = resized.get_mut(4..8) {
        field.copy_from_slice(&(data.len() as u32).to_be_bytes());
    }
    let mut trees = vec![data.to_vec(), resized];
    trees.dedup();
    trees
}

/// Returns the tree that `text` stands for.
fn tree(text: &[u8]) -> Vec<u8> {
    let begin = |name: &[u8]| Token::Begin(text_before_nul(name));
    let mut depth = 1;
    let mut blob = Blob {
        tokens: vec![begin(b"")],
        reservations: Vec::new(),
    };
    for line in text.split(|byte| *byte == b'\n') {
        match line.split_first() {
            None => {}
            Some((b'+', name)) => {
                blob.tokens.push(begin(name));
                depth += 1;
            }
            // The root ends with the text.
            Some((b'-', _)) if depth > 1 => {
                blob.tokens.push(Token::End);
                depth -= 1;
            }
            Some((b'-', _)) => {}
            Some((b'!', numbers)) => {
                let mut words = numbers.split(|byte| *byte == b' ').map(number);
                let mut next = || words.next().unwrap_or_default();
                blob.reservations.push((next(), next()));
            }
            Some(_) => {
                let end = line.iter().position(|byte| *byte == b' ');
                let (name, rest) = line.split_at(end.unwrap_or(line.len()));
                blob.tokens
                    .push(Token::Property(text_before_nul(name), value(rest)));
            }
        }
    }
    blob.tokens.extend((0..depth).map(|_| Token::End));
    blob.write()
}

/// Returns `bytes` up to the first `end`.
fn before(bytes: &[u8], end: u8) -> &[u8] {
    bytes.split(|byte| *byte == end).next().unwrap_or_default()
}

fn text_before_nul(bytes: &[u8]) -> String {
    String::from_utf8_lossy(before(bytes, 0)).into_owned()
}

/// Returns the bytes of a property's value.
fn value(mut text: &[u8]) -> Vec<u8> {
    let mut value = Vec::new();
    while let Some((first, rest)) = text.split_first() {
        text = match first {
            b' ' => rest,
            b'"' => {
                let string = before(rest, b'"');
                value.extend(string);
                value.push(0);
                rest.get(string.len() + 1..).unwrap_or_default()
            }
            b'.' => {
                let word = before(rest, b' ');
                value.push(number(word) as u8);
                rest.get(word.len()..).unwrap_or_default()
            }
            _ => {
                let word = before(text, b' ');
                value.extend((number(word) as u32).to_be_bytes());
                text.get(word.len()..).unwrap_or_default()
            }
        };
    }
    value
}

/// Returns the number in hexadecimal digits; other characters are skipped.
fn number(digits: &[u8]) -> u64 {
    let digits = digits
        .iter()
        .filter_map(|byte| char::from(*byte).to_digit(16));
    digits.fold(0, |number, digit| (number << 4) | u64::from(digit))
}
