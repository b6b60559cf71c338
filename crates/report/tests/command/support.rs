//! The program under test.

use std::path::Path;
use std::process::Command;

use expect_test::expect_file;
use test_support::scratch::Scratch;
pub use test_support::*;

/// The path of `psci-report`.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_psci-report");

/// Returns a command that runs the program with `arguments`.
pub fn psci_report(arguments: &[&str]) -> Command {
    command(PROGRAM, arguments)
}

/// Creates a directory that contains `good.log` with this text, and the published tables.
pub fn scratch_of_reports(log: &str) -> Scratch {
    let scratch = Scratch::with_published_tables(PROGRAM);
    scratch.write("good.log", log);
    scratch
}

/// Compares a report with the expected report in `name`.
pub fn assert_report(name: &str, report: &str) {
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/expected");
    expect_file![expected.join(name)].assert_eq(report);
}
