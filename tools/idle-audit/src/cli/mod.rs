//! The command line.

mod audit_idle;
mod dts_file;
mod program;
#[cfg(test)]
mod tests;
mod tree_files;

pub use self::program::{command, main};
