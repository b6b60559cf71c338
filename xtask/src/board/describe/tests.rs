//! The descriptions of the real board files; `docs/boards.md` has their table.

use std::fs;

use super::*;
use crate::board;
use crate::setup::workspace::Workspace;

#[test]
fn timers_and_a_helper_can_both_wake() {
    let workspace = Workspace::find().expect("the repository");
    let path = workspace.board("lx2160a").join("board.toml");
    let text = fs::read_to_string(path).expect("a board file");
    let text = text.replacen("level = 1", "level = 1\nlocal-timer-stop = true", 1);
    let board = board::parse("board.toml", &text).expect("a good board");
    assert_eq!(row(&board)[4], "timer, helper (unproven)");
}

#[test]
fn every_note_and_state_is_described() {
    let workspace = Workspace::find().expect("the repository");
    let names = board::names(&workspace);
    let load = |name: &String| board::load(&workspace, name).expect("a sound board file");
    let boards: Vec<Board> = names.iter().map(load).collect();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let table = table(&boards);
    for board in &boards {
        let text = describe(board);
        assert!(text.lines().all(|line| line.len() <= 120), "{text}");
        let note = firmware(board).and_then(|firmware| firmware.note.as_ref());
        let listed = note.is_none_or(|note| words(&table).contains(&words(note)));
        assert!(listed, "{}", board.name);
        for note in board.note.iter().chain(note) {
            assert!(words(&text).contains(&words(note)), "{text}");
        }
        for state in board.firmware.values().flat_map(|it| &it.idle_state) {
            let value = format!("{:#010x}", state.power_state);
            assert!(text.contains(&value), "{text}");
        }
        let is_nowhere = board.verified() == Verified::No;
        assert_eq!(text.contains("nothing yet"), is_nowhere, "{text}");
        let pmf = board.firmware.values().map(|it| it.pmf);
        let unlinked = pmf.into_iter().any(|pmf| pmf == Some(Pmf::Unlinked));
        assert_eq!(text.contains("pmf_smc.c"), unlinked, "{text}");
    }
}
