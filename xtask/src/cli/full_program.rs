//! Builds the full program and runs it instead of this one.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anyhow::{Context as _, Result};
use clap::Subcommand as _;
use host::{interrupt, process};

use super::first_verb::FirstVerb;
use runner::setup::workspace::Workspace;

/// `qemu` options that require the log to be parsed in the same way as for a report.
const REPORTING_OPTIONS: [&str; 1] = ["--deny-skipped"];

/// Returns true if `arguments`, which start with the program name, contain a verb or option that
/// only the full program supports.
pub(super) fn is_needed(arguments: &[OsString]) -> bool {
    let verb = arguments.get(1).and_then(|word| word.to_str());
    let is_first = verb.is_some_and(FirstVerb::has_subcommand);
    let has_reporting = || {
        let words = arguments.iter();
        words
            .into_iter()
            .any(|word| REPORTING_OPTIONS.iter().any(|option| word == option))
    };
    !is_first || has_reporting()
}

/// Builds the full program and replaces this process with it, passing on the same arguments.
pub(super) fn run(arguments: &[OsString]) -> Result<u8> {
    interrupt::watch()?;
    let workspace = Workspace::find()?;
    let package = |command: &mut Command| {
        command.args(["--quiet", "--package", "xtask", "--manifest-path"]);
        command.arg(workspace.root.join("Cargo.toml"));
        command.arg("--target-dir").arg(&workspace.target);
    };
    let mut build = process::cargo();
    package(build.arg("build"));
    let log = workspace.state().join("xtask.log");
    process::run_step("building the rest of the tool", &mut build, &log)?;

    // Cargo stays in the same process group, so that Ctrl-C on the terminal reaches it.
    let mut run = Command::new(process::cargo_program());
    package(run.arg("run"));
    run.arg("--").args(arguments.iter().skip(1));
    // exec returns only if it fails.
    Err(run.exec()).context("cannot run cargo")
}
