//! Python programs from PyPI, each in a virtual environment of its own below
//! this tool's part of `target/`: no other Python of the machine is touched.

use std::path::Path;
use std::process::Command;

use super::process;

/// Whether this machine's Python makes virtual environments: Debian has that
/// in a package of its own.
pub(super) fn has_venv() -> bool {
    let check = ["-c", "import ensurepip, venv"];
    process::output(Command::new("python3").args(check)).is_ok()
}

/// The commands that make the environment `root` and put `packages` there.
pub(super) fn install(root: &Path, packages: &[&str]) -> [Vec<String>; 2] {
    let root = root.display().to_string();
    let pip = format!("{root}/bin/pip");
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
    let install = ["install", "--quiet", "--disable-pip-version-check"];
    [
        words(&["python3", "-m", "venv", "--clear", &root]),
        words(&[&[pip.as_str()], &install[..], packages].concat()),
    ]
}
