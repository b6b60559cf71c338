//! `cargo xtask fip build`.

use anyhow::Result;

use super::verbs;
use crate::board;
use crate::build::fip::{Builder, sign};
use crate::build::package::{self, Recipe};
use crate::cli::arguments::BuildArguments;
use crate::cli::{files, image};
use crate::setup::progress::say;
use crate::setup::workspace::Workspace;

pub(super) fn run(arguments: &BuildArguments) -> Result<u8> {
    let workspace = Workspace::find()?;
    let board = board::load(&workspace, &arguments.board)?;
    let package = package::takes_fip(&board)?;
    let out = ("--output", arguments.output.as_path());
    files::writable(out)?;
    files::apart(out, ("--base", arguments.base.as_deref()))?;
    files::apart(out, ("--payload", arguments.payload.as_deref()))?;
    files::apart(out, ("--nt-fw-key", arguments.nt_fw_key.as_deref()))?;
    files::apart(out, ("--dtb", arguments.tree.dtb.as_deref()))?;
    let given = verbs::load(&arguments.images, out)?;
    let mut align = package.align();
    let mut builder = match &arguments.part {
        Some(file) => package::part(&board, file, given)?,
        None => {
            let base = match &arguments.base {
                Some(path) => {
                    let (base, file) = verbs::open("--base", path)?;
                    align = align.max(base.align());
                    Some(Builder::of(&base, &file)?)
                }
                None => None,
            };
            let recipe = Recipe {
                base,
                given,
                key: arguments.nt_fw_key.as_deref(),
                image: Vec::new(),
            };
            // The image takes longest, and most that can be wrong is before it.
            recipe.check(&board)?;
            let payload = arguments.payload.as_deref();
            let payload = image::released("--payload", payload)?;
            let image = image::make(&workspace, &board, &arguments.tree, payload)?;
            let recipe = Recipe { image, ..recipe };
            package::fip(
                recipe,
                |request| sign::sign(&workspace, request),
                |signed| sign::verify(&workspace, signed),
            )?
        }
    };
    builder.align(arguments.align.unwrap_or(align))?;
    verbs::save(out, &builder)?;
    if arguments.part.is_none() {
        say(&package::after_fip(package));
    }
    Ok(0)
}
