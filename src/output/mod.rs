//! Output for people: TFTF's frame, tables, the last line.

mod frame;
mod grid;
mod header;
mod latency;
mod points;
mod run;
mod run_all;
mod summary;
mod sweeps;
mod tables;
#[cfg(test)]
mod tests;

pub use self::run::{cut_short, list};
pub use self::run_all::run_all;
