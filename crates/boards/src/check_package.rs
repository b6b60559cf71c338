//! Checks a board file's `[package]` table.

use itertools::Itertools as _;
use uuid::Uuid;

use super::board::BoardFile;
use super::board_fault::{BoardFault, require};
use super::image_kinds::{known, uuid_of};
use super::package::{PackageBlob, PackageKind};

/// Returns the first error found.
pub(super) fn check(board: &BoardFile) -> Result<(), BoardFault> {
    let Some(package) = &board.package else {
        return Ok(());
    };
    let is_fip = package.kind == PackageKind::Fip;
    let is_vendor = package.kind == PackageKind::Vendor;
    let (has_tool, has_images) = (package.tool.is_some(), !package.requires.is_empty());
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
    let reason = "\"vendor\" requires the vendor's tool: tool = …";
    require(!is_vendor || has_tool, "package.kind", reason)?;
    let reason = "\"fip\" requires a list of images: requires = [\"tb-fw\", …]";
    require(!is_fip || has_images, "package.kind", reason)?;
    let fits = package.align.is_power_of_two() && package.align <= 1 << 20;
    let reason = "expected a power of two up to 1 MiB";
    require(fits, "package.align", reason)?;
    for (name, firmware) in &board.firmware {
        let stock = firmware.stock.as_ref();
        let has_images = stock.is_some_and(|stock| !stock.images.is_empty());
        let at = format_args!("firmware.{name}.stock.images");
        let reason = "the package is not a FIP, so it has no images";
        require(is_fip || !has_images, at, reason)?;
    }
    images("package", &package.requires, &package.blobs)?;
    let has_payload = package.requires.iter().any(|it| it == "nt-fw");
    let reason = "nt-fw is the payload; remove it";
    require(!has_payload, "package.requires", reason)?;
    for (index, part) in package.parts.iter().enumerate() {
        let path = format!("package.parts[{index}]");
        let is_empty = part.requires.is_empty() && part.blobs.is_empty();
        let reason = "empty; add requires or blobs";
        require(!is_empty, &path, reason)?;
        images(&path, &part.requires, &part.blobs)?;
    }
    let files = package.parts.iter().map(|part| &part.file);
    let is_twice = [&package.file].into_iter().chain(files).duplicates().next();
    let reason = format_args!("two files are named {}", is_twice.map_or("", |name| name));
    require(is_twice.is_none(), "package.parts", reason)
}

/// Rejects unknown options, nil UUIDs, UUIDs that already have an option, and duplicates.
fn images(path: &str, options: &[String], blobs: &[PackageBlob]) -> Result<(), BoardFault> {
    let at = format_args!("{path}.requires");
    for option in options {
        let reason = format_args!("fiptool has no option --{option}");
        require(!uuid_of(option).is_nil(), at, reason)?;
    }
    if let Some(twice) = options.iter().duplicates().next() {
        require(false, at, format_args!("{twice} appears twice"))?;
    }
    let at = format_args!("{path}.blobs");
    for PackageBlob { uuid, .. } in blobs {
        let reason = "an all-zero UUID marks the end of the list and cannot identify an image";
        require(*uuid != Uuid::nil(), at, reason)?;
        if let Some(kind) = known(*uuid) {
            let reason = format_args!("{uuid} is {}, which belongs in requires", kind.option);
            require(false, at, reason)?;
        }
    }
    match blobs.iter().map(|blob| blob.uuid).duplicates().next() {
        None => Ok(()),
        Some(twice) => require(false, at, format_args!("the UUID {twice} appears twice")),
    }
}
