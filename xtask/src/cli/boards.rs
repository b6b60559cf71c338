//! `cargo xtask boards`.

use std::io::{self, Write as _, stdout};

use anyhow::Result;

use crate::board;
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
    match stdout().write_all(text.as_bytes()) {
        // Who closed it has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(0),
        done => {
            done?;
            Ok(0)
        }
    }
}
