//! The file that a board takes, made of the image and of what else it needs.
//!
//! What that is, `[package]` of the board file says. A FIP is made here; a
//! board without one takes the image as it is, or a flattened image tree, of
//! which the source is made here, or what its vendor's tool makes.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use toml::Spanned;

use super::fip::{Builder, Request, Signed, WriteError, certificates, is_certificate, renew};
use crate::board::image_kinds::{Kind, called, known};
use crate::board::{Blob, Board, Package, PackageKind, Uuid};

/// An image for a FIP.
#[derive(Clone, Debug)]
pub struct Given {
    /// What it was asked for by.
    pub option: String,
    /// How a FIP names it.
    pub uuid: Uuid,
    /// The image.
    pub data: Vec<u8>,
}

/// The `[package]` of `board`.
///
/// # Errors
/// When it has none.
pub fn package(board: &Board) -> Result<&Package> {
    let package = board.package.as_ref();
    package.with_context(|| {
        let name = board.name.get_ref();
        format!("platforms/{name}/board.toml has no [package], which says what its loader takes")
    })
}

/// The `[package]` of `board`, which has to be a FIP.
///
/// # Errors
/// When it is not: what to do instead.
pub fn takes_fip(board: &Board) -> Result<&Package> {
    let package = package(board)?;
    let name = board.name.get_ref();
    let image = format!("psci-bench-{name}.bin");
    let (what, output) = match package.kind.get_ref() {
        PackageKind::Fip => return Ok(package),
        PackageKind::Raw => ("the image itself".to_owned(), package.file.get_ref()),
        PackageKind::Fit => ("a flattened image tree".to_owned(), &image),
        PackageKind::Vendor => (format!("what {} makes of the image", tool(package)), &image),
    };
    bail!(
        "{} takes no FIP, but {what}: run `cargo xtask image --board {name} -o {output}`",
        board.title
    )
}

fn tool(package: &Package) -> &str {
    let tool = package.tool.as_ref();
    tool.map_or("its vendor's tool", |tool| tool.get_ref())
}

/// A file beside `path`, by all of its name and `ending` after a dot.
#[must_use]
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(".");
    path.push(ending);
    path.into()
}

/// What is left to do with the image that is in the file `output`.
#[must_use]
pub fn after_image(board: &Board, output: &Path) -> Option<String> {
    let package = board.package.as_ref()?;
    let install = package.install.get_ref();
    Some(match package.kind.get_ref() {
        PackageKind::Fip => format!(
            "this is BL33; `cargo xtask fip build --board {}` puts it into a FIP",
            board.name.get_ref()
        ),
        PackageKind::Raw => {
            let file = package.file.get_ref();
            format!("on the board it is called {file}. {install}")
        }
        PackageKind::Fit => {
            let (its, itb) = (beside(output, "its"), beside(output, "itb"));
            format!(
                "U-Boot starts it by `bootm`, from the file that `mkimage -f {} {}` makes. In \
                 U-Boot's place it goes into {}. {install}",
                its.display(),
                itb.display(),
                package.file.get_ref()
            )
        }
        PackageKind::Vendor => format!(
            "this is the image alone: the file that the board boots is made of it by {}. {install}",
            tool(package)
        ),
    })
}

/// What is left to do with the FIP.
#[must_use]
pub fn after_fip(package: &Package) -> String {
    let install = package.install.get_ref();
    match &package.tool {
        Some(tool) => format!(
            "the file that the board boots is made of this FIP by {}. {install}",
            tool.get_ref()
        ),
        None => install.clone(),
    }
}

/// A FIP in the making, and the key to sign with.
#[derive(Debug, Default)]
pub struct Recipe<'r> {
    /// The user's FIP, of which BL33 is replaced.
    pub base: Option<Builder>,
    /// Further images, which replace those of the same kind.
    pub given: Vec<Given>,
    /// The payload.
    pub image: Vec<u8>,
    /// The key of the non-trusted firmware.
    pub key: Option<&'r Path>,
}

