//! Finds and parses board files.

use anyhow::{Context, Result, anyhow, bail};

use super::board::BoardFile;
use super::board_fault::{line, require};
use super::check::check_board;

/// The name and contents of each board file in `platforms/`, sorted by name.
pub(super) const EMBEDDED: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// The maximum size of a board file, in bytes. This limits the time spent in checks that compare
/// every pair of entries.
pub(super) const FILE_MAX: usize = 64 << 10;

/// Returns the board called `name`.
///
/// # Errors
/// Returns an error if the board is unknown or its file is invalid. Errors in the file include the
/// line number.
pub fn load(name: &str) -> Result<BoardFile> {
    let embedded = EMBEDDED.iter().find(|(folder, _)| *folder == name);
    let (folder, text) = embedded.with_context(|| {
        let known = names().collect::<Vec<_>>().join(", ");
        format!("unknown board {name:?}; available: {known}")
    })?;
    parse_in_folder(folder, text)
}

/// Parses the board file in `folder`. The folder name must match the board name.
pub(super) fn parse_in_folder(folder: &str, text: &str) -> Result<BoardFile> {
    let file = format!("platforms/{folder}/board.toml");
    let board = parse(&file, text)?;
    let reason = format!(
        "{:?} does not match the folder name, {folder:?}",
        board.name
    );
    let is_folders = require(board.name == folder, "name", reason);
    is_folders.map_err(|fault| fault.in_file(&file, text))?;
    Ok(board)
}

/// Parses `text`. `name` is the file name used in error messages.
///
/// # Errors
/// Returns an error if the text is too long, is not valid TOML, or describes an impossible board.
pub fn parse(name: &str, text: &str) -> Result<BoardFile> {
    if text.len() > FILE_MAX {
        bail!("{name}:1: larger than the limit of {FILE_MAX} bytes");
    }
    let board: BoardFile = toml::from_str(text).map_err(|error| {
        let line = line(text, error.span().map_or(0, |span| span.start));
        anyhow!("{name}:{line}: {}", error.message())
    })?;
    check_board(&board).map_err(|fault| fault.in_file(name, text))?;
    Ok(board)
}

/// Returns the names of all boards, sorted.
pub fn names() -> impl Iterator<Item = &'static str> {
    EMBEDDED.iter().map(|(folder, _)| *folder)
}
