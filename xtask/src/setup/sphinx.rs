//! Sphinx, which builds TF-A's documentation, and which tests build pages of
//! reports with: from PyPI, in a virtual environment below this tool's part of
//! `target/`, so that no other Python of the machine is touched.

use std::path::PathBuf;
use std::process::Command;

use crate::process;
use crate::workspace::Workspace;

/// The Sphinx that is used, and no other.
const VERSION: &str = "8.1.3";

fn root(workspace: &Workspace) -> PathBuf {
    workspace.state().join(format!("sphinx-{VERSION}"))
}

/// Whether this machine's Python makes virtual environments: Debian has that
/// in a package of its own.
pub(super) fn has_venv() -> bool {
    let check = ["-c", "import ensurepip, venv"];
    process::output(Command::new("python3").args(check)).is_ok()
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
    let root = root(workspace).display().to_string();
    let pip = format!("{root}/bin/pip");
    let sphinx = format!("sphinx=={VERSION}");
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
    [
        words(&["python3", "-m", "venv", "--clear", &root]),
        words(&[
            &pip,
            "install",
            "--quiet",
            "--disable-pip-version-check",
            &sphinx,
        ]),
    ]
}
