//! `cargo xtask fip build`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use host::files;
use host::progress::say;

use super::images::{Images, load, number, open, save};
use crate::build::image;
use crate::build::image_contents::TreeWish;
use crate::build::package::{self, Recipe};
use crate::cli::common::plan;
use crate::setup::workspace::Workspace;

/// Arguments of `fip build`.
#[derive(Debug, Args)]
pub struct BuildArguments {
    /// The board: a folder of platforms/.
    #[arg(long, value_name = "NAME")]
    pub board: String,
    /// The file to write.
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Replace BL33 in this FIP, and leave the rest of it as it is, aligned as
    /// it is.
    #[arg(long, value_name = "FIP")]
    pub base: Option<PathBuf>,
    /// Make this further file of the board, which is without the payload.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["base", "payload", "nt_fw_key", "dtb", "args", "smp", "gic"])]
    pub part: Option<String>,
    /// Use this released payload instead of building one.
    #[arg(long, value_name = "FILE")]
    pub payload: Option<PathBuf>,
    /// The key of the non-trusted firmware, in PEM form, to make BL33's new
    /// certificate with: where the FIP has certificates. Its counter is the old
    /// one's, which is in --base, or --nt-fw-cert where there is no --base.
    #[arg(long, value_name = "PEM")]
    pub nt_fw_key: Option<PathBuf>,
    /// Align each image to so many bytes, a power of two [default: as the
    /// board file says, and at least as in --base].
    #[arg(long, value_name = "N", value_parser = number)]
    pub align: Option<u64>,
    #[command(flatten)]
    pub tree: TreeWish,
    #[command(flatten)]
    pub images: Images,
}

pub(super) fn run(arguments: &BuildArguments) -> Result<()> {
    let workspace = Workspace::find()?;
    let board = boards::load(&arguments.board)?;
    let package = package::takes_fip(&board)?;
    let out = ("--output", arguments.output.as_path());
    let inputs = [
        ("--base", arguments.base.as_deref()),
        ("--payload", arguments.payload.as_deref()),
        ("--nt-fw-key", arguments.nt_fw_key.as_deref()),
        ("--dtb", arguments.tree.dtb.as_deref()),
    ];
    files::check(out, &inputs)?;
    let given = load(&arguments.images, out)?;
    let base = arguments.base.as_deref().map(|path| open("--base", path));
    let base = base.transpose()?;
    let mut fip = match &arguments.part {
        Some(file) => package::part(&board, file, given)?,
        None => {
            let base_name = arguments.base.as_ref();
            let name = base_name.map_or("the images given".into(), |path| {
                format!("--base {}", path.display())
            });
            let recipe = Recipe {
                name: &name,
                base,
                given,
                key: arguments.nt_fw_key.as_deref(),
            };
            recipe.make(&workspace, &board, || {
                plan(arguments.tree.args.as_deref())?;
                let payload = image::released("--payload", arguments.payload.as_deref())?;
                arguments.tree.make_image(&workspace, &board, payload)
            })?
        }
    };
    if let Some(align) = arguments.align {
        fip.align(align)?;
    }
    save(out, &fip)?;
    if arguments.part.is_none() {
        say(&package::after_fip(package));
    }
    Ok(())
}
