//! A device tree as a list of tokens, for tests and fuzzers. A [`Blob`] can be edited into a
//! malformed tree, which the writers in other crates never produce.
//!
//! The crate does not check or interpret trees.
//!
//! ```
//! use fdt_blob::{Blob, BlobToken};
//!
//! let mut tree = Blob {
//!     tokens: vec![BlobToken::Begin(String::new()), BlobToken::End],
//!     ..Blob::default()
//! };
//! tree.add_text(b"model \"Example\n+cpus\n#address-cells 2");
//! assert_eq!(Blob::read(&tree.write()).tokens, tree.tokens);
//!
//! // A cell is four bytes. A reader must reject this one, which has three.
//! let cell = tree.value("cpus", "#address-cells").expect("added above");
//! assert_eq!(cell.pop(), Some(2));
//! assert_eq!(tree.value("cpus", "#address-cells"), Some(&mut vec![0, 0, 0]));
//! ```

#![forbid(unsafe_code)]

use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::{Node as _, Property as _};

/// A token in the structure block (Devicetree Specification v0.4, section 5.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlobToken {
    /// The start of a node, with its name.
    Begin(String),
    /// A property, with its name and value.
    Property(String, Vec<u8>),
    /// The end of a node.
    End,
}

/// A tree whose tokens can be changed.
#[derive(Clone, Debug, Default)]
pub struct Blob {
    /// The structure block.
    pub tokens: Vec<BlobToken>,
    /// Base and size of each memory reservation.
    pub reservations: Vec<(u64, u64)>,
}

impl Blob {
    /// Reads a well-formed tree without memory reservations.
    pub fn read(blob: &[u8]) -> Self {
        let mut tree = Self::default();
        tree.add(&Fdt::new_unchecked(blob).root());
        tree
    }

    fn add(&mut self, node: &FdtNode<'_>) {
        self.tokens.push(BlobToken::Begin(node.name().to_owned()));
        for property in node.properties() {
            let (name, value) = (property.name().to_owned(), property.value().to_vec());
            self.tokens.push(BlobToken::Property(name, value));
        }
        for child in node.children() {
            self.add(&child);
        }
        self.tokens.push(BlobToken::End);
    }

    /// Returns the index just past the last token of the node that starts at `begin`.
    pub fn end(&self, begin: usize) -> usize {
        let mut depth = 0usize;
        for (at, token) in self.tokens.iter().enumerate().skip(begin) {
            match token {
                BlobToken::Begin(_) => depth += 1,
                BlobToken::End => depth = depth.saturating_sub(1),
                BlobToken::Property(..) => {}
            }
            if depth == 0 {
                return at + 1;
            }
        }
        self.tokens.len()
    }

    /// Returns the value of the first property called `name` after the start of the first node
    /// called `node`.
    pub fn value(&mut self, node: &str, name: &str) -> Option<&mut Vec<u8>> {
        let is_node = |token: &BlobToken| matches!(token, BlobToken::Begin(it) if it == node);
        let begin = self.tokens.iter().position(is_node)?;
        let mut properties = self.tokens.iter_mut().skip(begin);
        properties.find_map(|token| match token {
            BlobToken::Property(it, value) if it == name => Some(value),
            _ => None,
        })
    }

    /// Adds the nodes and properties listed in `text`, one per line, to the root, after its last
    /// child:
    ///
    /// ```text
    /// !80000000 1000              memory reservation: base, size
    /// compatible "a,b "c          property: strings
    /// reg 0 9000000 .0a           property: cells, a byte
    /// +cpus                       starts a child of the current node
    /// -                           ends the current node
    /// ```
    ///
    /// All numbers are hexadecimal, and a missing number counts as 0. A string ends at the next
    /// quotation mark or at the end of the line. The tree stays well-formed for any `text`.
    pub fn add_text(&mut self, text: &[u8]) {
        self.tokens.pop();
        let mut depth = 1;
        for line in text.split(|byte| *byte == b'\n') {
            match line.split_first() {
                None => {}
                Some((b'+', name)) => {
                    self.tokens.push(BlobToken::Begin(text_before_nul(name)));
                    depth += 1;
                }
                // The root must stay open until the text ends.
                Some((b'-', _)) if depth == 1 => {}
                Some((b'-', _)) => {
                    self.tokens.push(BlobToken::End);
                    depth -= 1;
                }
                Some((b'!', numbers)) => {
                    let mut words = numbers.split(|byte| *byte == b' ').map(number);
                    let mut next = || words.next().unwrap_or(0);
                    self.reservations.push((next(), next()));
                }
                Some(_) => {
                    let end = line.iter().position(|byte| *byte == b' ');
                    let (name, rest) = line.split_at(end.unwrap_or(line.len()));
                    let property = BlobToken::Property(text_before_nul(name), value(rest));
                    self.tokens.push(property);
                }
            }
        }
        self.tokens.extend((0..depth).map(|_| BlobToken::End));
    }

