//! The table of board files that are refused, and limits that need long lists.

use std::fs;

use super::super::read::FILE_MAX;
use crate::board::{self, Board};
use crate::setup::workspace::Workspace;

const GOOD: &str = include_str!("board.toml");

/// Returns the good file with the changes of a row of the table.
fn changed(changes: &str) -> String {
    let mut text = GOOD.to_owned();
    for change in changes.split(" | ") {
        let change = change.replace("\\n", "\n").replace("\\\n", "\\n");
        let (from, to) = match change.strip_prefix('-') {
            Some(from) => (from, ""),
            None => change.split_once(" -> ").expect("FROM -> TO"),
        };
        assert!(text.contains(from), "{from:?} of {changes}");
        text = text.replacen(from, to, 1);
    }
    text
}

fn error(text: &str) -> String {
    let error = board::parse("", text).map(|board| board.name);
    format!("{:#}", error.expect_err("a wrong board"))
}

fn accepted(changes: &str) -> Board {
    board::parse("board.toml", &changed(changes)).expect(changes)
}

#[test]
fn wrong_board_files_are_refused_by_line_and_path() {
    board::parse("board.toml", GOOD).expect("a good board");
    let table = include_str!("refused.txt");
    let rows = table
        .lines()
        .filter(|row| !row.is_empty() && !row.starts_with('#'));
    let mut failed = false;
    for row in rows {
        let (changes, expected) = row.split_once(" => ").expect("a message");
        let found = board::parse("", &changed(changes)).err();
        let found = found.map_or("accepted".into(), |error| format!("{error:#}"));
        if found.strip_prefix(':') != Some(expected) {
            println!("{changes} => {}", found.trim_start_matches(':'));
            failed = true;
        }
    }
    assert!(!failed);
}

#[test]
fn values_at_the_limits_are_accepted() {
    let all = "In flash. -> Über";
    for changes in [
        all,
        "base = 0x0900_0000 -> base = 0xffff_ffff_f000",
        "0x6000_0000 -> 0x7ff3_0000",
        "0x6000_0000 -> 0x6ffc_0000",
        "title = -> verified = \"hardware\"\\ntitle =",
        "title = -> verified = \"emulated\"\\ntitle =",
        "size = 0x40_0000 -> size = 0x20_0000",
        "minutes = 30 -> minutes = 1440",
        "interrupt = 48 -> interrupt = 1019",
        "number = 1 -> number = 7",
        "align = 512 -> align = 0x10_0000",
    ] {
        accepted(changes);
    }
    accepted(&format!("It is not measured. -> {}", "x".repeat(600)));
    let sbsa =
        "control = { base = 0x1000, size = 0x1000 }\\nrefresh = { base = 0x2000, size = 0x1000 }";
    let sp805 = "registers = { base = 0x1000_0000, size = 0x1000 }\\nclock = 24_000_000";
    accepted(&format!("\"sp805\" -> \"sbsa-gwdt\" | {sp805} -> {sbsa}"));
}

#[test]
fn lists_that_are_too_long_are_refused() {
    let tables = |table: &str, numbers: std::ops::Range<u64>, rest: fn(u64) -> String| {
        let table = |at| format!("[[{table}]] # {at}\n{}\n", rest(at));
        numbers.map(table).collect::<String>() + "[uart]"
    };
    let reserved = |at: u64| {
        let base = 0x4000_0000 + (at << 12);
        format!("name = \"n{at}\"\nbase = {base}\nsize = 4096")
    };
    let memory = |at: u64| format!("base = {}\nsize = 0x1000", at << 32);
    let state = |at| {
        format!(
            "name = \"s{at}\"\nlevel = 0\npower-state = {}",
            0x1_0001 + at
        )
    };
    let state_table = "firmware.tf-a-stock.idle-state";
    let region = |at: u64| format!("{{ base = {}, size = 0x2_0000 }},", (0x40 + at) << 32);
    let regions: String = (0..9).map(region).collect();
    for (list, expected) in [
        (tables("reserved", 1..64, reserved), None),
        (
            tables("reserved", 1..65, reserved),
            Some(("# 64", "reserved[64]: more than 64")),
        ),
        (
            tables("memory", 1..33, memory),
            Some(("# 32", "memory[32]: more than 32")),
        ),
        (tables(state_table, 0..16, state), None),
        (
            tables(state_table, 0..17, state),
            Some(("# 16", "idle-state[16]: more than 16")),
        ),
    ] {
        let text = GOOD.replacen("[uart]", &list, 1);
        match expected {
            None => drop(board::parse("b", &text).expect("a good board")),
            Some((place, expected)) => {
                let at = text.lines().position(|line| line.contains(place));
                let place = format!(":{}: ", at.expect("a line") + 1);
                let error = error(&text);
                assert!(
                    error.starts_with(&place) && error.contains(expected),
                    "{error}"
                );
            }
        }
    }
    let text = GOOD.replacen("{ base = 0x080a_0000, size = 0x40_0000 },", &regions, 1);
    assert!(error(&text).ends_with("gic.v3.redistributors: more than 8 regions"));
    let long = GOOD.to_owned() + &"#".repeat(FILE_MAX);
    assert_eq!(
        error(&long),
        ":1: more than the 65536 bytes that are accepted"
    );
}

#[test]
fn a_file_that_is_no_text_absent_or_of_another_name_is_refused() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let root = dir.path().to_path_buf();
    let target = root.join("target");
    let workspace = Workspace { root, target };
    let load = |name| board::load(&workspace, name).map(|board| board.name);
    for (name, text, expected) in [
        (
            "latin",
            &b"# one\n# caf\xe9\n"[..],
            "toml:2: this is not text in UTF-8",
        ),
        (
            "other",
            GOOD.as_bytes(),
            "toml:1: name: \"made-up\" is not the name of the folder, \"other\"",
        ),
    ] {
        let board = workspace.board(name);
        fs::create_dir_all(&board).expect("made");
        fs::write(board.join("board.toml"), text).expect("written");
        let error = format!("{:#}", load(name).expect_err(name));
        assert!(error.ends_with(expected), "{error}");
    }
    let error = load("greek").expect_err("not there").to_string();
    assert!(error.contains("there is no board \"greek\""), "{error}");
}
