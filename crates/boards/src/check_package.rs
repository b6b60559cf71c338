//! Checks a board file's `[package]` table.

use itertools::Itertools as _;
use uuid::Uuid;

use super::board::BoardFile;
use super::board_fault::{BoardFault, require};
use super::image_kinds::{find_by_uuid, uuid_of};
use super::package::{Package, PackageBlob, PackageKind};

/// Returns the first error found.
pub(super) fn check_package(board: &BoardFile) -> Result<(), BoardFault> {
    let Some(package) = &board.package else {
        return Ok(());
    };
    settings(package)?;
    let is_fip = package.kind == PackageKind::Fip;
    for (name, firmware) in &board.firmware {
        let stock = firmware.stock.as_ref();
        let lists_images = stock.is_some_and(|stock| !stock.images.is_empty());
        require(
            is_fip || !lists_images,
            format_args!("firmware.{name}.stock.images"),
            "the package is not a FIP, so it has no images",
        )?;
    }
    images("package", &package.requires, &package.blobs)?;
    require(
        !package.requires.iter().any(|option| option == "nt-fw"),
        "package.requires",
        "nt-fw is the payload; remove it",
    )?;
    for (index, part) in package.parts.iter().enumerate() {
        let path = format!("package.parts[{index}]");
        let is_empty = part.requires.is_empty() && part.blobs.is_empty();
        require(!is_empty, &path, "empty; add requires or blobs")?;
        images(&path, &part.requires, &part.blobs)?;
    }
    let files = package.parts.iter().map(|part| &part.file);
    match [&package.file].into_iter().chain(files).duplicates().next() {
        None => Ok(()),
        Some(name) => Err(BoardFault::new(
            "package.parts",
            format_args!("two files are named {name}"),
        )),
    }
}

/// Checks the keys that are allowed or required for the kind of package.
fn settings(package: &Package) -> Result<(), BoardFault> {
    let is_fip = package.kind == PackageKind::Fip;
    let is_vendor = package.kind == PackageKind::Vendor;
    let has_tool = package.tool.is_some();
    let has_images = !package.requires.is_empty();
    for (key, fits, is_given) in [
        ("requires", is_fip, has_images),
        ("align", is_fip, package.align != 1),
        ("blobs", is_fip, !package.blobs.is_empty()),
        ("parts", is_fip, !package.parts.is_empty()),
        ("tool", is_fip || is_vendor, has_tool),
    ] {
        let reason = "not allowed for this kind of package";
        require(fits || !is_given, format_args!("package.{key}"), reason)?;
    }
    require(
        !is_vendor || has_tool,
        "package.kind",
        "\"vendor\" requires the vendor's tool: tool = …",
    )?;
    require(
        !is_fip || has_images,
        "package.kind",
        "\"fip\" requires a list of images: requires = [\"tb-fw\", …]",
    )?;
    require(
        package.align.is_power_of_two() && package.align <= 1 << 20,
        "package.align",
        "expected a power of two up to 1 MiB",
    )
}

/// Rejects unknown options, nil UUIDs, UUIDs that already have an option, and duplicates.
fn images(path: &str, options: &[String], blobs: &[PackageBlob]) -> Result<(), BoardFault> {
    let requires = format_args!("{path}.requires");
    for option in options {
        let reason = format_args!("fiptool has no option --{option}");
        require(!uuid_of(option).is_nil(), requires, reason)?;
    }
    if let Some(twice) = options.iter().duplicates().next() {
        let reason = format_args!("{twice} appears twice");
        return Err(BoardFault::new(requires, reason));
    }
    let list = format_args!("{path}.blobs");
    for PackageBlob { uuid, .. } in blobs {
        require(
            *uuid != Uuid::nil(),
            list,
            "an all-zero UUID marks the end of the list and cannot identify an image",
        )?;
        if let Some(kind) = find_by_uuid(*uuid) {
            let reason = format_args!("{uuid} is {}, which belongs in requires", kind.option);
            return Err(BoardFault::new(list, reason));
        }
    }
    match blobs.iter().map(|blob| blob.uuid).duplicates().next() {
        None => Ok(()),
        Some(twice) => Err(BoardFault::new(
            list,
            format_args!("the UUID {twice} appears twice"),
        )),
    }
}
