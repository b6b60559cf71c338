//! Checks the real board files against the documentation.

use std::fs;

use super::{BOARD, all_boards, load};

fn document() -> String {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/boards.md");
    fs::read_to_string(file).expect("docs/boards.md")
}

/// Returns the first block of `kind` after `heading`.
fn block(document: &str, heading: &str, kind: &str) -> String {
    let (_, rest) = document.split_once(heading).expect(heading);
    let (_, rest) = rest.split_once(&format!("```{kind}\n")).expect("a block");
    let (block, _) = rest.split_once("```\n").expect("end of the block");
    block.to_owned()
}

#[test]
fn the_document_has_a_good_example_and_its_error() {
    let example = block(&document(), "## Adding a board", "toml");
    crate::parse("docs/boards.md", &example).expect("a valid board");
    let wrong = example.replace("0x0101_0000", "0x0001_0001");
    let error = crate::parse("docs/boards.md", &wrong).expect_err("a wrong level");
    let said = block(&document(), "Errors include the file and line", "text");
    assert_eq!(said.trim_end(), format!("error: {error}"));
}

/// PLATFORM_CPU_PER_CLUSTER_SHIFT in TF-A's plat/qemu/qemu/include/platform_def.h.
#[test]
fn the_stock_platform_of_qemu_has_clusters_of_16() {
    let board = load("qemu");
    for (firmware, sizes) in [("tf-a", &[4; 5][..]), ("tf-a-stock", &[16, 4])] {
        let firmware = board.firmware(firmware).expect("the firmware");
        let board = board.with_clusters_of(firmware);
        let clusters = board.clusters(20).expect("enough CPUs");
        assert_eq!(clusters.iter().map(Vec::len).collect::<Vec<_>>(), sizes);
    }
}

/// A watchdog that the firmware or its loader leaves running resets a board in the middle of a run.
#[test]
fn each_board_file_says_what_is_known_about_its_watchdogs() {
    for board in all_boards() {
        let name = &board.name;
        let path = format!(
            "{}/../../platforms/{name}/board.toml",
            env!("CARGO_MANIFEST_DIR")
        );
        let text = fs::read_to_string(path).expect("a board file");
        let says = text.contains("\n# Watchdog: ") || board.watchdog.is_some();
        assert!(says, "{name}");
    }
}

/// serde's error for an unknown key lists all keys in the table.
#[test]
fn the_document_has_every_key() {
    let sbsa = BOARD
        .replace("\"sp805\"", "\"sbsa-gwdt\"")
        .replace("clock = 24_000_000\n", "")
        .replace("registers", "control");
    for text in [BOARD, &sbsa] {
        check_keys(text);
    }
}

fn check_keys(made_up: &str) {
    let document = document();
    let mut tables = 0;
    for (at, start) in made_up.match_indices(['\n', '{']) {
        let end = if start == "{" { ", " } else { "\n" };
        let (before, rest) = made_up.split_at(at + 1);
        let text = format!("{before}nonsense = 1{end}{rest}");
        let error = crate::parse("x", &text).expect_err(rest).to_string();
        // Errors inside lists are formatted differently.
        let Some((_, known)) = error.split_once("unknown field `nonsense`, expected ") else {
            continue;
        };
        tables += 1;
        for key in known.split('`').skip(1).step_by(2) {
            assert!(document.contains(&format!("`{key}`")), "{key} of {error}");
        }
    }
    assert!(tables > 15, "{tables}");
}
