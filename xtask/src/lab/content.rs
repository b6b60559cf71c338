//! The file that a board starts from, made of the user's by a replacement of BL33.

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::cell::Content;
use super::engine::Engine;
use super::recovery;
use crate::board::Board;
use crate::build::fip::{Fip, is_fip};
use crate::build::package::{self, Recipe};
use crate::setup::progress::say;
use crate::setup::read_file;
use crate::setup::workspace::Workspace;

/// The user's FIP, or the user's recovery image with a FIP.
pub struct Base<'b> {
    pub board: &'b Board,
    pub path: &'b Path,
    pub engine: Engine,
    /// The key of the non-trusted firmware, if BL33 is signed.
    pub key: Option<&'b Path>,
}

impl Base<'_> {
    /// Returns the file with BL33 replaced by the image that `image` builds.
    pub fn content(
        &self,
        workspace: &Workspace,
        image: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<Content> {
        let at = || format!("--base {}", self.path.display());
        let file = read_file::read("--base", self.path, recovery::FILE_MAX)?;
        if is_fip(&file) || !recovery::is_zip(&file) {
            let fip = self.build(workspace, &file, image);
            return self.fip_alone(fip.with_context(at)?);
        }
        let Some(lab) = &self.board.lab else {
            bail!(
                "{}: this is a zip, and the board file of {} has no [lab] with the FIP's name in \
                 zips",
                at(),
                self.board.title
            );
        };
        let data = recovery::replace_fip(&file, &lab.recovery, |old| {
            self.build(workspace, old, image)
        });
        Ok(Content::Recovery {
            file: "recovery.zip".to_owned(),
            data: data.with_context(at)?,
        })
    }

    fn fip_alone(&self, data: Vec<u8>) -> Result<Content> {
        let lab = self.board.lab.as_ref();
        if let Some(lab) = lab.filter(|_| self.engine == Engine::Lava) {
            bail!(
                "--base {}: this is a FIP alone, and LAVA puts a recovery image on {}: give the \
                 zip that has {}",
                self.path.display(),
                self.board.title,
                lab.recovery
            );
        }
        let file = package::package(self.board)?.file.clone();
        Ok(Content::Loose { file, data })
    }

    /// Returns the FIP `old`, with BL33 replaced.
    fn build(
        &self,
        workspace: &Workspace,
        old: &[u8],
        image: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<Vec<u8>> {
        let (base, warning) = Fip::read(old).context("the FIP")?;
        if let Some(warning) = warning {
            say(&format!("warning: the FIP: {warning}"));
        }
        let recipe = Recipe {
            name: "the FIP",
            base: Some(base),
            given: Vec::new(),
            key: self.key,
        };
        recipe.make(workspace, self.board, image)?.build()
    }
}
