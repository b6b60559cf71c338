//! The tests that every program with verbs of `cargo xtask` has.

use std::path::Path;

use clap::Command;

use crate::documented::accepted_examples;
use crate::help_files;
use crate::help_style::check_help;
use crate::program::XTASK;

/// Checks a program's command line, which `command` defines for a program name, in a package in
/// `folder` in `crates/` or `tools/`: clap accepts it, its help fits a terminal, `cargo xtask` lists its
/// verbs and has their help, and it accepts at least `least` examples in the help and on the pages.
///
/// # Panics
/// Panics if a check fails.
pub fn check_program(
    program: &'static str,
    command: impl Fn(&'static str) -> Command,
    folder: &Path,
    least: usize,
) {
    let mut count = 0;
    for name in [program, XTASK] {
        let command = command(name);
        command.clone().debug_assert();
        check_help(&command);
        count += accepted_examples(&command, &folder.join("../..")).len();
    }
    help_files::check(&command(XTASK), folder);
    assert!(count >= least, "{program}: {count} examples");
}
