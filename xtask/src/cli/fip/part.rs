//! `cargo xtask fip part`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use runner::build::package;

use super::images::{Images, load, number, options_help, save};

/// Make another FIP that a board needs, without the payload.
#[derive(Debug, Args)]
#[command(after_help = format!("\
Example:
  cargo xtask fip part mcp_fw.bin --board n1sdp -o mcp_fw.bin \\
      --blob uuid=54464222-a4cf-4bf8-b1b6-cee7dade539e,file=mcp_ram.bin

{}
Details: docs/fip.md", options_help(true)))]
pub struct PartArguments {
    /// Name of the file in platforms/BOARD/board.toml.
    #[arg(value_name = "PART")]
    pub part: String,
    /// Board in platforms/.
    #[arg(long, value_name = "NAME")]
    pub board: String,
    /// File to write.
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Align images to N bytes [default: the board file's].
    #[arg(long, value_name = "N", value_parser = number)]
    pub align: Option<u64>,
    #[command(flatten)]
    pub images: Images,
}

pub(super) fn run(arguments: &PartArguments) -> Result<()> {
    let board = boards::load(&arguments.board)?;
    let out = ("--output", arguments.output.as_path());
    let given = load(&arguments.images, out)?;
    let mut fip = package::build_part(&board, &arguments.part, given)?;
    if let Some(align) = arguments.align {
        fip.align(align)?;
    }
    save(out, &fip)
}
