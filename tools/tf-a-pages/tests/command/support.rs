//! The program under test.

use std::process::Command;

use test_support::scratch::Scratch;
pub use test_support::*;

/// The path of `psci-tf-a-pages`.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_psci-tf-a-pages");

/// Returns a command that runs the program with `arguments`.
pub fn tf_a_pages(arguments: &[&str]) -> Command {
    command(PROGRAM, arguments)
}

/// Creates a directory that contains `good.log` with this text, and the published tables.
pub fn scratch_of_reports(log: &str) -> Scratch {
    let scratch = Scratch::with_published_tables(PROGRAM);
    scratch.write("good.log", log);
    scratch
}
