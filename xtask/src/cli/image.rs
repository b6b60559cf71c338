//! `cargo xtask image`.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use boards::PackageKind;
use clap::Args;
use host::progress::say;
use host::{files, read_file};
use runner::build::boot_arguments::parse_plan;
use runner::build::image::{self, FILE_MAX};
use runner::build::image_source::{ImageSource, output_path};
use runner::build::package;
use runner::setup::workspace::Workspace;

/// A file written next to the image, and its description.
type FitFile = (&'static str, PathBuf);
/// The default board for an image.
const BOARD: &str = "qemu";

/// Build what a board boots: the payload with a device tree.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask image --board rpi4 -o kernel8.img
  cargo xtask image --dtb my-board.dtb --args 'iterations=100' -o bl33.bin
  cargo xtask image --base payload.bin --dtb my-board.dtb -o bl33.bin

Details: docs/boards.md")]
pub struct ImageArguments {
    #[command(flatten)]
    pub source: ImageSource,
    /// Print a mark for each boot stage: docs/first-boot.md.
    #[arg(long)]
    pub bootlog: bool,
    /// File to write, or directory for a file with the loader's name.
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
}

pub(super) fn run(arguments: &ImageArguments) -> Result<u8> {
    let workspace = Workspace::find()?;
    let source = &arguments.source;
    let name = source.board.as_deref().unwrap_or(BOARD);
    let board = boards::load(name)?;
    let package = board.package.as_ref().filter(|_| source.tree.dtb.is_none());
    let raw = package.filter(|package| package.kind == PackageKind::Raw);
    let usual = format!("psci-bench-{name}.bin");
    let in_folder = raw.map_or(&usual, |package| &package.file);
    let output = output_path(&workspace, arguments.output.as_deref(), &usual, in_folder)?;
    let out = ("--output", output.as_path());
    let is_fit = package.is_some_and(|package| package.kind == PackageKind::Fit);
    // This is checked before the payload is built or anything is written.
    files::check_output(out, &source.inputs())?;
    let parts = is_fit
        .then(|| fit_files(&output, source.base.as_deref()))
        .transpose()?;
    let base = image::released("--base", source.base.as_deref())?;
    parse_plan(source.tree.args.as_deref())?;
    let mut image = match source.tree.dtb {
        None => source.tree.make_image(&workspace, &board, base)?,
        Some(_) => source
            .tree
            .make_image_for_any_board(&workspace, &board, base)?,
    };
    if arguments.bootlog {
        image::enable_boot_log(&mut image)?;
    }
    let mut all = vec![(out, &image[..])];
    let its_text;
    if let Some([(tree, at), (its, path)]) = &parts {
        its_text = package::fit_source(&board.title, &output, at, board.load_address)?;
        all.push(((tree, at), image::appended_tree(&image)?));
        all.push(((its, path), its_text.as_bytes()));
    }
    files::write(&all)?;
    if let Some(left) = package.and_then(|_| package::after_image(&board, &output)) {
        say(&left);
    }
    Ok(0)
}

/// Returns the two files that are written next to `output` for a flattened image tree: the device
/// tree and the image tree's source. The user does not choose their names, so existing files are
/// replaced only if this tool wrote them.
fn fit_files(output: &Path, base: Option<&Path>) -> Result<[FitFile; 2]> {
    let [tree, source] = ["dtb", "its"].map(|extension| output.with_added_extension(extension));
    let what = "the image tree's source";
    let ours =
        source.is_file() && package::is_fit_source(&read_file::read(what, &source, FILE_MAX)?);
    let files = [("the image's device tree", tree), (what, source)];
    for (what, path) in &files {
        files::check_output((what, path), &[("--base", base)])?;
    }
    if let Some((what, path)) = files.iter().find(|file| !ours && file.1.exists()) {
        bail!(
            "{what} {}: not written by this tool; remove it, or use another --output name",
            path.display()
        );
    }
    Ok(files)
}
