//! `cargo xtask fip build`.

use anyhow::Result;

use super::arguments::BuildArguments;
use super::{files, fip, image};
use crate::board::Board;
use crate::fip::Builder;
use crate::pack::{self, Recipe};
use crate::progress::say;
use crate::workspace::Workspace;
use crate::{cert_create, openssl};

pub(super) fn run(arguments: &BuildArguments) -> Result<u8> {
    let workspace = Workspace::find()?;
    let board = Board::load(&workspace, &arguments.board)?;
    let package = pack::takes_fip(&board)?;
    let out = ("--output", arguments.output.as_path());
    files::writable(out)?;
    files::apart(out, ("--base", arguments.base.as_deref()))?;
    files::apart(out, ("--payload", arguments.payload.as_deref()))?;
    files::apart(out, ("--nt-fw-key", arguments.nt_fw_key.as_deref()))?;
    files::apart(out, ("--dtb", arguments.tree.dtb.as_deref()))?;
    let given = fip::load(&arguments.images, out)?;
    let mut align = package.align();
    let mut builder = match &arguments.part {
        Some(file) => pack::part(&board, file, given)?,
        None => {
            let base = match &arguments.base {
                Some(path) => {
                    let (base, file) = fip::open("--base", path)?;
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
            pack::fip(
                recipe,
                |request| cert_create::sign(&workspace, request),
                |signed| openssl::verify(&workspace, signed),
            )?
        }
    };
    builder.align(arguments.align.unwrap_or(align))?;
    fip::save(out, &builder)?;
    if arguments.part.is_none() {
        say(&pack::after_fip(package));
    }
    Ok(0)
}
