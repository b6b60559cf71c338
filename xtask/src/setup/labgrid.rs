//! labgrid, with which tests run the environments that are made for it.

use std::path::PathBuf;
use std::process::Command;

use super::workspace::Workspace;
use super::{process, python};

/// The labgrid that is used, and no other.
const VERSION: &str = "26.0.1";

fn root(workspace: &Workspace) -> PathBuf {
    workspace.state().join(format!("labgrid-{VERSION}"))
}

/// The folder of labgrid's programs, and of a pytest that has its plugin.
#[must_use]
pub fn labgrid(workspace: &Workspace) -> Option<PathBuf> {
    let bin = root(workspace).join("bin");
    let check = format!(
        "import importlib.metadata as m; assert m.version('labgrid') == '{VERSION}'; import labgrid"
    );
    process::output(Command::new(bin.join("python")).args(["-c", &check])).ok()?;
    bin.join("pytest").is_file().then_some(bin)
}

/// The commands that install it.
pub(super) fn install(workspace: &Workspace) -> [Vec<String>; 2] {
    let labgrid = format!("labgrid=={VERSION}");
    python::install(&root(workspace), &[&labgrid, "pytest==9.2.0"])
}
