//! Builds the file that a board boots from by replacing BL33 in the user's file.

use std::path::Path;

use anyhow::{Context, Result, bail};
use boards::BoardFile;
use host::progress::say;
use host::read_file;

use super::cell::Content;
use super::engine::Engine;
use super::recovery;
use crate::build::fip::Fip;
use crate::build::package::Recipe;
use crate::setup::workspace::Workspace;

/// Returns the user's FIP, or the recovery image that contains it, with BL33 replaced by the image
/// that `image` builds. `key` is the non-trusted firmware key if BL33 is signed.
pub fn content(
    workspace: &Workspace,
    (board, engine): (&BoardFile, Engine),
    path: &Path,
    key: Option<&Path>,
    image: impl FnOnce() -> Result<Vec<u8>>,
) -> Result<Content> {
    let at = || format!("--base {}", path.display());
    let file = read_file::read("--base", path, recovery::FILE_MAX)?;
    let build = |old: &[u8]| {
        let (base, warning) = Fip::read(old).context("the FIP")?;
        if let Some(warning) = warning {
            say(&format!("warning: the FIP: {warning}"));
        }
        let recipe = Recipe {
            name: "the FIP",
            base: Some(base),
            given: Vec::new(),
            key,
        };
        recipe.make(workspace, board, image)?.build()
    };
    let (title, lab) = (&board.title, board.lab.as_ref());
    if !recovery::is_zip(&file) {
        let fip = build(&file).with_context(at)?;
        if let Some(lab) = lab.filter(|_| engine == Engine::Lava) {
            bail!(
                "{}: this is only a FIP, but LAVA installs a recovery image on {title}; pass the \
                 zip that contains {}",
                at(),
                lab.recovery
            );
        }
        return Ok(Content::Loose(fip));
    }
    let Some(lab) = lab else {
        bail!(
            "{}: this is a zip, but {title}'s board file has no [lab] table that names the FIP \
             in the zip",
            at()
        );
    };
    let zip = recovery::replace_fip(&file, &lab.recovery, build);
    Ok(Content::Recovery(zip.with_context(at)?))
}
