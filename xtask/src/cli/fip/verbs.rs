//! `cargo xtask fip`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use boards::image_kinds::{find_by_uuid, label, uuid_of};
use clap::Subcommand;
use fip::Image;
use fip::trust::find_certificate;
use host::files;
use host::progress::say;
use host::stdout::Out;
use runner::build::package;

use super::build::{self, BuildArguments};
use super::images::{
    ChosenImages, FipLayout, ImageFile, Images, inspect, load, number, options_help, save,
};
use super::pack::{self, PackArguments};
use super::part::{self, PartArguments};

/// A command of `fip`.
#[derive(Debug, Subcommand)]
pub enum FipVerb {
    /// Pack images into a new FIP; identical images give an identical FIP.
    #[command(after_help = format!("\
Examples:
  cargo xtask fip create --out fip.bin --tb-fw bl2.bin --soc-fw bl31.bin
  cargo xtask fip create --out fip.bin --align 512 --nt-fw bl33.bin

{}
Details: docs/fip.md", options_help(true)))]
    Create {
        /// File to write.
        #[arg(long, value_name = "FIP")]
        out: PathBuf,
        #[command(flatten)]
        layout: FipLayout,
        #[command(flatten)]
        images: Images,
    },
    /// Check a FIP and list its images.
    #[command(after_help = "\
Example:
  cargo xtask fip info fip.bin")]
    Info {
        /// File to read.
        #[arg(value_name = "FIP")]
        fip: PathBuf,
    },
    /// Write each image in a FIP to a file, named by its option or UUID.
    #[command(after_help = "\
Examples:
  cargo xtask fip unpack fip.bin --out images
  cargo xtask fip unpack fip.bin --out images --force")]
    Unpack {
        /// File to read.
        #[arg(value_name = "FIP")]
        fip: PathBuf,
        /// Directory to write to; created if needed.
        #[arg(long, value_name = "DIR", default_value = ".")]
        out: PathBuf,
        /// Replace existing files.
        #[arg(long)]
        force: bool,
    },
    /// Add or replace images in a FIP, or change its layout.
    #[command(after_help = format!("\
Examples:
  cargo xtask fip update fip.bin --nt-fw bl33.bin --out new.bin
  cargo xtask fip update fip.bin --align 512

{}
Details: docs/fip.md", options_help(true)))]
    Update {
        /// File to read.
        #[arg(value_name = "FIP")]
        fip: PathBuf,
        /// File to write [default: the input].
        #[arg(long, value_name = "FIP")]
        out: Option<PathBuf>,
        /// Replace BL33 but keep its old certificate.
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        layout: FipLayout,
        #[command(flatten)]
        images: Images,
    },
    /// Remove images from a FIP.
    #[command(after_help = format!("\
Examples:
  cargo xtask fip remove fip.bin --nt-fw --out new.bin
  cargo xtask fip remove fip.bin \\
      --blob uuid=54464222-a4cf-4bf8-b1b6-cee7dade539e

{}
Details: docs/fip.md", options_help(false)))]
    Remove {
        /// File to read.
        #[arg(value_name = "FIP")]
        fip: PathBuf,
        /// File to write [default: the input].
        #[arg(long, value_name = "FIP")]
        out: Option<PathBuf>,
        /// Align images to N bytes, a power of two.
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = number)]
        align: u64,
        #[command(flatten)]
        images: ChosenImages,
    },
    Build(Box<BuildArguments>),
    Pack(Box<PackArguments>),
    Part(PartArguments),
}

pub(crate) fn run(verb: FipVerb) -> Result<u8> {
    match verb {
        FipVerb::Create {
            out,
            layout,
            images,
        } => {
            pack(None, ("--out", &out), false, layout, &images)?;
        }
        FipVerb::Info { fip } => info(&fip)?,
        FipVerb::Unpack { fip, out, force } => unpack(&fip, &out, force)?,
        FipVerb::Update {
            fip,
            out,
            force,
            layout,
            images,
        } => {
            pack(
                Some(&fip),
                output(&fip, out.as_deref()),
                force,
                layout,
                &images,
            )?;
        }
        FipVerb::Remove {
            fip,
            out,
            align,
            images,
        } => {
            remove(&fip, out.as_deref(), align, &images.files)?;
        }
        FipVerb::Build(arguments) => build::run(&arguments)?,
        FipVerb::Pack(arguments) => pack::run(&arguments)?,
        FipVerb::Part(arguments) => part::run(&arguments)?,
    }
    Ok(0)
}

