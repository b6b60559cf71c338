//! Text helpers for several crates: enums with a keyword for each value, plurals, printable
//! characters, terminal lines and errors.

pub mod format_error;
pub mod join;
pub mod keywords;
pub mod plural;
pub mod prose;
pub mod untrusted;
