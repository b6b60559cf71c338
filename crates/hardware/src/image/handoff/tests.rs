use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

use super::*;

/// Builds a list with these tags and data, followed by unused space.
fn list(entries: &[(u32, &[u8])]) -> Vec<u8> {
    let mut list = vec![0; HEADER_SIZE];
    for (tag, data) in entries {
        list.extend((tag | 8 << 24).to_le_bytes());
        list.extend((data.len() as u32).to_le_bytes());
        list.extend(*data);
        list.resize(list.len().next_multiple_of(ALIGN), 0);
    }
    let used = list.len() as u32;
    let words = [SIGNATURE, 3 << 24 | 0x18 << 16 | 1 << 8, used, used + 64, 1];
    put(&mut list, 0, &words.map(u32::to_le_bytes).concat());
    list.resize(list.len() + 64, 0xaa);
    list
}

fn put(list: &mut [u8], at: usize, bytes: &[u8]) {
    list[at..at + bytes.len()].copy_from_slice(bytes);
}

/// Fixes the checksum and returns the tree, "none" or the error.
fn read(mut list: Vec<u8>) -> String {
    let used = field(&list, 8, 4).min(list.len());
    list[4] = 0;
    list[4] = list[..used]
        .iter()
        .fold(0, |checksum, byte| checksum.wrapping_sub(*byte));
    match device_tree(&list) {
        Ok(None) => "none".into(),
        Ok(Some(tree)) => String::from_utf8_lossy(&list[tree]).into(),
        Err(error) => error.to_string(),
    }
}

/// A list with a tree between other entries. The first entry is at 0x18, an empty entry at 0x30,
/// and the tree at 0x38.
fn good() -> Vec<u8> {
    list(&[
        (0x102, b"an entry point"),
        (0, b""),
        (1, b"the tree"),
        (4, b"x"),
    ])
}

#[test]
fn the_tree_is_found_if_there_is_one() {
    let mut good = good();
    assert_eq!(used_size(&good[..HEADER_SIZE]), Ok(good.len() - 64));
    // The value of X1 from the table in the specification.
    assert_eq!(REGISTER, 0x1_4a0f_b10b);
    assert_eq!(read(list(&[])), "none");
    assert_eq!(read(list(&[(0x101, b"1234567")])), "none");
    // The checksum is verified if present.
    let error = device_tree(&good).expect_err("no checksum").to_string();
    assert_eq!(error, "wrong checksum at offset 0x4");
    put(&mut good, 16, &[0]);
    assert!(device_tree(&good).is_ok());
}

#[test]
fn a_later_version_may_have_longer_headers() {
    let mut list = list(&[(1, b"not looked into")]);
    put(&mut list, 5, &[9, 0x20]);
    // The existing entry becomes part of the list header, and the next entry also has a longer
    // header.
    put(&mut list, 8, &[0x50, 0, 0, 0, 0x50, 0, 0, 0]);
    put(&mut list, 0x20, &[1, 0, 0, 0x10, 4, 0, 0, 0]);
    put(&mut list, 0x38, &[0, 0, 0, 8, 16, 0, 0, 0]);
    put(&mut list, 0x30, b"tree\0\0\0\0");
    assert_eq!(read(list), "tree");
}

#[test]
fn impossible_headers_and_entries_are_refused() {
    let size = "invalid size at offset 0x8";
    let first = "entry extends past the end at offset 0x18";
    for (at, bytes, expected) in [
        (5, &[1][..], "the tree"),
        (0, &[0], "no signature at offset 0x0"),
        (5, &[0], "version 0 at offset 0x5"),
        (6, &[0x17], "header too short at offset 0x6"),
        (8, &[0x17, 0, 0, 0], size),
        // Sizes that exceed the total size or the available bytes, and the largest 32-bit value.
        (12, &[0x18, 0, 0, 0], size),
        (8, &[0, 0x10, 0, 0, 0, 0x10, 0, 0], size),
        (8, &[0xff; 8], size),
        // The bytes in use do not form a complete entry.
        (8, &[0x1c], first),
        (0x1b, &[7], first),
        (0x1c, &[0xff; 4], first),
        (0x1c, &[0x60, 0, 0, 0], first),
        (0x3b, &[9], "unaligned device tree at offset 0x38"),
        (0x18, &[1, 0], "a second device tree at offset 0x38"),
    ] {
        let mut list = good();
        put(&mut list, at, bytes);
        assert_eq!(read(list), expected);
    }
}
