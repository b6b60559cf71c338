//! The files for a board, from the TF-A build, the payload, and images that are built elsewhere.

use std::path::Path;

use anyhow::{Context, Result, bail};
use boards::image_kinds::uuid_of;
use boards::{FipPart, Package, PackageBlob, PackageKind, Uuid};
use fip::Fip;
use host::folder::FolderFile;
use host::read_file;

use super::plan::BuildPlan;
use super::readme::{BoardEntry, readme};
use crate::build::firmware::{self, FirmwareBuild, Timestamps};
use crate::build::flash;
use crate::build::image::appended_tree;
use crate::build::package::{self, GivenImage, Recipe};
use crate::setup::workspace::Workspace;

/// The file that marks a folder as written by this tool.
pub const MARK: &str = ".psci-bench";

/// Builds TF-A and the payload. `image` builds the payload image. Returns the files for the board,
/// and a README describing them.
pub fn contents(
    workspace: &Workspace,
    plan: &BuildPlan<'_>,
    image: impl FnOnce() -> Result<Vec<u8>>,
) -> Result<Vec<FolderFile>> {
    let board = plan.request.board;
    let package = package::require_package(board)?;
    let given = plan.request.given.read(board, plan.stock)?;
    let firmware = firmware::build(workspace, &plan.tf_a, &plan.platform)?;
    check_timestamps(&firmware, &plan.timestamps)?;
    let image = image()?;
    let mut files = match package.kind {
        _ if board.is_virtual() => flash_files(plan, &firmware, image)?,
        PackageKind::Fip => fip_files(workspace, plan, package, given, &firmware, image)?,
        PackageKind::Raw => vec![BoardEntry::new(&package.file, image, &package.install)],
        PackageKind::Fit => fit_files(plan, package, image)?,
        PackageKind::Vendor => {
            let tool = package.tool.as_deref().unwrap_or("the vendor's tool");
            let file = &package.file;
            let install = &package.install;
            let install = format!("To build {file} from it, use {tool}. {install}");
            vec![BoardEntry::new("bl33.bin", image, install)]
        }
    };
    for file in plan.files() {
        let data = read(&firmware, &file.from)?;
        files.push(BoardEntry::new(&file.to, data, &file.install));
    }
    let page = readme(plan, &files)?;
    let all = files
        .into_iter()
        .map(|file| FolderFile::new(file.path, file.data));
    Ok(all.chain([FolderFile::new("README.md", page)]).collect())
}

/// Returns the file at `from` in the TF-A build folder, keeping only its file name.
fn read(firmware: &FirmwareBuild, from: &str) -> Result<Vec<u8>> {
    let name = from.rsplit('/').next().unwrap_or(from);
    let path = firmware.dir.join(name);
    read_file::read_own(&path)
}

/// Rejects a BL31 without readable PMF timestamps if the plan expects them.
fn check_timestamps(firmware: &FirmwareBuild, timestamps: &Timestamps) -> Result<()> {
    let are_there = firmware::are_in(&read(firmware, "bl31.elf")?)?;
    if matches!(timestamps, Timestamps::Readable(_)) && !are_there {
        bail!(
            "TF-A built a BL31 from which PMF timestamps cannot be read, although the platform \
             should link lib/pmf/pmf_smc.c; the board file's `pmf` is incorrect"
        );
    }
    Ok(())
}

/// Returns the flash image that QEMU boots from.
fn flash_files(
    plan: &BuildPlan<'_>,
    firmware: &FirmwareBuild,
    image: Vec<u8>,
) -> Result<Vec<BoardEntry>> {
    let (flash, in_memory) = flash::build(firmware, plan.stock, image)?;
    let mut files = vec![BoardEntry::new("flash.bin", flash, "BL1 and the FIP.")];
    if let Some(image) = in_memory {
        files.push(BoardEntry::new(
            "bl33.bin",
            image,
            "BL33, loaded into memory.",
        ));
    }
    Ok(files)
}

