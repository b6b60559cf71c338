//! `cargo xtask boards`.

use std::io::Write as _;

use anyhow::Result;
use clap::Args;
use host::exit_code::BAD;
use host::progress::say;
use host::stdout::Out;
use itertools::Itertools as _;

use super::board_text::{describe, table};

/// List the boards, or show one in full.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask boards
  cargo xtask boards juno

Details: docs/boards.md")]
pub struct BoardsArguments {
    /// Board to show: a folder in platforms/.
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

pub(super) fn run(arguments: &BoardsArguments) -> Result<u8> {
    let mut out = Out::default();
    if let Some(name) = &arguments.name {
        let text = describe(&boards::load(name)?);
        out.write_all(text.as_bytes())?;
        return Ok(0);
    }
    let boards = boards::names().map(boards::load);
    let (boards, broken): (Vec<_>, Vec<_>) = boards.partition_result();
    out.write_all(table(&boards).as_bytes())?;
    broken
        .iter()
        .for_each(|error| say(&format!("error: {error:#}")));
    Ok(if broken.is_empty() { 0 } else { BAD })
}
