use std::vec;
use std::vec::Vec;

use super::*;

/// A list of these entries, tag and data, with room behind it.
fn list(entries: &[(u32, &[u8])]) -> Vec<u8> {
    let mut list = vec![0; HEADER_SIZE];
    for (tag, data) in entries {
        list.extend((tag | 8 << 24).to_le_bytes());
        list.extend((data.len() as u32).to_le_bytes());
        list.extend(*data);
        list.resize(list.len().next_multiple_of(ALIGN), 0);
    }
    let used = list.len() as u32;
    put(&mut list, 0, &SIGNATURE.to_le_bytes());
    put(&mut list, 5, &[1, 0x18, 3]);
    put(&mut list, 8, &used.to_le_bytes());
    put(&mut list, 12, &(used + 64).to_le_bytes());
    put(&mut list, 16, &[1]);
    seal(&mut list);
    list.resize(list.len() + 64, 0xaa);
    list
}

fn put(list: &mut [u8], at: usize, bytes: &[u8]) {
    list[at..at + bytes.len()].copy_from_slice(bytes);
}

fn seal(list: &mut [u8]) {
    list[4] = 0;
    let used = field(list, 8, 4).min(list.len());
    let sum = list[..used].iter().fold(0u8, |n, b| n.wrapping_add(*b));
    list[4] = sum.wrapping_neg();
}

const TREE: &[u8] = b"not looked into";

/// A tree between other entries, one of them empty.
fn good() -> Vec<u8> {
    list(&[(0x102, b"an entry point"), (0, b""), (1, TREE), (4, b"x")])
}

fn fails(list: &[u8], error: &str) {
    let found = device_tree(list).expect_err(error);
    assert_eq!(std::string::ToString::to_string(&found), error);
}

#[test]
fn the_tree_is_found_if_there_is_one() {
    let mut good = good();
    let tree = device_tree(&good).expect("a sound list").expect("a tree");
    assert_eq!(&good[tree], TREE);
    assert_eq!(used_size(&good[..HEADER_SIZE]), Ok(good.len() - 64));
    // X1 by the specification's table.
    assert_eq!(REGISTER, 0x1_4a0f_b10b);
    assert_eq!(device_tree(&list(&[])), Ok(None));
    assert_eq!(device_tree(&list(&[(0x101, b"1234567")])), Ok(None));
    // A checksum counts where there is one.
    good[0x24] ^= 1;
    fails(&good, "a wrong checksum at offset 0x4");
    put(&mut good, 16, &[0]);
    assert!(device_tree(&good).is_ok());
}

#[test]
fn a_later_version_may_have_longer_headers() {
    let mut list = list(&[(1, TREE)]);
    put(&mut list, 5, &[9, 0x20]);
    // What was the entry is the rest of the header, and the data begin with an
    // entry whose own header is longer.
    let used = (field(&list, 8, 4) as u32 + 32).to_le_bytes();
    put(&mut list, 8, &[used, used].concat());
    put(&mut list, 0x20, &[1, 0, 0, 0x10, 4, 0, 0, 0]);
    put(&mut list, 0x38, &[0, 0, 0, 8, 16, 0, 0, 0]);
    put(&mut list, 0x30, b"tree\0\0\0\0");
    seal(&mut list);
    assert_eq!(device_tree(&list), Ok(Some(0x30..0x34)));
}

/// The first entry is at 0x18, the empty one after it at 0x30, the tree at 0x38.
#[test]
fn impossible_headers_and_entries_are_refused() {
    let size = "an impossible size at offset 0x8";
    let first = "an entry that does not fit at offset 0x18";
    let unaligned = "a device tree that is not aligned at offset 0x38";
    for (at, bytes, error) in [
        (0, &[0][..], "no signature at offset 0x0"),
        (5, &[0], "version 0 at offset 0x5"),
        (6, &[0x17], "too small a header at offset 0x6"),
        (8, &[0x17, 0, 0, 0], size),
        // More than there is in all, more than there are bytes, more than any.
        (12, &[0x18, 0, 0, 0], size),
        (8, &[0, 0x10, 0, 0, 0, 0x10, 0, 0], size),
        (8, &[0xff; 8], size),
        (0x1b, &[7], first),
        (0x1c, &[0xff; 4], first),
        (0x1c, &[0x60, 0, 0, 0], first),
        (0x3b, &[9], unaligned),
        (0x18, &[1, 0], "a second device tree at offset 0x38"),
    ] {
        let mut list = good();
        put(&mut list, at, bytes);
        seal(&mut list);
        fails(&list, error);
    }
    // Bytes in use that are no whole entry.
    let mut odd = list(&[]);
    put(&mut odd, 8, &[0x1c]);
    seal(&mut odd);
    fails(&odd, first);
}
