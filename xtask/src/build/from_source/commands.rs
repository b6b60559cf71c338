//! The commands that build the same files by hand.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use boards::{BuiltImage, Package, PackageBlob, PackageKind};
use itertools::Itertools as _;

use super::plan::BuildPlan;
use crate::build::firmware::{self, FipBuild};
use crate::build::{flash, package};
use crate::setup::workspace::Workspace;

/// The names of files in a manual build.
struct ByHand<'p> {
    plan: &'p BuildPlan<'p>,
    /// The output folder.
    out: PathBuf,
}

/// Returns the commands that build the files in `out` by hand: the image, TF-A, and the packages.
/// `image` contains the options for `cargo xtask image`.
pub fn commands(
    workspace: &Workspace,
    plan: &BuildPlan<'_>,
    out: &Path,
    image: &str,
) -> Result<Vec<String>> {
    let board = plan.request.board;
    let package = package::package(board)?;
    let out = std::path::absolute(out)?;
    let names = ByHand { plan, out };
    let bl33 = names.at("bl33.bin");
    let mut lines = vec![format!(
        "cargo xtask image --board {}{image} -o {bl33}",
        board.name
    )];
    let input = |variable: &str| names.input(variable);
    let (tf_a, platform) = (&plan.tf_a, &plan.platform);
    let make = firmware::commands(workspace, tf_a, platform, &names.base(), &input)?;
    lines.extend(make.iter().map(quoted));
    match package.kind {
        _ if board.qemu.is_some() => lines.extend(names.flash()),
        PackageKind::Fip => lines.extend(names.fips(package)),
        PackageKind::Raw | PackageKind::Fit | PackageKind::Vendor => {}
    }
    lines.extend(plan.files().map(|file| {
        let name = file.to.rsplit('/').next().unwrap_or(&file.to);
        format!("cp {} {}", names.built(&file.from), names.at(name))
    }));
    Ok(lines)
}

impl ByHand<'_> {
    /// Returns the path of a file in the output folder.
    fn at(&self, file: &str) -> String {
        self.out.join(file).display().to_string()
    }

    /// Returns `BUILD_BASE`.
    fn base(&self) -> PathBuf {
        self.out.join("build")
    }

    /// Returns the path of a file that TF-A builds.
    fn built(&self, file: &str) -> String {
        let platform = &self.plan.platform;
        let folder = self.base().join(&platform.name).join(platform.mode());
        folder.join(file).display().to_string()
    }

    /// Returns the file for the make variable `variable`: BL33, or a file from the user.
    fn input(&self, variable: &str) -> PathBuf {
        if variable == "BL33" {
            return self.at("bl33.bin").into();
        }
        let plan = self.plan;
        let inputs = plan.stock.map_or(&[][..], |stock| &stock.inputs);
        let mut inputs = inputs.iter();
        let input = inputs.find(|it| it.variable.as_deref() == Some(variable));
        let file = input.and_then(|input| plan.request.given.get(&input.option));
        let file = file.unwrap_or(Path::new(variable));
        std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf())
    }

    /// Returns the commands that build the QEMU flash image.
    fn flash(&self) -> [String; 3] {
        let [bl1, bl2, bl31] = ["bl1.bin", "bl2.bin", "bl31.bin"].map(|file| self.built(file));
        let [bl33, fip, to] = ["bl33.bin", "fip.bin", "flash.bin"].map(|file| self.at(file));
        let is_preloaded = self.plan.stock.is_some_and(|stock| stock.preloaded);
        let nt_fw = match is_preloaded {
            true => String::new(),
            false => format!(" --nt-fw {bl33}"),
        };
        let base = self.plan.stock.and_then(|stock| stock.fip_base);
        let page = base.unwrap_or(flash::FIP_BASE) / 4096;
        [
            format!("cargo xtask fip create --out {fip} --tb-fw {bl2} --soc-fw {bl31}{nt_fw}"),
            format!("cp {bl1} {to}"),
            format!("dd if={fip} of={to} bs=4096 seek={page} conv=notrunc"),
        ]
    }

    /// Returns the commands that build the FIPs for the board.
    fn fips(&self, package: &Package) -> Vec<String> {
        let board = &self.plan.request.board.name;
        let parts = package.parts.iter().map(|part| {
            let images = self.options(&part.requires, &part.blobs);
            let (file, to) = (&part.file, self.at(&part.file));
            format!("cargo xtask fip part {file} --board {board} -o {to}{images}")
        });
        let to = self.at(&package.file);
        let fip = match self.plan.platform.fip {
            FipBuild::None => {
                let given = self.options(&package.requires, &package.blobs);
                let images = self.plan.stock.map_or(&[][..], |stock| &stock.images);
                let built = |it: &BuiltImage| format!(" --{} {}", it.option, self.built(&it.from));
                let images = images.iter().map(built).join("");
                let bl33 = self.at("bl33.bin");
                format!("cargo xtask fip create --out {to} --nt-fw {bl33}{given}{images}")
            }
            FipBuild::Plain | FipBuild::Trusted => format!("cp {} {to}", self.built("fip.bin")),
        };
        parts.chain([fip]).collect()
    }

    /// Returns the options for the images in a FIP that the user supplied or that TF-A builds.
    fn options(&self, requires: &[String], blobs: &[PackageBlob]) -> String {
        let given = &self.plan.request.given;
        let kinds = requires.iter().filter_map(|option| {
            let file = given.get(option)?;
            Some(format!(" --{option} {}", file.display()))
        });
        let blobs = blobs.iter().filter_map(|blob| {
            let file = match &blob.option {
                Some(option) => given.get(option)?.display().to_string(),
                None => self.built(blob.file.as_ref()?),
            };
            Some(format!(" --blob uuid={},file={file}", blob.uuid))
        });
        kinds.chain(blobs).collect()
    }
}

/// Returns `command`, quoted for a shell.
fn quoted(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words = words.map(|word| {
        let word = word.to_string_lossy();
        match word.contains([' ', '"']) {
            true => format!("'{word}'"),
            false => word.into_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}
