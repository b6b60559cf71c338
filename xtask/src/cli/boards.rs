//! `cargo xtask boards`.

use std::io::Write as _;

use anyhow::Result;
use itertools::Itertools as _;

use super::common::BAD;
use crate::board;
use crate::setup::workspace::Workspace;
use host::progress::say;
use host::stdout::Out;

pub(super) fn run(name: Option<&str>) -> Result<u8> {
    let workspace = Workspace::find()?;
    let mut out = Out::default();
    if let Some(name) = name {
        let text = board::describe(&board::load(&workspace, name)?);
        out.write_all(text.as_bytes())?;
        return Ok(0);
    }
    let names = board::names(&workspace);
    let boards = names.iter().map(|name| board::load(&workspace, name));
    let (boards, broken): (Vec<_>, Vec<_>) = boards.partition_result();
    out.write_all(board::table(&boards).as_bytes())?;
    broken
        .iter()
        .for_each(|error| say(&format!("error: {error:#}")));
    Ok(if broken.is_empty() { 0 } else { BAD })
}
