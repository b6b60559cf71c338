//! `cargo xtask efi build`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use host::files;
use runner::build::image_source::{ImageSource, output_path};
use runner::setup::workspace::Workspace;

use super::signer_arguments::{SignerArguments, say_next};

/// The default file name, which EFI starts automatically.
const NAME: &str = "BOOTAA64.EFI";

/// Make an EFI application that starts the payload.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  {program} efi build -o BOOTAA64.EFI
  {program} efi build --dtb my-board.dtb --sign db.key db.pem -o BOOTAA64.EFI

Without --board or --dtb, the machine's device tree or ACPI tables are used.
Details: tools/efi/README.md")]
pub struct EfiBuildArguments {
    #[command(flatten)]
    pub source: ImageSource,
    #[command(flatten)]
    pub signer: SignerArguments,
    /// File to write [default: target/psci-bench/BOOTAA64.EFI].
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
}

pub(super) fn run(arguments: &EfiBuildArguments) -> Result<u8> {
    let workspace = Workspace::find()?;
    let (source, signer) = (&arguments.source, &arguments.signer);
    let output = output_path(&workspace, arguments.output.as_deref(), NAME, NAME)?;
    let out = ("--output", output.as_path());
    // This is checked before the payload is built or anything is written.
    files::check_output(out, &signer.inputs(source))?;
    let application = signer.application(&workspace, source)?;
    files::write(&[(out, &application)])?;
    say_next();
    Ok(0)
}
