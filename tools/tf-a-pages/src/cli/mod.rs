//! The command line, with one file per verb.

mod audit;
mod program;
mod publish;
#[cfg(test)]
mod tests;

pub use self::program::{command, main};
