//! The options for the payload and the device tree of an image.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use boards::device_tree;
use clap::Args;
use hardware::image::TREE_MAX;
use host::read_file;

use crate::build::image::{self, Emergency};
use crate::build::image_contents::{TreeOptions, adapt_for_efi};
use crate::build::{GivenStates, payload};
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

    /// Builds the image of an EFI application. The image contains a device tree only if `--board` or
    /// `--dtb` is given.
    ///
    /// # Errors
    /// Returns an error if an input is invalid, or an option needs a board.
    pub fn image_for_efi(&self, workspace: &Workspace) -> Result<Vec<u8>> {
        let tree_options = &self.tree;
        let base = image::released("--base", self.base.as_deref())?;
        let flat = |base: Option<_>| base.map_or_else(|| payload::flat(workspace), Ok);
        if let Some(path) = &tree_options.dtb {
            let blob = read_file::read("--dtb", path, TREE_MAX)?;
            let checked = adapt_for_efi(&blob, tree_options.args.as_deref())
                .and_then(|tree| Ok((device_tree::machine(&tree)?.1, tree)));
            let (cpus, tree) = checked.with_context(|| format!("--dtb {}", path.display()))?;
            return image::assemble(flat(base)?, Some(&tree), Emergency::of_tree(&tree), cpus);
        }
        if let Some(name) = &self.board {
            return tree_options.make_image(workspace, &boards::load(name)?, base);
        }
        let board_options = [
            ("--smp", tree_options.smp.is_some()),
            ("--gic", tree_options.gic.is_some()),
            ("--no-power-down", tree_options.no_power_down),
            (
                "--state-format and --core",
                tree_options.states != GivenStates::default(),
            ),
        ];
        if let Some((option, _)) = board_options.iter().find(|(_, is_given)| *is_given) {
            bail!("{option}: only valid for a board file's device tree; specify --board");
        }
        image::bare(flat(base)?)
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
