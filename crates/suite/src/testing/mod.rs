//! A fake machine and an example run, for the tests of this crate and its dependents.

mod board;
pub mod example;
pub mod fake;
mod fake_firmware;
mod fake_timers;

pub use self::board::board;
