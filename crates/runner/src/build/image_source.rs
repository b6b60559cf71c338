//! The options for the payload and the device tree of an image.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;

use crate::build::image_contents::TreeOptions;
use crate::setup::workspace::Workspace;

/// An input file and the option that names it.
pub type Input<'p> = (&'static str, Option<&'p Path>);

/// The payload and the device tree of an image.
#[derive(Debug, Args)]
pub struct ImageSource {
    /// Board in platforms/ [default: qemu; EFI: none].
    #[arg(long, value_name = "NAME", conflicts_with = "dtb")]
    pub board: Option<String>,
    /// Use this released payload instead of building one.
    #[arg(long, value_name = "FILE")]
    pub base: Option<PathBuf>,
    /// The device tree.
    #[command(flatten)]
    pub tree: TreeOptions,
}

impl ImageSource {
    /// Returns the input files, each with the option that names it.
    pub fn inputs(&self) -> Vec<Input<'_>> {
        let inputs = [("--dtb", &self.tree.dtb), ("--base", &self.base)];
        inputs
            .map(|(option, path)| (option, path.as_deref()))
            .into()
    }
}

/// Returns the path of the file to write, which is `requested`, or `in_folder` inside it if
/// `requested` is a directory. If it is None, returns `usual` in the workspace directory, which is
/// created if needed.
pub fn output_path(
    workspace: &Workspace,
    requested: Option<&Path>,
    usual: &str,
    in_folder: &str,
) -> Result<PathBuf> {
    match requested {
        Some(folder) if folder.is_dir() => Ok(folder.join(in_folder)),
        Some(path) => Ok(path.to_path_buf()),
        None => {
            let state = workspace.state();
            fs::create_dir_all(&state).with_context(|| state.display().to_string())?;
            Ok(state.join(usual))
        }
    }
}
