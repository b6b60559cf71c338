//! The program under test, and what its tests share with those of other programs.

// Each test program compiles this file but uses only part of it.
#![allow(dead_code, unused_imports)]

use std::process::Command;

pub use test_support::*;

/// The path of `cargo xtask`'s program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_xtask");

/// Returns a command that runs the program with `arguments`.
pub fn xtask(arguments: &[&str]) -> Command {
    command(PROGRAM, arguments)
}
