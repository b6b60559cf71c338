//! How far a board file can be trusted, and what people have to know.

use anyhow::Result;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::board::{Board, Source};

/// The longest note, in bytes.
const NOTE_MAX: usize = 600;
/// The longest title, in bytes.
const TITLE_MAX: usize = 100;

/// Where the payload was run with a board file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verified {
    /// On the board itself.
    Hardware,
    /// On an emulated board.
    Emulated,
    /// Nowhere: the file was put together by reading.
    No,
}

impl Board {
    /// Where the payload was run with this file. Where it does not say, it has
    /// a recipe for QEMU, by which this project's tests run it.
    #[must_use]
    pub fn verified(&self) -> Verified {
        match &self.verified {
            Some(verified) => *verified.get_ref(),
            None => Verified::Emulated,
        }
    }
}

/// Refuses a board that claims too much, or says nothing.
pub(super) fn check(board: &Board, source: &Source<'_>) -> Result<()> {
    if let Some(note) = &board.note {
        text(note, source)?;
    }
    match &board.verified {
        None if board.qemu.is_none() => {
            let reason = "verified is missing: \"hardware\" or \"no\"";
            Err(source.error(board.name.span(), reason))
        }
        Some(verified) if *verified.get_ref() == Verified::Emulated && board.qemu.is_none() => {
            let reason = "verified = \"emulated\" is for boards with a recipe for QEMU";
            Err(source.error(verified.span(), reason))
        }
        _ => Ok(()),
    }
}

/// Reads a title, and refuses one that no line could hold.
pub(super) fn title<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let title = String::deserialize(from)?;
    if is_line(&title, TITLE_MAX) {
        return Ok(title);
    }
    let reason =
        format!("the title is one line of printable ASCII, at most {TITLE_MAX} characters");
    Err(D::Error::custom(reason))
}

fn is_line(text: &str, most: usize) -> bool {
    let printable = text.chars().all(|c| (' '..='~').contains(&c));
    !text.trim().is_empty() && printable && text.len() <= most
}

/// Refuses a note that would not print as a paragraph.
pub(super) fn text(note: &Spanned<String>, source: &Source<'_>) -> Result<()> {
    if !is_line(note.get_ref(), NOTE_MAX) {
        let reason =
            format!("a note is one line of printable ASCII, at most {NOTE_MAX} characters");
        return Err(source.error(note.span(), &reason));
    }
    Ok(())
}
