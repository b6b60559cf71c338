//! `cargo xtask release`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use host::progress::say;

use crate::build::report_program;
use crate::release::contents::{NEEDS, contents};
use crate::setup;
use crate::setup::workspace::Workspace;
use host::folder::OutputFolder;

/// Make a folder that lets a lab measure boards without Rust.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask release -o psci-bench-0.1.0
  cargo xtask release -o /media/share/psci-bench

See README.md in DIR for usage. Builds of the same source are identical.
Details: docs/release.md")]
pub struct ReleaseArguments {
    /// Directory to create; may exist if it is empty.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
}

pub(super) fn run(arguments: &ReleaseArguments) -> Result<u8> {
    let workspace = Workspace::find()?;
    let output = &arguments.output;
    let folder = OutputFolder::new("-o", output, None)?;
    setup::ensure(&workspace, &NEEDS)?;
    let files = contents(&workspace, || report_program::build(&workspace))?;
    folder.write(&files)?;
    let (folder, count) = (output.display(), files.len());
    say(&format!(
        "{folder}: {count} files; start with {folder}/README.md"
    ));
    Ok(0)
}
