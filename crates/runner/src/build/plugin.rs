//! Builds QEMU plugins. The commands that need a plugin build it on the user's machine.

use std::path::PathBuf;

use anyhow::{Context, Result};
use host::process;

use crate::setup::workspace::Workspace;

/// The cargo profile for plugins, which is also the name of a folder in `target/`.
const PROFILE: &str = "plugin";

/// Builds the plugin in the workspace's package `package`, and returns the path of the resulting
/// file.
///
/// # Errors
/// Returns an error if there is no such package or it cannot be built.
pub fn build(workspace: &Workspace, package: &str) -> Result<PathBuf> {
    let mut command = process::cargo();
    command.args(["build", "--quiet", "--locked", "--profile", PROFILE]);
    command.args(["--package", package]);
    command.arg("--target-dir").arg(&workspace.target);
    command.current_dir(&workspace.root);
    let log = workspace.state().join("plugin.log");
    let built = process::run_step("building QEMU's plugin", &mut command, &log);
    built.context("cannot build QEMU's plugin")?;
    let library = format!("lib{}.so", package.replace('-', "_"));
    Ok(workspace.target.join(PROFILE).join(library))
}
