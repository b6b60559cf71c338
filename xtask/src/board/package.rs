//! What a board's loader takes, and how it is packed.
//!
//! ```toml
//! [package]
//! kind = "fip"                    # or "raw", "fit", "vendor"
//! file = "fip.bin"                # what the file is called on the board
//! install = "Copy it to …"        # where it goes, for people
//! requires = ["tb-fw", "soc-fw"]  # fip: what a whole one has besides nt-fw
//! align = 1                       # fip: of each image, in bytes
//! tool = "doimage"                # vendor, or fip: what has to wrap the file
//! # fip: images without an option of fiptool's
//! blobs = [{ uuid = "…", title = "…", file = "bl1.bin" }]
//! # fip: further packages that the board boots, without the payload
//! parts = [{ file = "scp_fw.bin", requires = ["scp-fw"], blobs = [] }]
//! ```

use anyhow::Result;
use serde::Deserialize;
use toml::Spanned;

use super::image_kinds::{called, known};
use super::source::Source;
use super::uuid::Uuid;

/// What kind of file the payload goes into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PackageKind {
    /// A Firmware Image Package.
    Fip,
    /// None: the image itself.
    Raw,
    /// A flattened image tree, which U-Boot loads.
    Fit,
    /// A format of the vendor's, which the vendor's tool makes.
    Vendor,
}

/// An image that fiptool has no option for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blob {
    /// How a FIP names it, in the form 8-4-4-4-12.
    pub uuid: Spanned<String>,
    /// What it is.
    pub title: String,
    /// What its file is called where it is built.
    pub file: Option<String>,
}

impl Blob {
    /// The UUID, which the check has seen to be one.
    #[must_use]
    pub fn uuid(&self) -> Uuid {
        self.uuid.get_ref().parse().unwrap_or(Uuid::NIL)
    }
}

/// A package of its own that the board boots besides the one with the payload.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// What it is called.
    pub file: Spanned<String>,
    /// What has to be in it, by fiptool's options.
    #[serde(default)]
    pub requires: Vec<Spanned<String>>,
    /// What has to be in it that fiptool has no option for.
    #[serde(default)]
    pub blobs: Vec<Blob>,
}

/// The `[package]` table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// Of what kind it is.
    pub kind: Spanned<PackageKind>,
    /// What the file is called on the board.
    pub file: Spanned<String>,
    /// Where it goes.
    pub install: Spanned<String>,
    /// What has to be in the FIP besides BL33, by fiptool's options.
    pub requires: Option<Spanned<Vec<Spanned<String>>>>,
    /// Alignment of each image in the FIP, in bytes.
    pub align: Option<Spanned<u64>>,
    /// What has to be in the FIP that fiptool has no option for.
    pub blobs: Option<Spanned<Vec<Blob>>>,
    /// Further FIPs.
    pub parts: Option<Spanned<Vec<Part>>>,
    /// The vendor's tool.
    pub tool: Option<Spanned<String>>,
}

impl Package {
    /// What has to be in the FIP besides BL33, by fiptool's options.
    #[must_use]
    pub fn requires(&self) -> &[Spanned<String>] {
        self.requires.as_ref().map_or(&[], |list| list.get_ref())
    }

    /// Alignment of each image in the FIP, in bytes.
    #[must_use]
    pub fn align(&self) -> u64 {
        self.align.as_ref().map_or(1, |align| *align.get_ref())
    }

    /// What has to be in the FIP that fiptool has no option for.
    #[must_use]
    pub fn blobs(&self) -> &[Blob] {
        self.blobs.as_ref().map_or(&[], |list| list.get_ref())
    }

    /// Further FIPs.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        self.parts.as_ref().map_or(&[], |list| list.get_ref())
    }
}

