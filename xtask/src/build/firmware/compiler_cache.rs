//! ccache, which keeps compiled files. Variants and neighboring commits of TF-A have most of them in
//! common.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::{env, iter};

use crate::setup::workspace::Workspace;

/// The folder in which Debian's package has a link to ccache for each compiler.
const LINKS: &str = "/usr/lib/ccache";

/// The maximum size of the cache. A TF-A build takes a few megabytes.
const SIZE: &str = "1G";

/// Makes `command` compile through ccache if it is installed.
pub(super) fn add_to(command: &mut Command, workspace: &Workspace, compiler: &str) {
    let links = Path::new(LINKS);
    if !links.join(compiler).exists() {
        return;
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let all = iter::once(links.to_owned()).chain(env::split_paths(&path));
    let path = env::join_paths(all).unwrap_or_else(|_| OsString::from(&path));
    command.env("PATH", path);
    command.env("CCACHE_DIR", workspace.state().join("ccache"));
    command.env("CCACHE_MAXSIZE", SIZE);
}
