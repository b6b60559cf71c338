//! Python programs from PyPI, each in a separate virtual environment in this tool's part of
//! `target/`. The machine's own Python packages remain unchanged.

use std::path::{Path, PathBuf};
use std::process::Command;

use host::process;

use super::workspace::Workspace;

/// The file that marks an environment as complete.
pub(super) const READY: &str = "ready";

/// A package in a separate environment: its name, the required version, and the other packages
/// installed with it.
pub(super) struct PythonPackage(&'static str, &'static str, &'static [&'static str]);

/// Sphinx, which builds the TF-A documentation and, in tests, report pages.
pub(super) const SPHINX: PythonPackage = PythonPackage("sphinx", "8.1.3", &[]);

/// labgrid, which tests use to run the generated environments, and pytest for the labgrid plugin.
pub(super) const LABGRID: PythonPackage = PythonPackage("labgrid", "26.0.1", &["pytest==9.2.0"]);

impl PythonPackage {
    fn root(&self, workspace: &Workspace) -> PathBuf {
        workspace.state().join(format!("{}-{}", self.0, self.1))
    }

    /// Returns the folder that contains the programs of the package, if the installation is
    /// complete.
    pub(super) fn find(&self, workspace: &Workspace) -> Option<PathBuf> {
        let root = self.root(workspace);
        root.join(READY).is_file().then(|| root.join("bin"))
    }

    pub(super) fn install(&self, workspace: &Workspace) -> Vec<Vec<String>> {
        let package = format!("{}=={}", self.0, self.1);
        install(&self.root(workspace), &[&[&*package], self.2].concat())
    }
}

/// Returns the `sphinx-build` to use.
pub fn sphinx_build(workspace: &Workspace) -> Option<PathBuf> {
    Some(SPHINX.find(workspace)?.join("sphinx-build"))
}

/// Returns the folder that contains the labgrid programs.
pub fn labgrid(workspace: &Workspace) -> Option<PathBuf> {
    LABGRID.find(workspace)
}

/// Returns true if the Python on this machine can create virtual environments. On Debian, this
/// requires a separate package.
pub(super) fn has_venv() -> bool {
    let check = ["-c", "import ensurepip, venv"];
    process::output(Command::new("python3").args(check)).is_ok()
}

/// Returns the commands that create an environment in `root` and install `packages` in it.
pub(super) fn install(root: &Path, packages: &[&str]) -> Vec<Vec<String>> {
    let ready = root.join(READY).display().to_string();
    let root = root.display().to_string();
    let pip = format!("{root}/bin/pip");
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
    let install = ["install", "--quiet", "--disable-pip-version-check"];
    vec![
        words(&["python3", "-m", "venv", "--clear", &root]),
        words(&[&[&*pip], &install[..], packages].concat()),
        words(&["touch", &ready]),
    ]
}