/// Returns the FIP that contains the payload, and the board's other FIPs.
fn fip_files(
    workspace: &Workspace,
    plan: &BuildPlan<'_>,
    package: &Package,
    given: Vec<GivenImage>,
    firmware: &FirmwareBuild,
    image: Vec<u8>,
) -> Result<Vec<BoardEntry>> {
    let board = plan.request.board;
    let mut files = Vec::new();
    for part in &package.parts {
        let mut images = needed(&given, &part.requires, &part.blobs);
        images.extend(blobs_from_build(part, firmware)?);
        let data = package::build_part(board, &part.file, images)?.build()?;
        let install = format!(
            "Another FIP that the board boots; it goes next to {}.",
            package.file
        );
        files.push(BoardEntry::new(package.place(&part.file), data, install));
    }
    let mut images = needed(&given, &package.requires, &package.blobs);
    let base = match plan.platform.fip {
        firmware::FipBuild::None => None,
        _ => Some(
            Fip::read(&read(firmware, "fip.bin")?)
                .context("TF-A's fip.bin")?
                .0,
        ),
    };
    for built in plan.stock.into_iter().flat_map(|stock| &stock.images) {
        images.push(GivenImage {
            option: format!("--{}", built.option),
            uuid: uuid_of(&built.option),
            data: read(firmware, &built.from)?,
        });
    }
    let recipe = Recipe {
        name: "TF-A's FIP",
        base,
        given: images,
        key: None,
    };
    let mut fip = recipe.make(workspace, board, || Ok(image))?;
    // Sets the alignment explicitly, because the offsets of the placeholders may happen to have a
    // larger alignment.
    fip.align(package.align)?;
    let install = package::after_fip(package);
    files.insert(
        0,
        BoardEntry::new(package.place(&package.file), fip.build()?, install),
    );
    Ok(files)
}

/// Returns the images that belong in a FIP.
fn needed(given: &[GivenImage], requires: &[String], blobs: &[PackageBlob]) -> Vec<GivenImage> {
    let is_needed = |uuid: Uuid| {
        requires.iter().any(|option| uuid_of(option) == uuid)
            || blobs.iter().any(|blob| blob.uuid == uuid)
    };
    let given = given
        .iter()
        .filter(|given_image| is_needed(given_image.uuid));
    given.cloned().collect()
}

/// Returns the images in `part` that the TF-A build produces.
fn blobs_from_build(part: &FipPart, firmware: &FirmwareBuild) -> Result<Vec<GivenImage>> {
    let built = part
        .blobs
        .iter()
        .filter(|blob| blob.option.is_none())
        .filter_map(|blob| Some((blob, blob.file.as_deref()?)));
    let read = built.map(|(blob, file)| {
        Ok(GivenImage {
            option: file.to_owned(),
            uuid: blob.uuid,
            data: read(firmware, file)?,
        })
    });
    read.collect()
}

/// Returns the image, its device tree, and the source of an image tree that combines them.
fn fit_files(plan: &BuildPlan<'_>, package: &Package, image: Vec<u8>) -> Result<Vec<BoardEntry>> {
    let board = plan.request.board;
    let tree = appended_tree(&image)?.to_vec();
    let [name, dtb] = ["bl33.bin", "bl33.bin.dtb"].map(Path::new);
    let its = package::fit_source(&board.title, name, dtb, board.load_address)?;
    let make = format!(
        "`mkimage -f bl33.bin.its {0}` packs BL33 into {0}.",
        package.file
    );
    Ok(vec![
        BoardEntry::new("bl33.bin", image, format!("{make} {}", package.install)),
        BoardEntry::new(
            "bl33.bin.dtb",
            tree,
            "The payload's device tree, for mkimage.",
        ),
        BoardEntry::new("bl33.bin.its", its.into_bytes(), "The source for mkimage."),
    ])
}