/// Refuses what cannot be packed.
pub(super) fn check(package: Option<&Package>, source: &Source<'_>) -> Result<()> {
    let Some(package) = package else {
        return Ok(());
    };
    let kind = *package.kind.get_ref();
    keys(package, kind, source)?;
    file(&package.file, source)?;
    text(&package.install, "install", source)?;
    if let Some(tool) = &package.tool {
        text(tool, "tool", source)?;
    }
    if let Some(align) = &package.align {
        let value = *align.get_ref();
        if !value.is_power_of_two() || value > 1 << 20 {
            let reason = "align is a power of two up to a MiB";
            return Err(source.error(align.span(), reason));
        }
    }
    images(package.requires(), package.blobs(), source)?;
    if let Some(own) = package.requires().iter().find(|o| o.get_ref() == "nt-fw") {
        let reason = "nt-fw is the payload, which is not to be named here";
        return Err(source.error(own.span(), reason));
    }
    let mut files = vec![package.file.get_ref()];
    for part in package.parts() {
        file(&part.file, source)?;
        if files.contains(&part.file.get_ref()) {
            return Err(source.error(part.file.span(), "another file has the same name"));
        }
        files.push(part.file.get_ref());
        if part.requires.is_empty() && part.blobs.is_empty() {
            return Err(source.error(part.file.span(), "this part has nothing in it"));
        }
        images(&part.requires, &part.blobs, source)?;
    }
    Ok(())
}

/// Each kind has keys of its own.
fn keys(package: &Package, kind: PackageKind, source: &Source<'_>) -> Result<()> {
    let fip = kind == PackageKind::Fip;
    let given = [
        (
            "requires",
            fip,
            package.requires.as_ref().map(Spanned::span),
        ),
        ("align", fip, package.align.as_ref().map(Spanned::span)),
        ("blobs", fip, package.blobs.as_ref().map(Spanned::span)),
        ("parts", fip, package.parts.as_ref().map(Spanned::span)),
        (
            "tool",
            fip || kind == PackageKind::Vendor,
            package.tool.as_ref().map(Spanned::span),
        ),
    ];
    for (key, fits, span) in given {
        if let Some(span) = span.filter(|_| !fits) {
            let reason = format!("{key} does not go with this kind of package");
            return Err(source.error(span, &reason));
        }
    }
    if kind == PackageKind::Vendor && package.tool.is_none() {
        let reason = "kind = \"vendor\" names the vendor's tool";
        return Err(source.error(package.kind.span(), reason));
    }
    if fip && package.requires.is_none() {
        let reason = "kind = \"fip\" says what has to be in it: requires = [\"tb-fw\", …]";
        return Err(source.error(package.kind.span(), reason));
    }
    Ok(())
}

/// Options that there are, UUIDs that are some, and none of them twice.
fn images(options: &[Spanned<String>], blobs: &[Blob], source: &Source<'_>) -> Result<()> {
    let mut seen = Vec::new();
    for option in options {
        let Some(kind) = called(option.get_ref()) else {
            let reason = format!("fiptool has no option --{}", option.get_ref());
            return Err(source.error(option.span(), &reason));
        };
        if seen.contains(&kind.uuid) {
            let reason = format!("{} is there twice", kind.option);
            return Err(source.error(option.span(), &reason));
        }
        seen.push(kind.uuid);
    }
    for blob in blobs {
        let fail = |reason: &str| Err(source.error(blob.uuid.span(), reason));
        let uuid: Uuid = match blob.uuid.get_ref().parse() {
            Ok(uuid) => uuid,
            Err(reason) => return fail(&reason),
        };
        if uuid == Uuid::NIL {
            return fail("a UUID of zeros ends the list and names no image");
        }
        if let Some(kind) = known(uuid) {
            let reason = format!("this is {}, which goes into requires", kind.option);
            return fail(&reason);
        }
        if seen.contains(&uuid) {
            return fail("this UUID is there twice");
        }
        seen.push(uuid);
    }
    Ok(())
}

/// A file's name, and no path.
fn file(name: &Spanned<String>, source: &Source<'_>) -> Result<()> {
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let value = name.get_ref();
    if value.is_empty() || value.starts_with('.') || !value.chars().all(letters) {
        let reason = format!("{value:?} is no name of a file: letters, digits, '-', '_', '.'");
        return Err(source.error(name.span(), &reason));
    }
    Ok(())
}

fn text(text: &Spanned<String>, key: &str, source: &Source<'_>) -> Result<()> {
    let value = text.get_ref();
    if value.trim().is_empty() || value.chars().any(char::is_control) {
        let reason = format!("{key} is a sentence or two, on one line");
        return Err(source.error(text.span(), &reason));
    }
    Ok(())
}
