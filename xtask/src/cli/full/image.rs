//! `cargo xtask image`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use boards::{Package, PackageKind};
use clap::{ArgAction, Args};
use hardware::image::ParameterBlock;
use host::files;
use host::progress::say;
use host::read_file;

use super::image_source::{ImageSource, say_next};
use crate::build::image::{self, FILE_MAX};
use crate::build::{package, payload};
use crate::cli::common::plan;
use crate::setup::workspace::Workspace;

/// A file beside the image, and what it is.
type FitFile = (&'static str, PathBuf);
/// The board of an image without `--board`.
const BOARD: &str = "qemu";

/// Arguments of `image`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  cargo xtask image --board juno -o bl33.bin     # see `cargo xtask boards`
  cargo xtask image --board rpi4 -o kernel8.img
  cargo xtask image --board juno --state-format extended --core 0x40000002 \\
      --deepest 0x40000022 -o bl33.bin
  cargo xtask image --dtb my-board.dtb --args 'iterations=100' -o bl33.bin
  cargo xtask image --base payload.bin --dtb my-board.dtb -o bl33.bin
  cargo xtask image --board rpi4 --bootlog -o kernel8.img
  cargo xtask image --bare -o payload.bin
  cargo xtask image --efi -o BOOTAA64.EFI
  cargo xtask image --efi --dtb my-board.dtb --sign db.key db.pem -o BOOTAA64.EFI")]
pub struct ImageArguments {
    /// Append no device tree: what a release ships, for all boards.
    #[arg(long, conflicts_with_all = ["board", "dtb", "args", "smp", "gic", "state_format", "core"])]
    pub bare: bool,
    /// Make an EFI application that starts the payload. Without --board and
    /// --dtb it uses the machine's device tree or ACPI tables, and --args if it
    /// is started without arguments. Memory always comes from EFI's map.
    #[arg(long, conflicts_with = "bare")]
    pub efi: bool,
    /// Have the image print a mark for each stage of its boot on the UART that
    /// it has for errors: for a board on which nothing else is heard
    /// (docs/first-boot.md).
    #[arg(long, conflicts_with_all = ["bare", "efi"])]
    pub bootlog: bool,
    /// Sign the EFI application for Secure Boot, with a key and its certificate
    /// in PEM form.
    #[arg(long, num_args = 2, action = ArgAction::Set, value_names = ["KEY", "CERT"], requires = "efi")]
    pub sign: Option<Vec<PathBuf>>,
    #[command(flatten)]
    pub source: ImageSource,
    /// The file to write, or a directory to write the board's file to
    /// [default: psci-bench-BOARD.bin or BOOTAA64.EFI in target/psci-bench].
    /// For a board that takes an image tree, OUT.dtb and OUT.its are written,
    /// too.
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
}

pub(super) fn run(arguments: &ImageArguments) -> Result<u8> {
    let workspace = Workspace::find()?;
    let source = &arguments.source;
    let board = boards::load(source.board.as_deref().unwrap_or(BOARD))?;
    let of_board = !arguments.bare && !arguments.efi && source.tree.dtb.is_none();
    let package = board.package.as_ref().filter(|_| of_board);
    let output = output(&workspace, arguments, package)?;
    let out = ("--output", output.as_path());
    let is_fit = package.is_some_and(|package| package.kind == PackageKind::Fit);
    // Before anything is written, and the payload is built.
    let sign = arguments.sign.as_deref();
    files::check(out, &source.inputs(sign))?;
    let parts = is_fit.then(|| fit_files(&output, source.base.as_deref()));
    let parts = parts.transpose()?;
    let mut image = if arguments.efi {
        source.application(&workspace, sign)?
    } else {
        let base = image::released("--base", source.base.as_deref())?;
        plan(source.tree.args.as_deref())?;
        match arguments.bare {
            true => image::bare(base.map_or_else(|| payload::flat(&workspace), Ok)?)?,
            false => source.tree.make_image(&workspace, &board, base)?,
        }
    };
    if arguments.bootlog {
        image::enable_boot_log(&mut image)?;
    }
    let mut all = vec![(out, &image[..])];
    let its_text;
    if let Some([(tree, at), (its, path)]) = &parts {
        let blob = ParameterBlock::read(&image)?.tree_offset as usize;
        its_text = package::fit_source(&board.title, &output, at, board.load_address)?;
        all.push((
            (tree, at),
            image.get(blob..).expect("the tree is in its image"),
        ));
        all.push(((its, path), its_text.as_bytes()));
    }
    files::write(&all)?;
    if let Some(left) = package.and_then(|_| package::after_image(&board, &output)) {
        say(&left);
    }
    if arguments.efi {
        say_next();
    }
    Ok(0)
}

/// Returns the output: in a directory, by the name that the board's loader wants.
fn output(
    workspace: &Workspace,
    arguments: &ImageArguments,
    package: Option<&Package>,
) -> Result<PathBuf> {
    let usual = match &arguments.source.board {
        _ if arguments.efi => "BOOTAA64.EFI".to_owned(),
        _ if arguments.bare => "payload.bin".to_owned(),
        board => format!("psci-bench-{}.bin", board.as_deref().unwrap_or(BOARD)),
    };
    let raw = package.filter(|package| package.kind == PackageKind::Raw);
    match &arguments.output {
        Some(dir) if dir.is_dir() => Ok(dir.join(raw.map_or(&usual, |package| &package.file))),
        Some(path) => Ok(path.clone()),
        None => {
            let state = workspace.state();
            fs::create_dir_all(&state).with_context(|| state.display().to_string())?;
            Ok(state.join(usual))
        }
    }
}

/// Returns the files of a flattened image tree beside the image `output`: the tree and the
/// source. Their names are not the user's, so that only files from here are replaced.
fn fit_files(output: &Path, base: Option<&Path>) -> Result<[FitFile; 2]> {
    let [tree, source] = ["dtb", "its"].map(|ending| output.with_added_extension(ending));
    let what = "the image tree's source";
    let ours =
        source.is_file() && package::is_fit_source(&read_file::read(what, &source, FILE_MAX)?);
    let files = [("the image's device tree", tree), (what, source)];
    for (what, path) in &files {
        files::check((what, path), &[("--base", base)])?;
    }
    if let Some((what, path)) = files.iter().find(|file| !ours && file.1.exists()) {
        bail!(
            "{what} {}: there is such a file already, and it is not from here; remove it, or \
             give --output another name",
            path.display()
        );
    }
    Ok(files)
}
