//! The command line, one verb per file.

mod board_text;
mod boards;
mod fip;
mod image;
mod main;
mod payload;
mod qemu;
mod repeat;
mod scenarios;
mod test;
#[cfg(test)]
mod tests;
mod tool;
mod tree;

pub use self::main::{command, main};
