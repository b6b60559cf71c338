//! `cargo xtask image`.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use psci_bench::image::ParameterBlock;

use super::common::plan;
use super::files;
use crate::board::{self, Board, PackageKind};
use crate::build::image::{self, FILE_MAX};
use crate::build::image_contents::TreeWish;
use crate::build::{package, payload};
use crate::setup::progress::say;
use crate::setup::read_file;
use crate::setup::workspace::Workspace;

/// Arguments of `image`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  cargo xtask image --board juno -o bl33.bin     # see `cargo xtask boards`
  cargo xtask image --board rpi4 -o kernel8.img
  cargo xtask image --board juno --state-format extended --core 0x40000002 \\
      --deepest 0x40000022 -o bl33.bin
  cargo xtask image --dtb my-board.dtb --args 'iterations=100' -o bl33.bin
  cargo xtask image --base payload.bin --dtb my-board.dtb -o bl33.bin
  cargo xtask image --bare -o payload.bin")]
pub struct ImageArguments {
    /// The board: a folder of platforms/.
    #[arg(long, default_value = "qemu", conflicts_with = "dtb")]
    pub board: String,
    /// Use this released payload instead of building one. A device tree that
    /// it carries is replaced.
    #[arg(long, value_name = "FILE")]
    pub base: Option<PathBuf>,
    /// Append no device tree: what a release ships, for all boards.
    #[arg(long, conflicts_with_all = ["board", "dtb", "args", "smp", "gic", "state_format", "core"])]
    pub bare: bool,
    /// The contents of the device tree.
    #[command(flatten)]
    pub tree: TreeWish,
    /// The file to write, or a directory to write the board's file to
    /// [default: psci-bench-BOARD.bin in target/psci-bench]. For a
    /// board that takes an image tree, OUT.dtb and OUT.its are written, too.
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
}

pub(super) fn run(arguments: &ImageArguments) -> Result<u8> {
    let workspace = Workspace::find()?;
    let board = board::load(&workspace, &arguments.board)?;
    let of_board = !arguments.bare && arguments.tree.dtb.is_none();
    let output = output(&workspace, arguments, of_board.then_some(&board))?;
    let out = ("--output", output.as_path());
    let package = board.package.as_ref().filter(|_| of_board);
    let is_fit = package.is_some_and(|package| package.kind == PackageKind::Fit);
    let parts = is_fit.then(|| FitFiles::beside(&output)).transpose()?;
    // Before anything is written, and the payload is built.
    let inputs = [
        ("--dtb", arguments.tree.dtb.as_deref()),
        ("--base", arguments.base.as_deref()),
    ];
    files::check(out, &inputs)?;
    if let Some(parts) = &parts {
        parts.check(&output, arguments.base.as_deref())?;
    }
    let base = image::released("--base", arguments.base.as_deref())?;
    let image = if arguments.bare {
        let base = base.map_or_else(|| payload::flat(&workspace), Ok)?;
        image::bare(base)?
    } else {
        plan(arguments.tree.args.as_deref())?;
        arguments.tree.make_image(&workspace, &board, base)?
    };
    files::write(out, &image)?;
    say(&format!("{}: {} bytes", output.display(), image.len()));
    if let Some(parts) = &parts {
        fit(&board, &output, parts, &image)?;
    }
    if let Some(left) = package.and_then(|_| package::after_image(&board, &output)) {
        say(&left);
    }
    Ok(0)
}

/// Returns the output: in a directory, by the name that the board's loader wants.
fn output(
    workspace: &Workspace,
    arguments: &ImageArguments,
    board: Option<&Board>,
) -> Result<PathBuf> {
    let raw = board.and_then(|board| board.package.as_ref());
    let raw = raw.filter(|package| package.kind == PackageKind::Raw);
    let name = match raw {
        Some(package) => package.file.clone(),
        None if arguments.bare => "payload.bin".into(),
        None => format!("psci-bench-{}.bin", arguments.board),
    };
    match &arguments.output {
        Some(dir) if dir.is_dir() => Ok(dir.join(name)),
        Some(path) => Ok(path.clone()),
        None => {
            let dir = workspace.state();
            fs::create_dir_all(&dir)?;
            let of_board = format!("psci-bench-{}.bin", arguments.board);
            Ok(dir.join(if arguments.bare { name } else { of_board }))
        }
    }
}

/// The parts of a flattened image tree besides the image: files beside it
/// that have all of its name and an ending more.
struct FitFiles {
    tree: PathBuf,
    source: PathBuf,
}

impl FitFiles {
    /// Returns those beside the image `output`.
    fn beside(output: &Path) -> Result<Self> {
        let ending = output.extension().and_then(OsStr::to_str);
        let ending = ending.map(str::to_ascii_lowercase);
        if let Some(ending @ ("dtb" | "its" | "itb")) = ending.as_deref() {
            bail!(
                "--output {}: this is to be the image, and .{ending} is how files are called \
                 that are made for it or of it; use another name, such as image.bin",
                output.display()
            );
        }
        Ok(Self {
            tree: package::beside(output, "dtb"),
            source: package::beside(output, "its"),
        })
    }

    fn named(&self) -> [(&str, &Path); 2] {
        [
            ("the image's device tree", &self.tree),
            ("the image tree's source", &self.source),
        ]
    }

    /// Refuses to write over what is read, or over one another.
    fn check(&self, output: &Path, base: Option<&Path>) -> Result<()> {
        let [tree, source] = self.named();
        for file in [tree, source] {
            files::check(file, &[("--base", base)])?;
            files::distinct(file, ("--output", output))?;
        }
        files::distinct(tree, source)?;
        // Their names come from another's: what is not from here is kept.
        let ours = self.source.is_file()
            && package::is_fit_source(&read_file::read(source.0, source.1, FILE_MAX)?);
        let named = [tree, source].into_iter();
        if let Some((what, path)) = named.filter(|_| !ours).find(|(_, path)| path.exists()) {
            bail!(
                "{what} {}: there is such a file already, and it is not from here; remove it, or \
                 give --output another name",
                path.display()
            );
        }
        Ok(())
    }
}

/// Writes the source of a flattened image tree beside the image, and the tree.
fn fit(board: &Board, output: &Path, parts: &FitFiles, image: &[u8]) -> Result<()> {
    let block = ParameterBlock::read(image).map_err(|error| anyhow::anyhow!("{error}"))?;
    let tree = image.get(block.tree_offset as usize..).unwrap_or_default();
    let [image, file] = [output, &parts.tree].map(|path| path.file_name().unwrap_or_default());
    let (image, file) = (image.to_string_lossy(), file.to_string_lossy());
    let source = package::fit_source(&board.title, &image, &file, board.load_address)?;
    for (file, data) in parts.named().into_iter().zip([tree, source.as_bytes()]) {
        // By a link, it may be only now.
        files::distinct(file, ("--output", output))?;
        files::write(file, data)?;
        say(&format!("{}: {} bytes", file.1.display(), data.len()));
    }
    Ok(())
}
