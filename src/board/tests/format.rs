//! Bytes that are no flattened device tree.

use std::string::ToString;

use super::trees::{be, qemu};
use crate::board::board::Board;
use crate::board::check::total_size;
use crate::board::console::Console;

fn check(found: &str, expected: &str) {
    assert_eq!(found, expected);
}

#[test]
fn what_is_no_tree() {
    let text = |tree: &[u8]| {
        let error = Board::read(tree).expect_err("no tree");
        assert_eq!(Console::find(tree).expect_err("no tree"), error);
        error.to_string()
    };
    let patched = |at: usize, word: u32| {
        let mut blob = qemu(1).blob();
        blob[at..at + 4].copy_from_slice(&be(&[word]));
        text(&blob)
    };
    check(&text(&[]), "0 bytes are less than a header");
    check(
        &text(&[0xd0, 0x0d, 0xfe, 0xed, 0, 0, 0]),
        "7 bytes are less than a header",
    );
    check(
        &patched(0, 0x7f45_4c46),
        "magic 0x7f454c46, expected 0xd00dfeed",
    );
    check(
        &patched(4, 0x20_0001),
        "totalsize 2097153 exceeds 2097152 bytes",
    );
    assert!(total_size(&be(&[0xd00d_feed, 0x20_0001])).is_err());
    let size = qemu(1).blob().len();
    check(
        &patched(4, 0x2_0000),
        &std::format!("truncated: {size} of 131072 bytes"),
    );
    check(
        &patched(4, 39),
        "offset 0x4: totalsize is less than the header's size",
    );
    check(&patched(20, 16), "format version 16, expected 17");
    check(&patched(24, 18), "format version 17, expected 17");
    for at in [8, 12, 16] {
        for value in [0, u32::MAX, 39] {
            let expected = std::format!("offset {at:#x}: the block is outside the tree");
            check(&patched(at, value), &expected);
        }
    }
    check(
        &patched(8, 42),
        "offset 0x8: the structure block is not aligned",
    );
    check(
        &patched(36, 8),
        "offset 0x40: the structure block has no end",
    );
}
