//! `cargo xtask boards`.

use std::io::Write as _;

use anyhow::Result;

use crate::board;
use crate::setup::stdout::Out;
use crate::setup::workspace::Workspace;

pub(super) fn run(name: Option<&str>) -> Result<u8> {
    let workspace = Workspace::find()?;
    let text = match name {
        Some(name) => board::describe(&board::load(&workspace, name)?),
        None => {
            let names = board::names(&workspace);
            let boards = names.iter().map(|name| board::load(&workspace, name));
            board::table(&boards.collect::<Result<Vec<_>>>()?)
        }
    };
    Out::default().write_all(text.as_bytes())?;
    Ok(0)
}
