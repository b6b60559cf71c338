//! The EFI application's payload and signature.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use boards::device_tree::machine;
use clap::{ArgAction, Args};
use host::progress::say;
use runner::build::boot_arguments::parse_plan;
use runner::build::image::{self, Emergency};
use runner::build::image_contents::adapt_without_memory;
use runner::build::image_source::{ImageSource, Input};
use runner::build::tree_file::read_tree;
use runner::build::{GivenStates, payload};
use runner::setup::workspace::Workspace;

use crate::application;
use crate::signer::Signer;

/// Who signs an EFI application.
#[derive(Debug, Args)]
pub struct SignerArguments {
    /// Sign for Secure Boot, with a PEM key and its certificate.
    #[arg(long, num_args = 2, action = ArgAction::Set, value_names = ["KEY", "CERT"])]
    pub sign: Option<Vec<PathBuf>>,
}

impl SignerArguments {
    /// Returns the input files of `source` and the signature, each with the option that names it.
    pub(super) fn inputs<'p>(&'p self, source: &'p ImageSource) -> Vec<Input<'p>> {
        let mut inputs = source.inputs();
        let files = self.sign.iter().flatten();
        inputs.extend(files.map(|path| ("--sign", Some(Path::new(path)))));
        inputs
    }

    /// Builds the EFI application.
    pub(super) fn application(
        &self,
        workspace: &Workspace,
        source: &ImageSource,
    ) -> Result<Vec<u8>> {
        let signer = match self.sign.as_deref() {
            Some([key, certificate]) => Some(Signer::new(key, certificate)?),
            _ => None,
        };
        let args = source.tree.args.as_deref();
        parse_plan(args)?;
        let image = image_of(source, workspace)?;
        // If the image has a tree, the tree contains the boot arguments.
        let has_tree = source.board.is_some() || source.tree.dtb.is_some();
        let bytes = application::build(workspace, &image, args.filter(|_| !has_tree))?;
        let signed = signer.map(|signer| signer.sign(workspace, &bytes));
        signed.unwrap_or(Ok(bytes))
    }
}

/// Builds the image of an EFI application. The image contains a device tree only if `--board` or
/// `--dtb` is given.
///
/// # Errors
/// Returns an error if an input is invalid, or an option needs a board.
fn image_of(source: &ImageSource, workspace: &Workspace) -> Result<Vec<u8>> {
    let tree_options = &source.tree;
    let base = image::released("--base", source.base.as_deref())?;
    let flat = |base: Option<_>| base.map_or_else(|| payload::flat(workspace), Ok);
    if let Some(path) = &tree_options.dtb {
        let blob = read_tree("--dtb", path)?;
        let checked = adapt_without_memory(&blob, tree_options.args.as_deref())
            .and_then(|tree| Ok((machine(&tree)?.1, tree)));
        let (cpus, tree) = checked.with_context(|| format!("--dtb {}", path.display()))?;
        return image::assemble(flat(base)?, Some(&tree), Emergency::of_tree(&tree), cpus);
    }
    if let Some(name) = &source.board {
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

/// Prints how to start the application.
pub(super) fn say_next() {
    say(
        "next: start it from the EFI shell or with U-Boot's `bootefi`, with boot arguments \
         after its name; `cargo xtask stick` makes a USB stick that starts it automatically",
    );
}
