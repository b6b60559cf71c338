//! The list of the real board files.

use std::fs;

use super::*;
use crate::board;
use crate::board::read::names;
use crate::setup::workspace::Workspace;

fn boards() -> Vec<Board> {
    let workspace = Workspace::find().expect("the repository");
    let names = names(&workspace);
    names
        .iter()
        .map(|name| board::load(&workspace, name).expect("a sound board file"))
        .collect()
}

/// Where the columns of the table begin, by the line of dashes.
fn columns(dashes: &str) -> Vec<usize> {
    let starts = dashes.match_indices('-').map(|(at, _)| at);
    starts
        .filter(|at| *at == 0 || dashes.as_bytes()[at - 1] == b' ')
        .collect()
}

#[test]
fn the_table_aligns() {
    let boards = boards();
    let text = table(&boards);
    assert!(text.lines().all(|line| line.len() <= 120), "{text}");
    let rows: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    let columns = columns(rows[1]);
    assert_eq!(columns.len(), HEADINGS.len());
    assert_eq!(rows.len(), 2 + boards.len());
    for row in rows {
        for (number, start) in columns.iter().enumerate() {
            let cell = row.get(*start..).expect("all of the columns");
            assert!(!cell.starts_with(' '), "column {number} of {row:?}");
            assert!(*start == 0 || row[..*start].ends_with("  "), "{row:?}");
        }
    }
}

/// The row of `name`, by column.
fn cells(name: &str) -> Vec<String> {
    let text = table(&boards());
    let columns = columns(text.lines().nth(1).expect("dashes"));
    let mut rows = text.lines();
    let row = rows
        .find(|row| row.split(' ').next() == Some(name))
        .expect(name);
    let ends = columns.iter().skip(1).copied().chain([row.len()]);
    columns
        .iter()
        .zip(ends)
        .map(|(start, end)| row[*start..end.min(row.len())].trim_end().to_owned())
        .collect()
}

#[test]
fn what_can_be_measured() {
    assert_eq!(
        cells("qemu")[2..7],
        ["32", "core cluster system", "timer", "PMF", "yes"]
    );
    assert_eq!(cells("qemu")[7], "QEMU");
    assert_eq!(cells("qemu-sbsa")[2..6], ["8", "none", "-", "caller"]);
    let lx2160a = ["16", "core cluster", "timer", "PMF+", "yes", "-"];
    assert_eq!(cells("lx2160a")[2..], lx2160a);
    assert_eq!(cells("poplar")[3..7], ["none", "-", "PMF+", "no"]);
    assert_eq!(cells("juno")[4], "frame (unproven)");
    assert_eq!(cells("rk3399")[3..5], ["core cluster", "helper (unproven)"]);
    // Two of these can be there together: only one's timers stop.
    let stops = |states: &str| -> String {
        let workspace = Workspace::find().expect("the repository");
        let path = workspace.board("lx2160a").join("board.toml");
        let text = fs::read_to_string(path).expect("a board file");
        let text = text.replacen("level = 1", states, 1);
        let board = board::parse("board.toml", &text).expect("a good board");
        row(&board)[4].clone()
    };
    assert_eq!(
        stops("level = 1\nlocal-timer-stop = true"),
        "timer, helper (unproven)"
    );
}

#[test]
fn why_not() {
    let boards = boards();
    let text = table(&boards);
    let (_, why) = text.split_once("and why:\n").expect("reasons");
    for board in &boards {
        let note = firmware(board).and_then(|firmware| firmware.note.as_ref());
        let told = why
            .lines()
            .any(|line| line.split(' ').next() == Some(board.name.get_ref()));
        assert_eq!(told, note.is_some(), "{}", board.name.get_ref());
    }
}

#[test]
fn all_of_a_board() {
    for board in &boards() {
        let text = describe(board);
        assert!(text.lines().all(|line| line.len() <= 120), "{text}");
        let words: Vec<&str> = text.split_whitespace().collect();
        let said = |text: &str| {
            let text: Vec<&str> = text.split_whitespace().collect();
            words.windows(text.len()).any(|part| part == text)
        };
        assert!(said(&board.title), "{text}");
        for note in board
            .note
            .iter()
            .chain(firmware(board).and_then(|f| f.note.as_ref()))
        {
            assert!(said(note.get_ref()), "{text}");
        }
        for firmware in board.firmware.values() {
            for state in &firmware.idle_state {
                let value = *state.get_ref().power_state.get_ref();
                assert!(text.contains(&format!("{value:#010x}")), "{text}");
            }
        }
        let nowhere = board.verified() == Verified::No;
        assert_eq!(text.contains("nothing yet"), nowhere, "{text}");
        // The remark is there for whom it is.
        let unlinked = board
            .firmware
            .values()
            .any(|f| f.pmf == Some(Pmf::Unlinked));
        assert_eq!(text.contains("pmf_smc.c"), unlinked, "{text}");
    }
}
