//! The program under test, and what its tests share with those of other programs.

// Each test program compiles this file but uses only part of it.
#![allow(dead_code, unused_imports)]

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use expect_test::expect_file;

use test_support::scratch::Scratch;
pub use test_support::*;

/// The path of `cargo xtask`'s program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_xtask");

/// Returns a command that runs the program with `arguments`.
pub fn xtask(arguments: &[&str]) -> Command {
    command(PROGRAM, arguments)
}

/// Creates a directory that contains `good.log`, which is the log of the made-up run, and the
/// published figures.
pub fn scratch_of_reports(log: &str) -> Scratch {
    let scratch = Scratch::new(PROGRAM);
    let published =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/report/tests/data/published");
    symlink(published, scratch.path("published")).expect("made");
    scratch.write("good.log", log.as_bytes());
    scratch
}

/// Compares a report with the expected report in `name`.
pub fn assert_report(name: &str, report: &str) {
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/report/expected");
    expect_file![expected.join(name)].assert_eq(report);
}
