//! `cargo xtask fip pack`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use host::files;
use host::progress::say;
use runner::build::boot_arguments::parse_plan;
use runner::build::image;
use runner::build::image_contents::TreeOptions;
use runner::build::package::{self, Recipe};
use runner::setup::workspace::Workspace;

use super::images::{Images, load, number, open, options_help, save};

/// Pack the payload and the images that you have into a FIP for a board.
#[derive(Debug, Args)]
#[command(after_help = format!("\
Examples:
  cargo xtask fip pack --board juno --base fip.bin -o new.bin
  cargo xtask fip pack --board juno --base fip.bin --nt-fw-key nt.pem \\
      -o new.bin

{}
Details: docs/fip.md", options_help(true)))]
pub struct PackArguments {
    /// Board in platforms/.
    #[arg(long, value_name = "NAME")]
    pub board: String,
    /// File to write.
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// FIP to copy with BL33 replaced.
    #[arg(long, value_name = "FIP")]
    pub base: Option<PathBuf>,
    /// Use this released payload instead of building one.
    #[arg(long, value_name = "FILE")]
    pub payload: Option<PathBuf>,
    /// Non-trusted firmware key, for a FIP with certificates.
    #[arg(long, value_name = "PEM")]
    pub nt_fw_key: Option<PathBuf>,
    /// Align images to N bytes [default: the board file's].
    #[arg(long, value_name = "N", value_parser = number)]
    pub align: Option<u64>,
    #[command(flatten)]
    pub tree: TreeOptions,
    #[command(flatten)]
    pub images: Images,
}

pub(super) fn run(arguments: &PackArguments) -> Result<()> {
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
    files::check_output(out, &inputs)?;
    let given = load(&arguments.images, out)?;
    let base = arguments
        .base
        .as_deref()
        .map(|path| open("--base", path))
        .transpose()?;
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
    let mut fip = recipe.make(&workspace, &board, || {
        parse_plan(arguments.tree.args.as_deref())?;
        let payload = image::released("--payload", arguments.payload.as_deref())?;
        arguments.tree.make_image(&workspace, &board, payload)
    })?;
    if let Some(align) = arguments.align {
        fip.align(align)?;
    }
    save(out, &fip)?;
    say(&package::after_fip(package));
    Ok(())
}
