//! The plugin of QEMU, built from `plugins/`.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::setup::workspace::Workspace;
use crate::setup::{self, process};

/// The version of QEMU from which on plugins have version 2 of the interface or later.
const API_2: (u32, u32) = (9, 0);

/// Returns true if the QEMU in PATH loads plugins of that version.
pub(super) fn is_new() -> Result<bool> {
    Ok(setup::qemu_version()? >= API_2)
}

/// Builds the plugin `profile` for the QEMU in PATH, and returns its file.
pub(super) fn build(workspace: &Workspace) -> Result<PathBuf> {
    let is_new = is_new()?;
    let target = workspace
        .target
        .join("plugins")
        .join(if is_new { "api-2" } else { "api-0" });
    let mut command = process::cargo();
    command.args([
        "build",
        "--quiet",
        "--release",
        "--locked",
        "--package",
        "profile",
    ]);
    command.args(
        is_new
            .then_some(["--features", "profile/api-2"])
            .into_iter()
            .flatten(),
    );
    command.arg("--target-dir").arg(&target);
    command.current_dir(workspace.root.join("plugins"));
    let log = workspace.state().join("plugin.log");
    let built = process::run("building the plugin", &mut command, &log);
    built.context("the plugin of QEMU does not build")?;
    Ok(target.join("release").join("libprofile.so"))
}