/// Returns the file to write: the input file, unless the user named a different one.
fn output<'p>(fip: &'p Path, out: Option<&'p Path>) -> (&'static str, &'p Path) {
    out.map_or(("the FIP", fip), |out| ("--out", out))
}

fn check_any(images: &[ImageFile], verb: &str) -> Result<()> {
    if images.is_empty() {
        bail!("no image specified; see `cargo xtask fip {verb} --help` for the options");
    }
    Ok(())
}

/// Packs `images` into a new FIP, or adds them to the FIP at `base`.
fn pack(
    base: Option<&Path>,
    out: (&str, &Path),
    force: bool,
    layout: FipLayout,
    images: &Images,
) -> Result<()> {
    // As with fiptool, an update may change just the layout.
    if base.is_none() || layout.align.is_none() && layout.plat_toc_flags.is_none() {
        check_any(&images.files, base.map_or("create", |_| "update"))?;
    }
    let mut fip = base.map(inspect).transpose()?.unwrap_or_default();
    fip.align(layout.align.unwrap_or(1))?;
    if let Some(flags) = layout.plat_toc_flags {
        fip.platform_flags(flags);
    }
    let given = load(images, out)?;
    let has = |option| {
        given
            .iter()
            .any(|given_image| given_image.uuid == uuid_of(option))
    };
    if has("nt-fw") && !has("nt-fw-cert") && !force && find_certificate(&fip).is_some() {
        bail!(
            "{} has certificates, and firmware that checks them would reject another BL33: also \
             pass its --nt-fw-cert, use `cargo xtask fip pack --base` with --nt-fw-key, or \
             use --force",
            base.unwrap_or(out.1).display()
        );
    }
    package::add_images(&mut fip, given)?;
    save(out, &fip)
}

fn remove(path: &Path, out: Option<&Path>, align: u64, images: &[ImageFile]) -> Result<()> {
    check_any(images, "remove")?;
    let mut fip = inspect(path)?;
    fip.align(align)?;
    for ImageFile { uuid, .. } in images {
        if !fip.remove(*uuid) {
            // Continues, like fiptool, because the image is already absent.
            let (path, label) = (path.display(), label(*uuid));
            say(&format!("warning: {path} has no {label} to remove"));
        }
    }
    save(output(path, out), &fip)
}

fn unpack(path: &Path, out: &Path, force: bool) -> Result<()> {
    let fip = inspect(path)?;
    let is_new = !out.exists();
    if is_new {
        fs::create_dir(out).with_context(|| format!("--out {}", out.display()))?;
    }
    // Use the fiptool names.
    let name = |uuid| find_by_uuid(uuid).map_or(format!("{uuid:X}"), |kind| kind.option.to_owned());
    let to = |image: &Image| out.join(name(image.uuid) + ".bin");
    let paths: Vec<PathBuf> = fip.images.iter().map(to).collect();
    for to in &paths {
        // A dangling link also counts as an existing file.
        if !force && to.symlink_metadata().is_ok() {
            bail!(
                "{}: already exists; use --force to replace it",
                to.display()
            );
        }
        files::check_output(("--out", to), &[("the FIP", Some(path))])?;
    }
    let data = fip.images.iter().map(|image| &image.data[..]);
    let images = paths.iter().map(|path| ("--out", path.as_path())).zip(data);
    let written = files::write(&images.collect::<Vec<_>>());
    if is_new && written.is_err() {
        // The write error is reported, so an error while removing the folder is ignored.
        let _ = fs::remove_dir(out);
    }
    written
}

fn info(path: &Path) -> Result<()> {
    let fip = inspect(path)?;
    let mut out = Out::default();
    let (serial, flags) = (fip.serial, fip.flags);
    writeln!(out, "serial number {serial:#010x}, flags {flags:#x}")?;
    for image in &fip.images {
        let kind = find_by_uuid(image.uuid).map(|kind| (kind.option, kind.title));
        let (option, title) = kind.unwrap_or(("-", "unknown"));
        let (uuid, at, size) = (image.uuid, image.offset, image.data.len());
        writeln!(
            out,
            "{option:<18} offset {at:#10x}  size {size:#10x}  {uuid:X}  {title}"
        )?;
    }
    Ok(())
}
