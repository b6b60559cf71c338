//! Builds QEMU plugins from `crates/plugins/`.

use std::path::PathBuf;

use anyhow::{Context, Result};
use host::process;

use crate::setup::workspace::Workspace;

/// Builds the plugin `package`, and returns the path of the resulting file.
pub fn build(workspace: &Workspace, package: &str) -> Result<PathBuf> {
    let target = workspace.target.join("plugins");
    let mut command = process::cargo();
    command.args(["build", "--quiet", "--release", "--locked"]);
    command.args(["--package", package]);
    command.arg("--target-dir").arg(&target);
    command.current_dir(workspace.root.join("crates/plugins"));
    let log = workspace.state().join("plugin.log");
    let built = process::run_step("building QEMU's plugin", &mut command, &log);
    built.context("cannot build QEMU's plugin")?;
    Ok(target.join("release").join(format!("lib{package}.so")))
}
