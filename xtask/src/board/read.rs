//! Board files -> boards.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};

use super::board::Board;
use super::check::check;
use super::source::Source;
use crate::setup::workspace::Workspace;

/// The largest file that is read, in bytes. What compares each entry with all
/// others has an end in good time then.
pub(super) const FILE_MAX: usize = 64 << 10;

/// Reads `platforms/NAME/board.toml`.
///
/// # Errors
/// When there is none, or it is wrong.
pub fn load(workspace: &Workspace, name: &str) -> Result<Board> {
    let path = workspace.board(name).join("board.toml");
    let short = workspace.short(&path).display().to_string();
    let bytes = match fs::read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let known = names(workspace).join(", ");
            let path = path.display();
            bail!("there is no board {name:?} ({path}); boards: {known}")
        }
        read => read.with_context(|| short.clone())?,
    };
    let text = String::from_utf8(bytes).map_err(|error| {
        let sound = error.utf8_error().valid_up_to();
        let before = error.as_bytes().iter().take(sound);
        let line = before.filter(|byte| **byte == b'\n').count() + 1;
        anyhow!("{short}:{line}: this is not text in UTF-8")
    })?;
    let board = parse(&short, &text)?;
    if board.name.get_ref() != name {
        let source = Source {
            name: &path.display().to_string(),
            text: &text,
        };
        return Err(source.error(board.name.span(), "the name is not that of the folder"));
    }
    Ok(board)
}

/// Reads `text`; `name` stands for the file in messages.
///
/// # Errors
/// When it is wrong, with the line.
pub fn parse(name: &str, text: &str) -> Result<Board> {
    let source = Source { name, text };
    if text.len() > FILE_MAX {
        let reason = format!("more than the {FILE_MAX} bytes that are accepted");
        return Err(source.error(0..0, &reason));
    }
    let board: Board = toml::from_str(text)
        .map_err(|error| source.error(error.span().unwrap_or(0..0), error.message()))?;
    check(&board, &source)?;
    Ok(board)
}

/// The boards there are.
#[must_use]
pub fn names(workspace: &Workspace) -> Vec<String> {
    let dirs = fs::read_dir(workspace.root.join("platforms"));
    let mut names: Vec<String> = dirs
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter(|entry| is_board(&entry.path()))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn is_board(dir: &Path) -> bool {
    dir.join("board.toml").is_file()
}
