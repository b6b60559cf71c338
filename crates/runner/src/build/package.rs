//! Builds the file that a board loads, from the image and everything else that is needed.
//!
//! `[package]` in the board file describes the file. This module builds FIPs. Other boards load the
//! image itself, a flattened image tree (whose source this module writes), or a file built by a
//! vendor tool.

use std::path::Path;

use anyhow::{Context, Result, bail};
use boards::image_kinds::{find_by_option, find_by_uuid, label, uuid_of};
use boards::{BoardFile, Package, PackageBlob, PackageKind};
use fip::Fip;
use fip::trust::{check_key, find_certificate, is_certificate, renew_certificates};
use itertools::Itertools as _;
use minijinja::context;
use uuid::Uuid;

use crate::setup::workspace::Workspace;
use crate::setup::{self, Need};
use crate::template::render;

/// An image given by the user.
#[derive(Clone, Debug)]
pub struct GivenImage {
    /// The option that names the image.
    pub option: String,
    /// Identifies the kind of image in a FIP.
    pub uuid: Uuid,
    /// The bytes of the image, without padding.
    pub data: Vec<u8>,
}

/// Returns the `[package]` table of `board`.
pub(crate) fn require_package(board: &BoardFile) -> Result<&Package> {
    board.package.as_ref().with_context(|| {
        let name = &board.name;
        format!(
            "platforms/{name}/board.toml has no [package] table to describe what the board's \
             loader accepts"
        )
    })
}

/// Returns the `[package]` table of `board`, which must describe a FIP.
pub fn takes_fip(board: &BoardFile) -> Result<&Package> {
    let package = require_package(board)?;
    if package.kind != PackageKind::Fip {
        let name = &board.name;
        let title = &board.title;
        bail!("{title} does not boot a FIP: run `cargo xtask image --board {name}`");
    }
    Ok(package)
}

/// Describes the steps that remain once the image has been written to `output`.
pub fn after_image(board: &BoardFile, output: &Path) -> Option<String> {
    let package = board.package.as_ref()?;
    let file = &package.file;
    let install = &package.install;
    Some(match package.kind {
        PackageKind::Fip => format!(
            "this is BL33; `cargo xtask fip pack --board {}` puts it into a FIP",
            board.name
        ),
        PackageKind::Raw => format!("on the board it is called {file}. {install}"),
        PackageKind::Fit => {
            let [its, itb] = ["its", "itb"].map(|extension| output.with_added_extension(extension));
            format!(
                "U-Boot starts it with `bootm` from the file that `mkimage -f {} {}` makes. \
                 On the board it is called {file}. {install}",
                its.display(),
                itb.display()
            )
        }
        PackageKind::Vendor => format!(
            "this is only the image; to turn it into the file that the board boots, use {}. \
             {install}",
            package.tool.as_deref().unwrap_or("the vendor's tool")
        ),
    })
}

/// Describes the steps that remain once the FIP has been written.
pub fn after_fip(package: &Package) -> String {
    let tool_sentence =
        |tool| format!("to turn this FIP into the file that the board boots, use {tool}. ");
    package.tool.as_ref().map_or(String::new(), tool_sentence) + &package.install
}

/// The FIP for a board, with the payload as BL33.
pub struct Recipe<'r> {
    /// The name that messages use for the images.
    pub name: &'r str,
    /// The user's FIP, whose BL33 is replaced.
    pub base: Option<Fip>,
    /// Additional images, which replace those of the same kind.
    pub given: Vec<GivenImage>,
    /// The non-trusted firmware key.
    pub key: Option<&'r Path>,
}

impl Recipe<'_> {
    /// Builds the FIP for `board`. `image` builds the payload. Building the payload takes the
    /// longest, so most errors are found before `image` is called.
    pub fn make(
        self,
        workspace: &Workspace,
        board: &BoardFile,
        image: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<Fip> {
        let package = takes_fip(board)?;
        let name = self.name;
        refuse_empty(&self.given)?;
        self.check(board, package)?;
        let base = self.base.as_ref();
        let align = base.map_or(1, Fip::alignment).max(package.align);
        let mut fip = self.base.unwrap_or_default();
        add_images(&mut fip, self.given)?;
        match (find_certificate(&fip), self.key) {
            (None, Some(key)) => {
                let key = key.display();
                bail!("--nt-fw-key {key}: {name} has no certificates, so there is nothing to sign")
            }
            (Some(certificate), None) => bail!(
                "{name} has certificates (such as {}), and firmware that checks them \
                 would reject another BL33. Specify the non-trusted firmware key with \
                 --nt-fw-key PEM",
                certificate.option
            ),
            (Some(_), Some(key)) => check_key("--nt-fw-key", key)?,
            (None, None) => {}
        }
        fip.align(align)?;
        fip.put(uuid_of("nt-fw"), image()?)?;
        if let Some(key) = self.key {
            setup::ensure(workspace, &[Need::CertCreate])?;
            renew_certificates(&mut fip, key).with_context(|| name.to_owned())?;
        }
        Ok(fip)
    }

    /// Rejects images that cannot form a FIP for `board`, regardless of the payload.
    fn check(&self, board: &BoardFile, package: &Package) -> Result<()> {
        let bl33 = self
            .given
            .iter()
            .find(|image| image.uuid == uuid_of("nt-fw"));
        if let Some(GivenImage { option, .. }) = bl33 {
            bail!(
                "{option}: BL33 is the payload here; for another BL33 use `cargo xtask fip create` \
                 or `fip update`"
            );
        }
        let Some(base) = &self.base else {
            let or = "; or replace BL33 in an existing FIP with --base FIP";
            let needs = (&*package.requires, &*package.blobs);
            return complete(&board.title, needs, &self.given, or);
        };
        // Only BL33 and NT_FW_CONFIG get a new certificate.
        let fits = |uuid| {
            find_by_uuid(uuid).is_some_and(is_certificate) || uuid == uuid_of("nt-fw-config")
        };
        let other = self
            .given
            .iter()
            .find(|given_image| !fits(given_image.uuid));
        if let Some(other) = other.filter(|_| find_certificate(base).is_some()) {
            bail!(
                "{}: the --base FIP has certificates, but this tool cannot make one for this \
                 image: build the FIP with TF-A, then replace BL33 in it",
                other.option
            );
        }
        Ok(())
    }
}

