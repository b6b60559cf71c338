//! Sphinx, which builds TF-A's documentation, and which tests build pages of
//! reports with.

use std::path::PathBuf;
use std::process::Command;

use super::workspace::Workspace;
use super::{process, python};

/// The Sphinx that is used, and no other.
const VERSION: &str = "8.1.3";

fn root(workspace: &Workspace) -> PathBuf {
    workspace.state().join(format!("sphinx-{VERSION}"))
}

/// The `sphinx-build` to use.
#[must_use]
pub fn sphinx_build(workspace: &Workspace) -> Option<PathBuf> {
    let program = root(workspace).join("bin").join("sphinx-build");
    let said = process::output(Command::new(&program).arg("--version")).ok()?;
    let fits = said.split_whitespace().nth(1) == Some(VERSION);
    fits.then_some(program)
}

/// The commands that install it.
pub(super) fn install(workspace: &Workspace) -> [Vec<String>; 2] {
    python::install(&root(workspace), &[&format!("sphinx=={VERSION}")])
}
