//! Words and sentences that several crates print: enumerations that stand for words, plurals,
//! printable characters, lines of a terminal, errors.

pub mod format_error;
pub mod outside;
pub mod plural;
pub mod prose;
pub mod words;