/// Builds `file`, an additional FIP for `board` that does not contain the payload.
pub fn build_part(board: &BoardFile, file: &str, given: Vec<GivenImage>) -> Result<Fip> {
    let package = takes_fip(board)?;
    let part = package
        .parts
        .iter()
        .find(|part| part.file == file)
        .with_context(|| {
            let names = package.parts.iter().map(|part| &part.file).join(", ");
            let other = if names.is_empty() {
                "no further files"
            } else {
                ""
            };
            format!("{file}: {} has {other}{names}", board.title)
        })?;
    refuse_empty(&given)?;
    complete(file, (&part.requires, &part.blobs), &given, "")?;
    let mut fip = Fip::default();
    fip.align(package.align)?;
    add_images(&mut fip, given)?;
    Ok(fip)
}

/// Rejects empty files, which cannot be images of a FIP that boots.
fn refuse_empty(given: &[GivenImage]) -> Result<()> {
    match given.iter().find(|given_image| given_image.data.is_empty()) {
        Some(empty) => bail!("{}: the file is empty", empty.option),
        None => Ok(()),
    }
}

/// Adds the images, and rejects duplicates.
pub fn add_images(fip: &mut Fip, given: Vec<GivenImage>) -> Result<()> {
    if let Some(twice) = given.iter().duplicates_by(|binary| binary.uuid).next() {
        bail!("{}: given twice", label(twice.uuid));
    }
    for GivenImage { option, uuid, data } in given {
        fip.put(uuid, data).context(option)?;
    }
    Ok(())
}

/// The images that a FIP requires, by option and by UUID.
type NeededImages<'n> = (&'n [String], &'n [PackageBlob]);

/// Rejects a FIP that would not boot because an image is missing.
fn complete(fip_name: &str, needs: NeededImages<'_>, given: &[GivenImage], or: &str) -> Result<()> {
    let (requires, blobs) = needs;
    let lacks = |uuid| given.iter().all(|given_image| given_image.uuid != uuid);
    let mut missing = Vec::new();
    for kind in requires.iter().filter_map(|option| find_by_option(option)) {
        if lacks(kind.uuid) {
            missing.push(format!("--{} FILE ({})", kind.option, kind.title));
        }
    }
    for PackageBlob {
        uuid, title, file, ..
    } in blobs.iter().filter(|blob| lacks(blob.uuid))
    {
        let file = file.as_deref().unwrap_or("FILE");
        missing.push(format!("--blob uuid={uuid},file={file} ({title})"));
    }
    if !missing.is_empty() {
        bail!("{fip_name} needs {}{or}", missing.join(", "));
    }
    Ok(())
}

const FIT: &str = include_str!("fit.its.j2");

/// Returns true if `text` is the source of a flattened image tree written by this tool.
pub fn is_fit_source(text: &[u8]) -> bool {
    let begin = FIT.split("{{").next().unwrap_or(FIT);
    text.starts_with(begin.as_bytes())
}

/// Returns the source of a flattened image tree (U-Boot's *Flattened Image Tree format*) for the
/// image and its device tree, which are files in the same folder. U-Boot's `bootm` enters the image
/// like a Linux kernel.
pub fn fit_source(title: &str, image: &Path, tree: &Path, load: u64) -> Result<String> {
    let name = |file: &Path| {
        file.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let image = name(image);
    let tree = name(tree);
    // The tree's file name is the image name with a suffix.
    if image.contains(['"', '\\']) || image.chars().any(char::is_control) {
        bail!("{image:?}: a FIT source cannot contain this file name");
    }
    let title = title.replace(['"', '\\'], "'");
    let (cells, load) = match (load >> 32, load & 0xffff_ffff) {
        (0, low) => (1, format!("<{low:#x}>")),
        (high, low) => (2, format!("<{high:#x} {low:#x}>")),
    };
    let values = context! { title, cells, image, tree, load };
    render(FIT, values)
}
