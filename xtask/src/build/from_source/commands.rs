//! The commands that build the same files by hand.

use std::path::{Path, PathBuf};

use anyhow::Result;
use boards::{PackageBlob, PackageKind};

use super::plan::BuildPlan;
use crate::build::firmware::{self, FipBuild};
use crate::build::package;
use crate::setup::workspace::Workspace;

/// Returns the commands that build the files in `out` by hand: the image, TF-A, and the packages.
/// `image` has the options of `cargo xtask image`.
pub fn commands(
    workspace: &Workspace,
    plan: &BuildPlan<'_>,
    out: &Path,
    image: &str,
) -> Result<Vec<String>> {
    let board = plan.wish.board;
    let package = package::package(board)?;
    let out = std::path::absolute(out)?;
    let at = |file: &str| out.join(file).display().to_string();
    let bl33 = at("bl33.bin");
    let build = out.join("build");
    let mode = if plan.platform.debug {
        "debug"
    } else {
        "release"
    };
    let built = |file: &str| {
        let folder = build.join(&plan.platform.name).join(mode);
        folder.join(file).display().to_string()
    };
    let mut lines = vec![format!(
        "cargo xtask image --board {}{image} -o {bl33}",
        board.name
    )];
    let file = |variable: &str| match variable {
        "BL33" => PathBuf::from(&bl33),
        _ => given(plan, variable),
    };
    let make = firmware::commands(workspace, &plan.tf_a, &plan.platform, &build, &file)?;
    lines.extend(make.iter().map(quoted));
    if board.qemu.is_some() {
        let [bl1, bl2, bl31] = ["bl1.bin", "bl2.bin", "bl31.bin"].map(built);
        let is_preloaded = plan.stock.is_some_and(|stock| stock.preloaded);
        let nt_fw = if is_preloaded {
            String::new()
        } else {
            format!(" --nt-fw {bl33}")
        };
        let fip = at("fip.bin");
        lines.push(format!(
            "cargo xtask fip create --out {fip} --tb-fw {bl2} --soc-fw {bl31}{nt_fw}"
        ));
        let base = plan.stock.and_then(|stock| stock.fip_base);
        let base = base.unwrap_or(crate::build::flash::FIP_BASE);
        let flash = at("flash.bin");
        lines.push(format!("cp {bl1} {flash}"));
        lines.push(format!(
            "dd if={fip} of={flash} bs=4096 seek={} conv=notrunc",
            base / 4096
        ));
    }
    if package.kind == PackageKind::Fip && board.qemu.is_none() {
        for part in &package.parts {
            let images = options(plan, &part.requires, &part.blobs, &built);
            let (name, file) = (&board.name, &part.file);
            let to = at(file);
            lines.push(format!(
                "cargo xtask fip part {file} --board {name} -o {to}{images}"
            ));
        }
        let to = at(&package.file);
        if plan.platform.fip == FipBuild::None {
            let mut images = options(plan, &package.requires, &package.blobs, &built);
            for image in plan.stock.into_iter().flat_map(|stock| &stock.images) {
                images += &format!(" --{} {}", image.option, built(&image.from));
            }
            lines.push(format!(
                "cargo xtask fip create --out {to} --nt-fw {bl33}{images}"
            ));
        } else {
            lines.push(format!("cp {} {to}", built("fip.bin")));
        }
    }
    for file in plan.files() {
        let name = file.to.rsplit('/').next().unwrap_or(&file.to);
        lines.push(format!("cp {} {}", built(&file.from), at(name)));
    }
    Ok(lines)
}

/// Returns the user's file for the input whose variable is `variable`.
fn given(plan: &BuildPlan<'_>, variable: &str) -> PathBuf {
    let inputs = plan.stock.map_or(&[][..], |stock| &stock.inputs);
    let input = inputs
        .iter()
        .find(|it| it.variable.as_deref() == Some(variable));
    let file = input.and_then(|input| plan.wish.given.get(&input.option));
    let file = file.unwrap_or(Path::new(variable));
    std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf())
}

/// Returns the options for the images in a FIP that the user gave or that TF-A's build makes.
fn options(
    plan: &BuildPlan<'_>,
    requires: &[String],
    blobs: &[PackageBlob],
    built: &dyn Fn(&str) -> String,
) -> String {
    let mut words = String::new();
    for option in requires {
        if let Some(file) = plan.wish.given.get(option) {
            words += &format!(" --{option} {}", file.display());
        }
    }
    for blob in blobs {
        let given = blob
            .option
            .as_deref()
            .and_then(|option| plan.wish.given.get(option));
        let file = match (given, &blob.file) {
            (Some(given), _) => given.display().to_string(),
            (None, Some(file)) => built(file),
            (None, None) => continue,
        };
        words += &format!(" --blob uuid={},file={file}", blob.uuid);
    }
    words
}

/// Returns `command` as a shell would accept it.
fn quoted(command: &std::process::Command) -> String {
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
