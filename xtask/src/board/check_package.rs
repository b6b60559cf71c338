//! The checks of a board file's `[package]`.

use uuid::Uuid;

use super::board::Board;
use super::fault::{Fault, require};
use super::image_kinds::{called, known};
use super::package::{Blob, Package, PackageKind};

/// Refuses the first fault.
pub(super) fn check(board: &Board) -> Result<(), Fault> {
    let Some(package) = &board.package else {
        return Ok(());
    };
    keys(package)?;
    let fits = package.align.is_power_of_two() && package.align <= 1 << 20;
    let reason = "a power of two up to a MiB is needed";
    require(fits, "package.align", reason)?;
    images("package", &package.requires, &package.blobs)?;
    if let Some(index) = package.requires.iter().position(|it| it == "nt-fw") {
        let path = format_args!("package.requires[{index}]");
        require(false, path, "nt-fw is the payload: leave it out")?;
    }
    let mut files = vec![&package.file];
    for (index, part) in package.parts.iter().enumerate() {
        let path = format!("package.parts[{index}]");
        let (is_new, reason) = (
            !files.contains(&&part.file),
            "another file has the same name",
        );
        require(is_new, format_args!("{path}.file"), reason)?;
        files.push(&part.file);
        let is_empty = part.requires.is_empty() && part.blobs.is_empty();
        let reason = "nothing is in it: requires or blobs is needed";
        require(!is_empty, &path, reason)?;
        images(&path, &part.requires, &part.blobs)?;
    }
    Ok(())
}

/// Refuses keys that another kind has, and the lack of those that this kind needs.
fn keys(package: &Package) -> Result<(), Fault> {
    let is_fip = package.kind == PackageKind::Fip;
    let is_vendor = package.kind == PackageKind::Vendor;
    for (key, fits, is_given) in [
        ("requires", is_fip, !package.requires.is_empty()),
        ("align", is_fip, package.align != 1),
        ("blobs", is_fip, !package.blobs.is_empty()),
        ("parts", is_fip, !package.parts.is_empty()),
        ("tool", is_fip || is_vendor, package.tool.is_some()),
    ] {
        let reason = "this kind of package has no such key";
        require(fits || !is_given, format_args!("package.{key}"), reason)?;
    }
    let (has_tool, has_images) = (package.tool.is_some(), !package.requires.is_empty());
    let reason = "\"vendor\" needs the vendor's tool: tool = …";
    require(!is_vendor || has_tool, "package.kind", reason)?;
    let reason = "\"fip\" needs its images: requires = [\"tb-fw\", …]";
    require(!is_fip || has_images, "package.kind", reason)
}

/// Refuses unknown options, UUIDs that name no image or have an option, and repetitions.
fn images(path: &str, options: &[String], blobs: &[Blob]) -> Result<(), Fault> {
    let mut seen = Vec::new();
    for (index, option) in options.iter().enumerate() {
        let path = format!("{path}.requires[{index}]");
        let uuid = called(option).map(|kind| kind.uuid);
        let reason = format_args!("fiptool has no option --{option}");
        require(uuid.is_some(), &path, reason)?;
        let reason = format_args!("{option} appears twice");
        require(!seen.contains(&uuid), &path, reason)?;
        seen.push(uuid);
    }
    for (index, Blob { uuid, .. }) in blobs.iter().enumerate() {
        let path = format!("{path}.blobs[{index}].uuid");
        let reason = "a UUID of zeros ends the list and names no image";
        require(*uuid != Uuid::nil(), &path, reason)?;
        let option = known(*uuid).map_or("", |kind| kind.option);
        let reason = format_args!("this is {option}, which goes into requires");
        require(option.is_empty(), &path, reason)?;
        let reason = "this UUID appears twice";
        require(!seen.contains(&Some(*uuid)), &path, reason)?;
        seen.push(Some(*uuid));
    }
    Ok(())
}
