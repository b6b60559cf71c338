//! Builds `psci-report` as a program that runs on any x86-64 Linux.

use std::fs;

use anyhow::{Context, Result};
use host::process;

use super::payload::rust_flags;
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need, REPORT_TARGET};

/// The program name.
pub const REPORT_PROGRAM: &str = "psci-report";

/// Builds the program and returns its ELF file. The program is statically linked and contains no
/// paths from this machine.
pub fn build(workspace: &Workspace) -> Result<Vec<u8>> {
    setup::ensure(workspace, &[Need::ReportTarget])?;
    let target = &workspace.target;
    let mut command = process::cargo();
    command.args(["build", "--quiet", "--release", "--locked"]);
    command.args(["--target", REPORT_TARGET, "--target-dir"]);
    command.arg(target);
    command.args(["--package", "report", "--bin", REPORT_PROGRAM]);
    command.current_dir(&workspace.root);
    // Generated code is compiled in the target directory. With Rust's own linker and C library, the
    // program depends on nothing else on this machine.
    let remap = format!("--remap-path-prefix={}=target", target.display());
    let own = ["-Clinker=rust-lld", "-Cstrip=symbols", &remap];
    let flags = rust_flags(workspace, &own)?;
    command.env("CARGO_ENCODED_RUSTFLAGS", flags);
    let log = workspace.state().join("psci-report.log");
    let built = process::run("building psci-report", &mut command, &log);
    built.context("cannot build psci-report")?;
    let built = target.join(REPORT_TARGET).join("release");
    let built = built.join(REPORT_PROGRAM);
    fs::read(&built).with_context(|| built.display().to_string())
}
