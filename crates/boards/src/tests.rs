//! Tests for the real board files and for modified versions of a made-up board file.

mod changes;
mod pages;
mod real;
mod refused;
mod trees;
mod user_tree;

use crate::BoardFile;

/// The made-up board.
pub const BOARD: &str = include_str!("tests/board.toml");

fn load(name: &str) -> BoardFile {
    crate::load(name).expect("a valid board file")
}

fn all_boards() -> Vec<BoardFile> {
    crate::names().map(load).collect()
}
