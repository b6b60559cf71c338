//! Builds device trees from text.
//!
//! Mutating a blob's bytes rarely leaves it valid, so the code behind the parser's first check
//! would hardly ever be reached. Input that is not a blob is therefore treated as text, from which
//! a valid tree is built. The text lists nodes and properties, one per line:
//!
//! ```text
//! !80000000 1000              memory reservation: base, size
//! compatible "a,b "c          property: strings
//! reg 0 9000000 .0a           property: cells, a byte
//! +cpus                       starts a child of the current node
//! -                           ends the current node
//! ```
//!
//! All numbers are hexadecimal, and a missing number counts as 0. A string ends at the next
//! quotation mark or at the end of the line. Names may be repeated and need not be valid.

use std::fmt::Display;

use dtoolkit::Node as _;
use dtoolkit::memreserve::MemoryReservation;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};

const MAGIC: u32 = 0xd00d_feed;

/// The maximum nesting depth of a tree, because dtoolkit writes trees recursively. The payload's
/// limit is lower.
const DEPTH_MAX: usize = 40;

/// Returns the success value. An error must have a message.
pub fn accepted<T, E: Display>(result: Result<T, E>) -> Option<T> {
    let checked = result.map_err(|error| assert!(!format!("{error:#}").is_empty()));
    checked.ok()
}

/// Returns the trees to test for `data`. A blob is used as is, and again with its `totalsize` set
/// to its length, because mutations rarely leave that field correct.
pub fn trees(data: &[u8]) -> Vec<Vec<u8>> {
    if !data.starts_with(&MAGIC.to_be_bytes()) {
        return vec![data.to_vec(), tree(data).to_dtb()];
    }
    let mut resized = data.to_vec();
    if let Some(field) = resized.get_mut(4..8) {
        field.copy_from_slice(&(data.len() as u32).to_be_bytes());
    }
    let mut trees = vec![data.to_vec(), resized];
    trees.dedup();
    trees
}

/// Builds the tree described by `text`.
fn tree(text: &[u8]) -> DeviceTree {
    let mut tree = DeviceTree::new();
    // The ancestors of the current node, from the root.
    let mut ancestors = Vec::new();
    let mut current = DeviceTreeNode::new_unchecked("");
    for line in text.split(|byte| *byte == b'\n') {
        match line.split_first() {
            None => {}
            Some((b'+', _)) if ancestors.len() + 1 == DEPTH_MAX => {}
            Some((b'+', name)) => {
                let child = DeviceTreeNode::new_unchecked(text_before_nul(name));
                ancestors.push(std::mem::replace(&mut current, child));
            }
            Some((b'-', _)) => {
                if let Some(parent) = ancestors.pop() {
                    current = with_child(parent, current);
                }
            }
            Some((b'!', numbers)) => {
                let mut words = numbers.split(|byte| *byte == b' ').map(number);
                let mut next_word = || words.next().unwrap_or(0);
                let reservation = MemoryReservation::new(next_word(), next_word());
                tree.memory_reservations.push(reservation);
            }
            Some(_) => add_property(&mut current, line),
        }
    }
    tree.root = ancestors
        .into_iter()
        .rfold(current, |child, parent| with_child(parent, child));
    tree
}

/// Adds a child, even if another one has the same name. dtoolkit compares names only when it adds a
/// child.
fn with_child(mut parent: DeviceTreeNode, child: DeviceTreeNode) -> DeviceTreeNode {
    let free_name = parent.children().count().to_string();
    *parent.add_child_mut(DeviceTreeNode::new_unchecked(free_name)) = child;
    parent
}

/// Adds the property in a line, even if another one has the same name.
fn add_property(node: &mut DeviceTreeNode, line: &[u8]) {
    let end = line.iter().position(|byte| *byte == b' ');
    let (name, rest) = line.split_at(end.unwrap_or(line.len()));
    let free_name = node.properties().count().to_string();
    node.add_property(DeviceTreeProperty::new_unchecked(&*free_name, ""));
    if let Some(property) = node.property_mut(&free_name) {
        *property = DeviceTreeProperty::new_unchecked(text_before_nul(name), value(rest));
    }
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
    use dtoolkit::fdt::Fdt;

    use super::*;

    #[test]
    fn number_that_a_reservation_leaves_out_is_0() {
        let reservations = tree(b"!1000 20\n!1000\n!").memory_reservations;
        let expected = [(0x1000, 0x20), (0x1000, 0), (0, 0)];
        assert_eq!(
            reservations,
            expected.map(|(base, size)| MemoryReservation::new(base, size))
        );
    }

    #[test]
    fn repeated_names_and_open_nodes_are_written() {
        let blob = tree(b"+a\nx .1\nx .2\n-\n-\n+a\n+b\nx 3").to_dtb();
        let source = Fdt::new(&blob).expect("a well-formed tree").to_string();
        let words: Vec<&str> = source.split_whitespace().collect();
        assert_eq!(
            words.join(" "),
            "/dts-v1/; / { a { x = [01]; x = [02]; }; a { b { x = <0x03>; }; }; };"
        );
    }

    #[test]
    fn deep_nesting_does_not_exhaust_the_stack() {
        let blob = tree(&b"+a\n".repeat(100_000)).to_dtb();
        assert!(blob.len() < 1000);
    }
}