impl Recipe<'_> {
    /// Refuses what cannot become a FIP for `board`, whatever the payload.
    ///
    /// # Errors
    /// When an image is missing, or the certificates do not allow it.
    pub fn check(&self, board: &Board) -> Result<()> {
        let package = takes_fip(board)?;
        if let Some(given) = self
            .given
            .iter()
            .find(|given| given.uuid == Uuid::of("nt-fw"))
        {
            bail!(
                "{}: here BL33 is the payload; with another one use `cargo xtask fip create` or \
                 `fip update`",
                given.option
            );
        }
        let certificate = Uuid::of("nt-fw-cert");
        let certificate = self.given.iter().find(|given| given.uuid == certificate);
        if let (Some(certificate), Some(_), Some(_)) = (certificate, &self.base, self.key) {
            bail!(
                "{}: with --base and --nt-fw-key this certificate is made here: leave it out",
                certificate.option
            );
        }
        let vouched = match &self.base {
            Some(base) => {
                let vouched = certificates(base);
                self.check_given(&vouched)?;
                vouched
            }
            None => {
                let or = "; or replace BL33 in a FIP that you have, by --base FIP";
                let (requires, blobs) = (package.requires(), package.blobs());
                complete(&board.title, requires, blobs, &self.given, or)?;
                let given = self.given.iter().filter_map(|given| known(given.uuid));
                given.filter(|kind| is_certificate(kind)).collect()
            }
        };
        match (vouched.first(), self.key) {
            (None, Some(key)) => bail!(
                "--nt-fw-key {}: there are no certificates, and nothing to sign",
                key.display()
            ),
            (Some(certificate), None) => bail!(
                "there are certificates in it ({} is one): firmware that checks them would \
                 refuse another BL33. Give the key of the non-trusted firmware, by --nt-fw-key \
                 PEM",
                certificate.option
            ),
            _ => Ok(()),
        }
    }

    /// What has a certificate in the base cannot be replaced besides BL33.
    fn check_given(&self, vouched: &[&Kind]) -> Result<()> {
        let fits = |uuid| {
            let certificate = known(uuid).is_some_and(is_certificate);
            certificate || uuid == Uuid::of("nt-fw-config")
        };
        match self.given.iter().find(|given| !fits(given.uuid)) {
            Some(other) if !vouched.is_empty() => bail!(
                "{}: --base has certificates, and one that would vouch for this is not made \
                 here: have TF-A's build make that FIP, then replace BL33 in it",
                other.option
            ),
            _ => Ok(()),
        }
    }
}

/// The FIP by `recipe`, which has been checked. `sign` and `verify` are those of
/// [`renew`].
///
/// # Errors
/// When an image cannot be in a package, or there is no new certificate.
pub fn fip(
    recipe: Recipe<'_>,
    sign: impl FnOnce(&Request<'_>) -> Result<Vec<u8>>,
    verify: impl Fn(&Signed) -> Result<()>,
) -> Result<Builder> {
    let mut fip = recipe.base.unwrap_or_default();
    add(&mut fip, recipe.given)?;
    fip.put(Uuid::of("nt-fw"), recipe.image)?;
    if let Some(key) = recipe.key {
        renew(&mut fip, key, sign, verify)?;
    }
    Ok(fip)
}

/// The further FIP `file` of `board`, without the payload.
///
/// # Errors
/// When there is none of that name, or an image is missing.
pub fn part(board: &Board, file: &str, given: Vec<Given>) -> Result<Builder> {
    let parts = takes_fip(board)?.parts();
    let part = parts.iter().find(|part| part.file.get_ref() == file);
    let part = part.with_context(|| {
        let names: Vec<&str> = parts
            .iter()
            .map(|part| part.file.get_ref().as_str())
            .collect();
        let names = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        };
        format!("--part {file}: {} has {names}", board.title)
    })?;
    complete(file, &part.requires, &part.blobs, &given, "")?;
    let mut fip = Builder::default();
    add(&mut fip, given)?;
    Ok(fip)
}

