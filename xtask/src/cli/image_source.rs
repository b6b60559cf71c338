//! The payload and the device tree for an image, and for the EFI application that wraps it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use boards::device_tree;
use clap::{ArgAction, Args};
use hardware::image::TREE_MAX;
use host::progress::say;
use host::read_file;

use crate::cli::boot_arguments::parse_plan;
use runner::build::image::{self, Emergency};
use runner::build::image_contents::{TreeOptions, adapt_for_efi};
use runner::build::signer::Signer;
use runner::build::{GivenStates, efi, payload};
use runner::setup::workspace::Workspace;

/// An input file and the option that names it.
type Input<'p> = (&'static str, Option<&'p Path>);

/// The payload and the device tree of an image.
#[derive(Debug, Args)]
pub struct ImageSource {
    /// Board in platforms/ [default: qemu; EFI: none].
    #[arg(long, value_name = "NAME", conflicts_with = "dtb")]
    pub board: Option<String>,
    /// Use this released payload instead of building one.
    #[arg(long, value_name = "FILE")]
    pub base: Option<PathBuf>,
    #[command(flatten)]
    pub tree: TreeOptions,
}

/// Who signs an EFI application.
#[derive(Debug, Args)]
pub struct SignerArguments {
    /// Sign for Secure Boot, with a PEM key and its certificate.
    #[arg(long, num_args = 2, action = ArgAction::Set, value_names = ["KEY", "CERT"])]
    pub sign: Option<Vec<PathBuf>>,
}

impl ImageSource {
    /// Returns the input files, each with the option that names it.
    pub(super) fn inputs<'p>(&'p self, sign: Option<&'p [PathBuf]>) -> Vec<Input<'p>> {
        let own = [("--dtb", &self.tree.dtb), ("--base", &self.base)]
            .map(|(option, path)| (option, path.as_deref()));
        let signer = sign
            .unwrap_or(&[])
            .iter()
            .map(|path| ("--sign", Some(path.as_path())));
        own.into_iter().chain(signer).collect()
    }

    /// Builds the EFI application. `sign` contains the paths of a key and its certificate.
    pub(super) fn application(
        &self,
        workspace: &Workspace,
        sign: Option<&[PathBuf]>,
    ) -> Result<Vec<u8>> {
        let signer = match sign {
            Some([key, certificate]) => Some(Signer::new(key, certificate)?),
            _ => None,
        };
        let args = self.tree.args.as_deref();
        parse_plan(args)?;
        let image = self.image(workspace)?;
        // If the image has a tree, the tree contains the boot arguments.
        let has_tree = self.board.is_some() || self.tree.dtb.is_some();
        let application = efi::build(workspace, &image, args.filter(|_| !has_tree))?;
        let signed = signer.map(|signer| signer.sign(workspace, &application));
        signed.unwrap_or(Ok(application))
    }

    /// Builds the image. The image contains a device tree only if `--board` or `--dtb` is given.
    fn image(&self, workspace: &Workspace) -> Result<Vec<u8>> {
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
pub(super) fn output_path(
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

/// Prints how to start the application.
pub(super) fn say_next() {
    say(
        "next: start it from the EFI shell or with U-Boot's `bootefi`, with boot arguments \
         after its name; `cargo xtask stick` makes a USB stick that starts it automatically",
    );
}
