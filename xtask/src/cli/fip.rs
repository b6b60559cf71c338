//! `cargo xtask fip`.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _, stdout};
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::arguments::{FipVerb, Images};
use super::files;
use crate::fip::{Builder, IMAGE_MAX, PACKAGE_MAX, known, read};
use crate::payload;
use crate::progress::say;

pub(super) fn run(verb: FipVerb) -> Result<u8> {
    match verb {
        FipVerb::Create { out, align, images } => create(&out, align, &images),
        FipVerb::Info { fip } => info(&fip),
    }
}

fn create(out: &Path, align: u64, images: &Images) -> Result<u8> {
    if images.files.is_empty() {
        bail!("no image is given: see `cargo xtask fip create --help` for the options");
    }
    let mut builder = Builder::default();
    builder.align(align)?;
    for (kind, path) in &images.files {
        let option = format!("--{}", kind.option);
        files::apart(("--out", out), (&option, Some(path)))?;
        let data = payload::read(&option, path, IMAGE_MAX)?;
        builder
            .image(kind.uuid, data)
            .with_context(|| format!("{option} {}", path.display()))?;
    }
    let file = builder.build()?;
    fs::write(out, &file).with_context(|| format!("--out {}", out.display()))?;
    say(&format!("{}: {} bytes", out.display(), file.len()));
    Ok(0)
}

fn info(path: &Path) -> Result<u8> {
    let file = payload::read("the FIP", path, PACKAGE_MAX)?;
    let (package, warnings) = read(&file).with_context(|| path.display().to_string())?;
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
    for warning in warnings {
        say(&format!("warning: {}: {warning}", path.display()));
    }
    Ok(0)
}
