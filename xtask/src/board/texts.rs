//! Names, titles and notes in board files.

use anyhow::Result;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::source::Source;

/// The longest note, in bytes.
const NOTE_MAX: usize = 600;

/// The longest title, in bytes.
const TITLE_MAX: usize = 100;

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

pub(super) const NAME: &str = "up to 31 letters, digits and dashes";

pub(super) fn is_name(name: &str) -> bool {
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '-';
    !name.is_empty() && name.len() <= 31 && name.chars().all(letters)
}
