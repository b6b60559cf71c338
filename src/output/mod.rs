//! What a run prints for people: TFTF's frame, tables, the last line.

pub mod frame;
pub mod grid;
pub mod header;
pub mod latency;
pub mod points;
pub(crate) mod run;
mod run_all;
pub mod status;
pub mod sweeps;
pub mod tables;
#[cfg(test)]
mod tests;

pub use self::run::{begin_test, cut_short, list};
pub use self::run_all::{TESTS, run_all};
