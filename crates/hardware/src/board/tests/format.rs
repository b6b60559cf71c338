//! Tests with bytes that are not a valid flattened device tree.

use std::format;
use std::string::{String, ToString};

use super::edited_tree::{Tree, cells};
use crate::board::{Board, TreeConsole, total_size};

fn message(tree: &[u8]) -> String {
    let error = Board::read(tree).expect_err("an invalid tree");
    assert_eq!(TreeConsole::find(tree).expect_err("an invalid tree"), error);
    error.to_string()
}

#[test]
fn headers_that_are_not_sound_are_refused() {
    assert_eq!(message(&[]), "0 bytes, shorter than a header");
    let short = [0xd0, 0x0d, 0xfe, 0xed, 0, 0, 0];
    assert_eq!(message(&short), "7 bytes, shorter than a header");
    assert!(total_size(&cells(&[0xd00d_feed, 0x20_0001])).is_err());
    let blob = Tree::Qemu(1).parse().to_dtb();
    let truncated = format!("truncated: {} of 131072 bytes", blob.len());
    let end = blob.len() as u32 - 8;
    let endless = format!("offset {end:#x}: the memory reservations have no terminator");
    let magic = "magic 0x7f454c46, expected 0xd00dfeed";
    let small = "offset 0x4: totalsize is smaller than the header";
    let version = "offset 0x14: the format version is not 17";
    let unaligned = "offset 0x8: the structure block is not aligned";
    let rows = [
        (0, 0x7f45_4c46, magic),
        (4, 0x20_0001, "totalsize 2097153 exceeds 2097152 bytes"),
        (4, 0x2_0000, &truncated),
        (4, 39, small),
        (20, 16, version),
        (24, 18, version),
        (8, 42, unaligned),
        (36, 8, "offset 0x40: the structure block has no end token"),
        (16, end, &endless),
    ];
    let rows = rows.map(|(offset, word, error)| (offset, word, error.into()));
    let blocks = [8, 12, 16].into_iter().flat_map(|offset| {
        let error = format!("offset {offset:#x}: the block is outside the tree");
        [0, 39, u32::MAX].map(|word| (offset, word, error.clone()))
    });
    for (at, word, expected) in rows.into_iter().chain(blocks) {
        let mut blob = blob.clone();
        blob[at..at + 4].copy_from_slice(&cells(&[word]));
        assert_eq!(message(&blob), expected);
    }
}

/// Each structure block contains only the listed words. The name at offset 0 is `p`.
#[test]
fn structures_that_are_not_sound_are_refused() {
    let a = 0x6100_0000;
    let slash = 0x2f00_0000;
    let token = "an unknown, damaged or misplaced token";
    let name = "an invalid node or property name";
    for (expected, words) in [
        (token, &[1, 0, 2, 1, 0, 2, 9][..]),
        (token, &[2]),
        (token, &[1, 0, 1, a, 2, 3, 0, 0]),
        (token, &[1, 0, 9]),
        (token, &[4, 1, 0, 2, 9]),
        (token, &[1, 0, 7]),
        (name, &[1, a, 2, 9]),
        (name, &[1, 0, 1, slash, 2, 2, 9]),
        (name, &[1, 0, 3, 0, 1, 2, 9]),
        (token, &[1, 0, 3, 100, 0, 2, 9]),
        (token, &[1, 0, 3]),
    ] {
        let size = (words.len() * 4) as u32;
        let header = [0xd00d_feed, 60 + size, 60, 56, 40, 17, 16, 0, 2, size];
        let strings = u32::from_be_bytes(*b"p\0\0\0");
        let blob = cells(&[&header[..], &[0; 4], &[strings], words].concat());
        let message = message(&blob);
        assert!(message.ends_with(expected), "{message}, not {expected}");
    }
}
