//! ccache, which caches compiled files. Variants and neighboring commits of TF-A share most of
//! these files.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::setup::workspace::Workspace;

/// The folder in which Debian's package has a link to ccache for each compiler.
const LINKS: &str = "/usr/lib/ccache";

/// The maximum size of the cache. A TF-A build takes up a few megabytes.
const SIZE: &str = "1G";

/// Returns the folder of the cache in this workspace. Creates it if necessary, because ccache
/// cannot create the target of a link.
pub(super) fn folder(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.state().join("ccache");
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    Ok(folder)
}

/// Makes `command`, which runs make, compile through ccache if it is installed. ccache expands
/// variables in the path of `folder`.
pub(super) fn add_to(command: &mut Command, folder: &Path, compiler: &str) {
    if !Path::new(LINKS).join(compiler).exists() {
        return;
    }
    let path = env::var_os("PATH").expect("PATH is set, because make was found in it");
    let mut with_links = OsString::from(LINKS);
    with_links.push(":");
    with_links.push(path);
    command.env("PATH", with_links);
    // Some versions between 2.10 and 2.11 expect the archiver in the compiler's folder.
    command.arg(format!("AR={compiler}-ar"));
    command.env("CCACHE_DIR", folder);
    command.env("CCACHE_MAXSIZE", SIZE);
}
