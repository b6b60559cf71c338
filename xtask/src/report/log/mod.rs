//! Text of a UART, or tables -> runs.

mod builder;
mod clean;
mod derive;
#[cfg(test)]
mod drops;
mod fields;
#[cfg(test)]
mod helper;
mod lava_log;
mod ledger;
pub(crate) mod lines;
pub mod logged_run;
mod mend;
mod piece;
mod plain_line;
mod reader;
#[cfg(test)]
mod suffered;
pub mod tables;
#[cfg(test)]
mod tests;
pub(crate) mod untrusted_text;
mod unverified;

pub use self::reader::{Input, ReadError, read, read_bytes};
