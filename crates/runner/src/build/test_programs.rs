//! The workspace's test programs.

use std::path::PathBuf;
use std::process::Command;

use host::process;

use crate::setup::workspace::Workspace;

/// Test programs that a single `cargo test` builds and runs.
#[derive(Clone, Debug)]
pub struct TestPrograms {
    /// cargo options that select the programs.
    pub packages: &'static str,
    /// Options for the programs.
    pub options: &'static str,
    /// An environment variable for cargo.
    pub environment: Option<(&'static str, &'static str)>,
    /// Cargo's target directory.
    pub target: PathBuf,
}

impl TestPrograms {
    /// Returns the tests of what CPUs share. A test program uses either loom's atomics or the
    /// hardware's, so these are built separately.
    pub fn loom(workspace: &Workspace) -> Self {
        Self {
            packages: "--package sync --test loom",
            options: "",
            environment: Some(("RUSTFLAGS", "--cfg loom")),
            target: workspace.target.join("loom"),
        }
    }

    /// Returns the command that builds and runs the programs.
    pub fn cargo_test(&self, workspace: &Workspace) -> Command {
        let mut command = process::cargo();
        command.arg("test").args(self.packages.split(' '));
        command.arg("--target-dir").arg(&self.target);
        command.envs(self.environment);
        command.current_dir(&workspace.root);
        command
    }
}
