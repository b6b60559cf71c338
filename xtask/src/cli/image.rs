//! `cargo xtask image`.

use std::fs;

use anyhow::{Context, Result};

use super::arguments::ImageArguments;
use super::{files, plan};
use crate::board::Board;
use crate::firmware::Variant;
use crate::payload::Tree;
use crate::progress::say;
use crate::qemu::Firmware;
use crate::run::{ImageWish, make_image};
use crate::workspace::Workspace;

pub(super) fn run(arguments: &ImageArguments) -> Result<u8> {
    plan(arguments.args.as_deref())?;
    let workspace = Workspace::find()?;
    let board = Board::load(&workspace, &arguments.board)?;
    let wish = ImageWish {
        cpus: match arguments.smp {
            Some(cpus) => cpus,
            None => board.default_cpus()?,
        },
        gic: arguments.gic.unwrap_or(board.default_gic()),
        firmware: Firmware::TfA,
        conduit: board.psci.conduit,
        variant: Variant::default(),
        args: arguments.args.as_deref(),
        emulated: false,
    };
    let tree = match &arguments.dtb {
        Some(path) => Tree::File(path.clone()),
        None => Tree::Board,
    };
    if let Some(output) = &arguments.output {
        files::apart(("--output", output), ("--dtb", arguments.dtb.as_deref()))?;
    }
    let image = make_image(&workspace, &board, &wish, &tree)?;
    let output = match &arguments.output {
        Some(path) => path.clone(),
        None => {
            fs::create_dir_all(workspace.state())?;
            workspace
                .state()
                .join(format!("psci-bench-{}.bin", arguments.board))
        }
    };
    fs::write(&output, &image).with_context(|| format!("--output {}", output.display()))?;
    say(&format!("{}: {} bytes", output.display(), image.len()));
    Ok(0)
}
