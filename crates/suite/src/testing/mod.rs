//! A fake machine and a synthetic run, for the tests of this crate and its dependents.

mod board;
#[cfg(test)]
pub(crate) mod documented;
pub mod fake;
mod fake_firmware;
mod fake_timers;
pub mod synthetic;

pub use self::board::board;
