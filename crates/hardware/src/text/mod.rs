//! Words and sentences that several crates print: enumerations that stand for words, plurals,
//! printable characters, errors.

pub mod format_error;
pub mod outside;
pub mod plural;
pub mod words;