    /// Returns the flattened tree (section 5).
    pub fn write(&self) -> Vec<u8> {
        let (mut structure, mut strings) = (Vec::new(), Vec::new());
        for token in &self.tokens {
            match token {
                BlobToken::Begin(name) => {
                    structure.extend(cells(&[1]));
                    structure.extend(name.bytes().chain([0]));
                }
                BlobToken::Property(name, value) => {
                    structure.extend(cells(&[3, value.len() as u32, strings.len() as u32]));
                    structure.extend(value);
                    strings.extend(name.bytes().chain([0]));
                }
                BlobToken::End => structure.extend(cells(&[2])),
            }
            structure.resize(structure.len().next_multiple_of(4), 0);
        }
        structure.extend(cells(&[9]));
        let reservations = self.reservations.iter().chain([&(0, 0)]);
        let map: Vec<u8> = reservations
            .flat_map(|(base, size)| [base.to_be_bytes(), size.to_be_bytes()].concat())
            .collect();
        let structure_at = 40 + map.len() as u32;
        let strings_at = structure_at + structure.len() as u32;
        let (structure_size, strings_size) = (structure.len() as u32, strings.len() as u32);
        let total = strings_at + strings_size;
        let mut blob = cells(&[0xd00d_feed, total, structure_at, strings_at, 40, 17, 16, 0]);
        blob.extend(cells(&[strings_size, structure_size]));
        [blob, map, structure, strings].concat()
    }
}

/// Returns the cells as big-endian bytes.
pub fn cells(cells: &[u32]) -> Vec<u8> {
    cells.iter().flat_map(|cell| cell.to_be_bytes()).collect()
}

/// Returns the part of `bytes` before the first `end`.
fn before(bytes: &[u8], end: u8) -> &[u8] {
    bytes
        .split(|byte| *byte == end)
        .next()
        .expect("split always returns at least one part")
}

fn text_before_nul(bytes: &[u8]) -> String {
    String::from_utf8_lossy(before(bytes, 0)).into_owned()
}

/// Converts a property value from text to bytes.
fn value(mut text: &[u8]) -> Vec<u8> {
    let mut value = Vec::new();
    while let Some((first, rest)) = text.split_first() {
        let (word, length) = match first {
            b' ' => (&rest[..0], 1),
            b'"' => (before(rest, b'"'), 2),
            b'.' => (before(rest, b' '), 1),
            _ => (before(text, b' '), 0),
        };
        match first {
            b' ' => {}
            b'"' => value.extend(word.iter().chain([&0])),
            b'.' => value.push(number(word) as u8),
            _ => value.extend((number(word) as u32).to_be_bytes()),
        }
        text = text.get(word.len() + length..).unwrap_or(&[]);
    }
    value
}

/// Parses hexadecimal digits, skipping other characters.
fn number(digits: &[u8]) -> u64 {
    let digits = digits
        .iter()
        .filter_map(|byte| char::from(*byte).to_digit(16));
    digits.fold(0, |number, digit| number << 4 | u64::from(digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_that_a_reservation_leaves_out_is_0() {
        let mut blob = Blob {
            tokens: vec![BlobToken::Begin(String::new()), BlobToken::End],
            ..Blob::default()
        };
        blob.add_text(b"!1000 20\n!1000\n!");
        assert_eq!(blob.reservations, [(0x1000, 0x20), (0x1000, 0), (0, 0)]);
    }
}