/// Adds what was given, none of it twice.
///
/// # Errors
/// When an image cannot be in a package.
pub fn add(fip: &mut Builder, given: Vec<Given>) -> Result<()> {
    let mut seen = Vec::new();
    for Given { option, uuid, data } in given {
        if seen.contains(&uuid) {
            bail!(WriteError::Duplicate(uuid));
        }
        seen.push(uuid);
        fip.put(uuid, data).context(option)?;
    }
    Ok(())
}

/// Refuses what would not boot for want of an image.
fn complete(
    what: &str,
    requires: &[Spanned<String>],
    blobs: &[Blob],
    given: &[Given],
    or: &str,
) -> Result<()> {
    let there = |uuid| given.iter().any(|given| given.uuid == uuid);
    let mut missing = Vec::new();
    for name in requires {
        let title = called(name.get_ref()).filter(|kind| !there(kind.uuid));
        missing.extend(title.map(|kind| format!("--{} FILE ({})", kind.option, kind.title)));
    }
    for blob in blobs.iter().filter(|blob| !there(blob.uuid())) {
        let file = blob.file.as_deref().unwrap_or("FILE");
        let uuid = blob.uuid.get_ref();
        missing.push(format!("--blob uuid={uuid},file={file} ({})", blob.title));
    }
    if !missing.is_empty() {
        bail!("{what} needs {}{or}", missing.join(", "));
    }
    Ok(())
}

/// How each source of a flattened image tree begins that is made here.
const FIT_BEGIN: &str = "/dts-v1/;

/ {
\tdescription = \"psci-bench for ";

/// Whether `text` is a source that was made here.
#[must_use]
pub fn is_fit_source(text: &[u8]) -> bool {
    text.starts_with(FIT_BEGIN.as_bytes())
}

/// The source of a flattened image tree (U-Boot's *Flattened Image Tree
/// format*) with the image and its device tree, which are in the files of
/// these names beside it: U-Boot's `bootm` enters the image as it enters a
/// Linux kernel.
///
/// # Errors
/// When a name cannot stand in it.
pub fn fit_source(title: &str, image: &str, tree: &str, load: u64) -> Result<String> {
    for name in [image, tree] {
        if name.contains(['"', '\\']) || name.chars().any(char::is_control) {
            bail!("{name:?}: a FIT source cannot name this file");
        }
    }
    let title = title.replace(['"', '\\'], "'");
    let cell = |value: u64| match (value >> 32, value & 0xffff_ffff) {
        (0, low) => format!("<{low:#x}>"),
        (high, low) => format!("<{high:#x} {low:#x}>"),
    };
    let (load, cells) = (cell(load), if load >> 32 == 0 { 1 } else { 2 });
    Ok(format!(
        "{FIT_BEGIN}{title}\";
\t#address-cells = <{cells}>;

\timages {{
\t\tpayload {{
\t\t\tdescription = \"psci-bench\";
\t\t\tdata = /incbin/(\"{image}\");
\t\t\ttype = \"kernel\";
\t\t\tarch = \"arm64\";
\t\t\tos = \"linux\";
\t\t\tcompression = \"none\";
\t\t\tload = {load};
\t\t\tentry = {load};
\t\t\thash-1 {{
\t\t\t\talgo = \"sha256\";
\t\t\t}};
\t\t}};

\t\ttree {{
\t\t\tdescription = \"its device tree\";
\t\t\tdata = /incbin/(\"{tree}\");
\t\t\ttype = \"flat_dt\";
\t\t\tarch = \"arm64\";
\t\t\tcompression = \"none\";
\t\t\thash-1 {{
\t\t\t\talgo = \"sha256\";
\t\t\t}};
\t\t}};
\t}};

\tconfigurations {{
\t\tdefault = \"psci-bench\";

\t\tpsci-bench {{
\t\t\tdescription = \"psci-bench\";
\t\t\tkernel = \"payload\";
\t\t\tfdt = \"tree\";
\t\t}};
\t}};
}};
"
    ))
}
