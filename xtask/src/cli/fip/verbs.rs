//! `cargo xtask fip`.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _, stdout};
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::build;
use crate::board::Uuid;
use crate::board::image_kinds::{known, label};
use crate::build::fip::{Builder, IMAGE_MAX, PACKAGE_MAX, Package, certificates, read};
use crate::build::package::{self, Given};
use crate::cli::arguments::{Chosen, FipVerb, Images, Layout};
use crate::cli::files;
use crate::setup::progress::say;
use crate::setup::read_file;

pub(crate) fn run(verb: FipVerb) -> Result<u8> {
    match verb {
        FipVerb::Create {
            out,
            layout,
            images,
        } => create(&out, layout, &images),
        FipVerb::Info { fip } => info(&fip),
        FipVerb::Unpack { fip, out, force } => unpack(&fip, &out, force),
        FipVerb::Update {
            fip,
            out,
            force,
            layout,
            images,
        } => update(&fip, out.as_deref(), force, layout, &images),
        FipVerb::Remove {
            fip,
            out,
            align,
            images,
        } => remove(&fip, out.as_deref(), align, &images),
        FipVerb::Build(arguments) => build::run(&arguments),
    }
}

/// The FIP in the file `path`. What is odd about it is said.
pub(super) fn open(what: &str, path: &Path) -> Result<(Package, Vec<u8>)> {
    let file = read_file::read(what, path, PACKAGE_MAX)?;
    let (package, warnings) = read(&file).with_context(|| path.display().to_string())?;
    for warning in warnings {
        say(&format!("warning: {}: {warning}", path.display()));
    }
    Ok((package, file))
}

/// Reads the images, of which none may be the file `out` that is written.
pub(super) fn load(images: &Images, out: (&str, &Path)) -> Result<Vec<Given>> {
    let mut given = Vec::new();
    for image in &images.files {
        let option = &image.option;
        files::apart(out, (option, Some(&image.path)))?;
        given.push(Given {
            option: format!("{option} {}", image.path.display()),
            uuid: image.uuid,
            data: read_file::read(option, &image.path, IMAGE_MAX)?,
        });
    }
    Ok(given)
}

/// Writes the package, and says so.
pub(super) fn save(out: (&str, &Path), builder: &Builder) -> Result<()> {
    let file = builder.build()?;
    files::write(out, &file)?;
    say(&format!("{}: {} bytes", out.1.display(), file.len()));
    Ok(())
}

fn lay_out(builder: &mut Builder, layout: Layout) -> Result<()> {
    builder.align(layout.align)?;
    if let Some(flags) = layout.plat_toc_flags {
        builder.platform_flags(flags);
    }
    Ok(())
}

fn some(images: &Images, verb: &str) -> Result<()> {
    if images.files.is_empty() {
        bail!("no image is given: see `cargo xtask fip {verb} --help` for the options");
    }
    Ok(())
}

fn create(out: &Path, layout: Layout, images: &Images) -> Result<u8> {
    some(images, "create")?;
    let mut builder = Builder::default();
    lay_out(&mut builder, layout)?;
    package::add(&mut builder, load(images, ("--out", out))?)?;
    save(("--out", out), &builder)?;
    Ok(0)
}

fn update(
    path: &Path,
    out: Option<&Path>,
    force: bool,
    layout: Layout,
    images: &Images,
) -> Result<u8> {
    some(images, "update")?;
    let out = out.map_or(("the FIP", path), |out| ("--out", out));
    let (package, file) = open("the FIP", path)?;
    let mut builder = Builder::of(&package, &file)?;
    lay_out(&mut builder, layout)?;
    let given = load(images, out)?;
    let has = |option| given.iter().any(|given| given.uuid == Uuid::of(option));
    if has("nt-fw") && !has("nt-fw-cert") && !force && !certificates(&builder).is_empty() {
        bail!(
            "{} has certificates, and firmware that checks them would refuse another BL33: give \
             its --nt-fw-cert as well, or use `cargo xtask fip build --base`, which makes one \
             with --nt-fw-key; or --force",
            path.display()
        );
    }
    package::add(&mut builder, given)?;
    save(out, &builder)?;
    Ok(0)
}

fn remove(path: &Path, out: Option<&Path>, align: u64, images: &Chosen) -> Result<u8> {
    if images.uuids.is_empty() {
        bail!("no image is named: see `cargo xtask fip remove --help` for the options");
    }
    let (package, file) = open("the FIP", path)?;
    let mut builder = Builder::of(&package, &file)?;
    builder.align(align)?;
    for uuid in &images.uuids {
        if !builder.remove(*uuid) {
            bail!("{}: there is no {}", path.display(), label(*uuid));
        }
    }
    if builder.uuids().next().is_none() {
        bail!("{}: nothing would be left of it", path.display());
    }
    save(
        out.map_or(("the FIP", path), |out| ("--out", out)),
        &builder,
    )?;
    Ok(0)
}

/// What fiptool calls the file of an image.
fn file_name(uuid: Uuid) -> String {
    match known(uuid) {
        Some(kind) => format!("{}.bin", kind.option),
        None => format!("{uuid}.bin"),
    }
}

fn unpack(path: &Path, out: &Path, force: bool) -> Result<u8> {
    let (package, file) = open("the FIP", path)?;
    if !out.exists() {
        fs::create_dir(out).with_context(|| format!("--out {}", out.display()))?;
    }
    let to = |uuid| out.join(file_name(uuid));
    for entry in &package.entries {
        let to = to(entry.uuid);
        // A link that leads nowhere is there, too.
        if !force && to.symlink_metadata().is_ok() {
            bail!("{}: this file is there already: see --force", to.display());
        }
        files::apart(("--out", &to), ("the FIP", Some(path)))?;
        files::writable(("--out", &to))?;
    }
    for entry in &package.entries {
        let (to, data) = (to(entry.uuid), file.get(entry.range.clone()));
        files::write(("--out", &to), data.unwrap_or_default())?;
        say(&format!("{}: {} bytes", to.display(), entry.range.len()));
    }
    Ok(0)
}

fn info(path: &Path) -> Result<u8> {
    let (package, _) = open("the FIP", path)?;
    let mut out = String::new();
    writeln!(
        out,
        "serial number {:#010x}, flags {:#x}",
        package.serial, package.flags
    )?;
    for entry in &package.entries {
        let kind = known(entry.uuid);
        let option = kind.map_or("-", |kind| kind.option);
        let title = kind.map_or("unknown", |kind| kind.title);
        let (at, size) = (entry.range.start, entry.range.len());
        writeln!(
            out,
            "{option:<18} offset {at:#10x}  size {size:#10x}  {}  {title}",
            entry.uuid
        )?;
    }
    match stdout().write_all(out.as_bytes()) {
        // Who has seen enough of it has closed the pipe.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        written => written?,
    }
    Ok(0)
}
