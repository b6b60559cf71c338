//! `cargo xtask payload`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use host::files;
use runner::build::image_source::output_path;
use runner::build::{image, payload};
use runner::setup::workspace::Workspace;

/// The default file name.
const NAME: &str = "payload.bin";

/// Build the payload without a device tree, as in a release.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask payload -o payload.bin
  cargo xtask payload --base bl33.bin -o payload.bin

Details: docs/first-boot.md, Boot loaders")]
pub struct PayloadArguments {
    /// Use the payload from this image instead of building one.
    #[arg(long, value_name = "FILE")]
    pub base: Option<PathBuf>,
    /// File to write [default: target/psci-bench/payload.bin].
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
}

pub(super) fn run(arguments: &PayloadArguments) -> Result<u8> {
    let workspace = Workspace::find()?;
    let output = output_path(&workspace, arguments.output.as_deref(), NAME, NAME)?;
    let out = ("--output", output.as_path());
    files::check_output(out, &[("--base", arguments.base.as_deref())])?;
    let base = image::released("--base", arguments.base.as_deref())?;
    let image = image::bare(base.map_or_else(|| payload::flat(&workspace), Ok)?)?;
    files::write(&[(out, &image)])?;
    Ok(0)
}
