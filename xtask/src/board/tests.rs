//! The board files that there are, and a made-up one with its changes.

mod real;
mod refused;
mod trees;
mod user_tree;

use super::Board;
use crate::setup::workspace::Workspace;

/// The made-up board.
pub(crate) const BOARD: &str = include_str!("tests/board.toml");

fn load(name: &str) -> Board {
    super::load(&Workspace::find().expect("it"), name).expect("a sound board file")
}

fn all_boards() -> Vec<Board> {
    let names = super::names(&Workspace::find().expect("it"));
    names.iter().map(|name| load(name)).collect()
}
