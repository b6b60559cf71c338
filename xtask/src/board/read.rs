//! Board files -> boards.

use std::fs;

use anyhow::{Result, anyhow, bail};

use super::board::Board;
use super::check::check;
use super::fault::{line, require};
use crate::setup::workspace::Workspace;
use host::read_file;

/// The largest file that is read, in bytes. It bounds the time of checks that compare each
/// entry with all others.
pub(super) const FILE_MAX: usize = 64 << 10;

/// Reads `platforms/NAME/board.toml`.
pub fn load(workspace: &Workspace, name: &str) -> Result<Board> {
    let path = workspace.board(name).join("board.toml");
    let short = workspace.short(&path).display().to_string();
    if !path.exists() {
        let (known, path) = (names(workspace).join(", "), path.display());
        bail!("there is no board {name:?} ({path}); boards: {known}")
    }
    let bytes = read_file::read("", &path, FILE_MAX)?;
    let text = read_file::text(bytes)
        .map_err(|line| anyhow!("{short}:{line}: this is not text in UTF-8"))?;
    let board = parse(&short, &text)?;
    let reason = format!("{:?} is not the name of the folder, {name:?}", board.name);
    let is_folders = require(board.name == name, "name", reason);
    is_folders.map_err(|fault| fault.in_file(&short, &text))?;
    Ok(board)
}

/// Reads `text`; `name` stands for the file in messages.
pub fn parse(name: &str, text: &str) -> Result<Board> {
    if text.len() > FILE_MAX {
        bail!("{name}:1: more than the {FILE_MAX} bytes that are accepted");
    }
    let board: Board = toml::from_str(text).map_err(|error| {
        let line = line(text, error.span().map_or(0, |span| span.start));
        anyhow!("{name}:{line}: {}", error.message())
    })?;
    check(&board).map_err(|fault| fault.in_file(name, text))?;
    Ok(board)
}

/// Returns the names of all boards, sorted.
pub fn names(workspace: &Workspace) -> Vec<String> {
    let dirs = fs::read_dir(workspace.root.join("platforms"));
    let entries = dirs.into_iter().flatten().filter_map(Result::ok);
    let boards = entries.filter(|entry| entry.path().join("board.toml").is_file());
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<String> = boards.map(name).collect();
    names.sort();
    names
}
