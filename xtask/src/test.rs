//! `cargo xtask test`: everything there is to test, with what it needs set up
//! before, so that no test has a reason to be left out.

use std::env;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::apt_source;
use crate::payload;
use crate::process;
use crate::progress::say;
use crate::setup;
use crate::workspace::Workspace;

/// Runs the tests of both packages. `filter` goes to the test programs.
///
/// Returns whether all of them passed.
///
/// # Errors
/// When something that they need cannot be had.
pub fn run(filter: &[String]) -> Result<bool> {
    let workspace = Workspace::find()?;
    setup::ensure(&workspace, &setup::ALL)?;
    apt_source::TF_A.fetch(&workspace)?;
    apt_source::MBED_TLS.fetch(&workspace)?;
    payload::build(&workspace)?;
    let mut command = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    // With overflow checks and assertions on, and whatever fails first, all
    // the rest as well.
    command.args(["test", "--workspace", "--no-fail-fast"]);
    command.arg("--target-dir").arg(&workspace.target);
    if !filter.is_empty() {
        command.arg("--").args(filter);
    }
    command.current_dir(&workspace.root).stdin(Stdio::null());
    say(&process::display(&command));
    Ok(command.status().context("cannot run cargo")?.success())
}
