//! The EFI application's payload and signature.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{ArgAction, Args};
use host::progress::say;
use runner::build::boot_arguments::parse_plan;
use runner::build::efi;
use runner::build::image_source::{ImageSource, Input};
use runner::build::signer::Signer;
use runner::setup::workspace::Workspace;

/// Who signs an EFI application.
#[derive(Debug, Args)]
pub struct SignerArguments {
    /// Sign for Secure Boot, with a PEM key and its certificate.
    #[arg(long, num_args = 2, action = ArgAction::Set, value_names = ["KEY", "CERT"])]
    pub sign: Option<Vec<PathBuf>>,
}

impl SignerArguments {
    /// Returns the input files of `source` and the signature, each with the option that names it.
    pub(super) fn inputs<'p>(&'p self, source: &'p ImageSource) -> Vec<Input<'p>> {
        let mut inputs = source.inputs();
        let files = self.sign.iter().flatten();
        inputs.extend(files.map(|path| ("--sign", Some(Path::new(path)))));
        inputs
    }

    /// Builds the EFI application.
    pub(super) fn application(
        &self,
        workspace: &Workspace,
        source: &ImageSource,
    ) -> Result<Vec<u8>> {
        let signer = match self.sign.as_deref() {
            Some([key, certificate]) => Some(Signer::new(key, certificate)?),
            _ => None,
        };
        let args = source.tree.args.as_deref();
        parse_plan(args)?;
        let image = source.image_for_efi(workspace)?;
        // If the image has a tree, the tree contains the boot arguments.
        let has_tree = source.board.is_some() || source.tree.dtb.is_some();
        let application = efi::build(workspace, &image, args.filter(|_| !has_tree))?;
        let signed = signer.map(|signer| signer.sign(workspace, &application));
        signed.unwrap_or(Ok(application))
    }
}

/// Prints how to start the application.
pub(super) fn say_next() {
    say(
        "next: start it from the EFI shell or with U-Boot's `bootefi`, with boot arguments \
         after its name; `cargo xtask stick` makes a USB stick that starts it automatically",
    );
}
