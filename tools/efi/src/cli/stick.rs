//! `cargo xtask stick`.

use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use host::progress::say;
use host::{files, read_file};
use runner::build::image_source::ImageSource;
use runner::setup::workspace::Workspace;

use super::signer_arguments::SignerArguments;
use crate::boot_media::{self, PATHS, SCRIPT};

/// The name of the output option, for messages.
const OUTPUT: &str = "--output";
/// The maximum size of a file that this tool may have written, in bytes.
const OLD_MAX: usize = 64 << 20;

/// Make boot media that EFI starts the payload from.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  {program} stick -o stick.img
  {program} stick --args 'iterations=100' -o /media/stick
  {program} stick --dtb my-board.dtb --sign db.key db.pem -o stick.img

Details: tools/efi/README.md")]
pub struct StickArguments {
    #[command(flatten)]
    pub source: ImageSource,
    #[command(flatten)]
    pub signer: SignerArguments,
    /// Mount point of a FAT volume, or file for a volume image.
    #[arg(short, long, value_name = "DIR|IMAGE")]
    pub output: PathBuf,
}

pub(super) fn run(arguments: &StickArguments) -> Result<u8> {
    let (workspace, output) = (Workspace::find()?, &arguments.output);
    let (source, signer) = (&arguments.source, &arguments.signer);
    if output.as_os_str().as_encoded_bytes().ends_with(b"/") && !output.is_dir() {
        bail!("--output {}: no such directory", output.display());
    }
    if output.is_dir() {
        let paths = PATHS.map(|path| output.join(path));
        for path in &paths {
            check_old(path)?;
            let mut inputs = signer.inputs(source).into_iter();
            inputs.try_for_each(|input| files::check_not_input((OUTPUT, path), input))?;
        }
        let folder = paths[0].parent().unwrap_or(output);
        fs::create_dir_all(folder).with_context(|| format!("{OUTPUT} {}", folder.display()))?;
        for path in &paths {
            files::check_output((OUTPUT, path), &[])?;
        }
        let application = signer.application(&workspace, source)?;
        let [program, script] = [&application[..], SCRIPT.as_bytes()];
        files::write(&[
            ((OUTPUT, &paths[0]), program),
            ((OUTPUT, &paths[1]), script),
        ])?;
        say("next: boot the machine from this volume; an EFI shell runs its startup.nsh");
        return Ok(0);
    }
    check_old(output)?;
    files::check_output((OUTPUT, output), &signer.inputs(source))?;
    let application = signer.application(&workspace, source)?;
    let image = boot_media::build_image(&workspace, &application)?;
    files::write(&[((OUTPUT, output), &image)])?;
    say(&format!(
        "next: boot the machine from a stick with this image. Writing it erases the stick: \
         dd if={} of=/dev/STICK bs=1M conv=fsync",
        output.display()
    ));
    Ok(0)
}

/// Refuses to write to a device or to replace a file that this tool did not write.
fn check_old(path: &Path) -> Result<()> {
    let Ok(old) = fs::metadata(path) else {
        return Ok(());
    };
    let shown = path.display();
    if old.file_type().is_block_device() {
        bail!(
            "{OUTPUT} {shown}: this is a block device, and everything on it would be lost; \
             write the image to a file, then copy it: dd if=FILE of={shown} bs=1M conv=fsync"
        );
    }
    if !old.is_file() {
        bail!("{OUTPUT} {shown}: not a regular file");
    }
    let is_small = old.len() <= OLD_MAX as u64;
    if !is_small || !boot_media::is_from_here(&read_file::read(OUTPUT, path, OLD_MAX)?) {
        bail!(
            "{OUTPUT} {shown}: not written by this tool; remove it, or use another {OUTPUT} name"
        );
    }
    Ok(())
}
