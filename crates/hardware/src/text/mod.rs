//! Text helpers for several crates: enumerations with a word for each value, plurals, printable
//! characters, terminal lines and errors.

pub mod format_error;
pub mod join;
pub mod outside;
pub mod plural;
pub mod prose;
pub mod words;
