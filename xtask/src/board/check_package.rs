//! The checks of a board file's `[package]`.

use uuid::Uuid;

use super::board::Board;
use super::fault::{Fault, refuse};
use super::image_kinds::{called, known};
use super::package::{Blob, Package, PackageKind};

/// Refuses the first fault.
pub(super) fn check(board: &Board) -> Result<(), Fault> {
    let Some(package) = &board.package else {
        return Ok(());
    };
    keys(package)?;
    if !package.align.is_power_of_two() || package.align > 1 << 20 {
        return refuse("package.align", "a power of two up to a MiB is needed");
    }
    images("package", &package.requires, &package.blobs)?;
    if let Some(index) = package.requires.iter().position(|it| it == "nt-fw") {
        let reason = "nt-fw is the payload: leave it out";
        return refuse(format!("package.requires[{index}]"), reason);
    }
    let mut files = vec![&package.file];
    for (index, part) in package.parts.iter().enumerate() {
        let path = format!("package.parts[{index}]");
        if files.contains(&&part.file) {
            return refuse(path + ".file", "another file has the same name");
        }
        files.push(&part.file);
        if part.requires.is_empty() && part.blobs.is_empty() {
            return refuse(path, "nothing is in it: requires or blobs is needed");
        }
        images(&path, &part.requires, &part.blobs)?;
    }
    Ok(())
}

/// Refuses keys that another kind has, and the lack of those that this kind needs.
fn keys(package: &Package) -> Result<(), Fault> {
    let kind = package.kind;
    let is_fip = kind == PackageKind::Fip;
    for (key, fits, is_given) in [
        ("requires", is_fip, !package.requires.is_empty()),
        ("align", is_fip, package.align != 1),
        ("blobs", is_fip, !package.blobs.is_empty()),
        ("parts", is_fip, !package.parts.is_empty()),
        (
            "tool",
            is_fip || kind == PackageKind::Vendor,
            package.tool.is_some(),
        ),
    ] {
        if is_given && !fits {
            return refuse(
                format!("package.{key}"),
                "this kind of package has no such key",
            );
        }
    }
    if kind == PackageKind::Vendor && package.tool.is_none() {
        return refuse(
            "package.kind",
            "\"vendor\" needs the vendor's tool: tool = …",
        );
    }
    if is_fip && package.requires.is_empty() {
        return refuse(
            "package.kind",
            "\"fip\" needs its images: requires = [\"tb-fw\", …]",
        );
    }
    Ok(())
}

/// Refuses unknown options, UUIDs that name no image or have an option, and repetitions.
fn images(path: &str, options: &[String], blobs: &[Blob]) -> Result<(), Fault> {
    let mut seen = Vec::new();
    for (index, option) in options.iter().enumerate() {
        let path = || format!("{path}.requires[{index}]");
        let Some(kind) = called(option) else {
            return refuse(path(), format!("fiptool has no option --{option}"));
        };
        if seen.contains(&kind.uuid) {
            return refuse(path(), format!("{option} appears twice"));
        }
        seen.push(kind.uuid);
    }
    for (index, Blob { uuid, .. }) in blobs.iter().enumerate() {
        let path = format!("{path}.blobs[{index}].uuid");
        if *uuid == Uuid::nil() {
            return refuse(path, "a UUID of zeros ends the list and names no image");
        }
        if let Some(kind) = known(*uuid) {
            return refuse(
                path,
                format!("this is {}, which goes into requires", kind.option),
            );
        }
        if seen.contains(uuid) {
            return refuse(path, "this UUID appears twice");
        }
        seen.push(*uuid);
    }
    Ok(())
}
