//! The commands that build a board's files by hand.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use boards::{BuiltImage, Package, PackageBlob, PackageKind};
use itertools::Itertools as _;

use super::plan::BuildPlan;
use crate::build::firmware::{self, FipBuild};
use crate::build::{flash, package};
use crate::setup::workspace::{Workspace, refuse_blanks};

/// The names of files in a manual build.
struct ByHand<'p> {
    plan: &'p BuildPlan<'p>,
    /// The folder that the commands write to.
    out: PathBuf,
}

/// Returns the commands that build the files in `out` by hand: the image, TF-A, and the packages.
/// `image` contains the options for `cargo xtask image`.
pub fn commands(
    workspace: &Workspace,
    plan: &BuildPlan<'_>,
    out: &Path,
    image: &[String],
) -> Result<Vec<String>> {
    let board = plan.request.board;
    let package = package::require_package(board)?;
    let out = std::path::absolute(out)?;
    // The commands name these folders directly, without the links that a build creates.
    workspace.check_for_make().context("--dry-run")?;
    refuse_blanks(&plan.tf_a.dir, "move the source tree").context("--dry-run")?;
    // TF-A is also built in this folder.
    refuse_blanks(&out, "choose another --output").context("--dry-run")?;
    let names = ByHand { plan, out };
    let mut lines = vec![names.make_folders(package)];
    let mut line = words("cargo xtask image --board");
    line.push(board.name.clone());
    line.extend_from_slice(image);
    line.extend(["-o".to_owned(), names.bl33(package)]);
    lines.push(line);
    let input = |variable: &str| match variable {
        "BL33" => names.bl33(package).into(),
        _ => names.input(variable),
    };
    let tf_a = &plan.tf_a;
    let platform = &plan.platform;
    let make = firmware::commands(workspace, tf_a, platform, &names.base(), &input)?;
    lines.extend(make.iter().map(in_empty_environment));
    if board.is_virtual() {
        lines.extend(names.flash());
    } else if package.kind == PackageKind::Fip {
        lines.extend(names.fips(package));
    }
    let files = plan.files();
    lines.extend(files.map(|file| words_of(["cp", &names.built(&file.from), &names.at(&file.to)])));
    Ok(lines.iter().map(|line| quoted(line)).collect())
}

impl ByHand<'_> {
    /// Returns the path of a file in the output folder.
    fn at(&self, file: &str) -> String {
        self.out.join(file).display().to_string()
    }

    /// Returns the path of the payload's image.
    fn bl33(&self, package: &Package) -> String {
        match package.kind {
            PackageKind::Raw if !self.plan.request.board.is_virtual() => self.at(&package.file),
            _ => self.at("bl33.bin"),
        }
    }

    /// Returns the path of one of the board's FIPs.
    fn fip(&self, package: &Package, file: &str) -> String {
        self.at(&package.place(file))
    }

    /// Returns the command that creates the folders.
    fn make_folders(&self, package: &Package) -> Vec<String> {
        let mut folders = vec![Path::new("")];
        folders.extend(package.folder.as_deref().map(Path::new));
        for file in self.plan.files() {
            folders.extend(Path::new(&file.to).parent());
        }
        let mut command = words("mkdir -p");
        for folder in folders.into_iter().unique() {
            // `join` would add a slash to the output folder.
            let path = if folder.as_os_str().is_empty() {
                self.out.clone()
            } else {
                self.out.join(folder)
            };
            command.push(path.display().to_string());
        }
        command
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

    /// Returns the file for a make variable: BL33, or a file supplied by the user.
    fn input(&self, variable: &str) -> PathBuf {
        let plan = self.plan;
        let mut inputs = plan.stock.map_or(&[][..], |stock| &stock.inputs).iter();
        let input = inputs.find(|input| input.variable.as_deref() == Some(variable));
        let file = input
            .and_then(|input| plan.request.given.get(&input.option))
            .unwrap_or(Path::new(variable));
        std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf())
    }

    /// Returns the commands that create QEMU's flash image.
    fn flash(&self) -> [Vec<String>; 3] {
        let [bl1, bl2, bl31] = ["bl1.bin", "bl2.bin", "bl31.bin"].map(|file| self.built(file));
        let [bl33, fip, to] = ["bl33.bin", "fip.bin", "flash.bin"].map(|file| self.at(file));
        let mut create = words("cargo xtask fip create");
        create.extend(words_of([
            "--out", &fip, "--tb-fw", &bl2, "--soc-fw", &bl31,
        ]));
        if self.plan.stock.is_none_or(|stock| !stock.preloaded) {
            create.extend(words_of(["--nt-fw", &bl33]));
        }
        let base = self.plan.stock.and_then(|stock| stock.fip_base);
        let page = base.unwrap_or(flash::FIP_BASE) / 4096;
        let mut copy = words(&format!("dd bs=4096 seek={page} conv=notrunc"));
        copy.extend([format!("if={fip}"), format!("of={to}")]);
        [create, words_of(["cp", &bl1, &to]), copy]
    }

    /// Returns the commands that create the board's FIPs.
    fn fips(&self, package: &Package) -> Vec<Vec<String>> {
        let align = match package.align {
            1 => Vec::new(),
            align => words(&format!("--align {align}")),
        };
        let board = &self.plan.request.board.name;
        let parts = package.parts.iter().map(|part| {
            let to = self.fip(package, &part.file);
            let mut line = words("cargo xtask fip part");
            line.extend(words_of([&part.file, "--board", board, "-o", &to]));
            line.extend(self.options(&part.requires, &part.blobs));
            line
        });
        let to = self.fip(package, &package.file);
        let fip = match self.plan.platform.fip {
            FipBuild::None => {
                let bl33 = self.bl33(package);
                let mut line = words("cargo xtask fip create");
                line.extend(words_of(["--out", &to, "--nt-fw", &bl33]));
                line.extend(align);
                line.extend(self.options(&package.requires, &package.blobs));
                let images = self.plan.stock.map_or(&[][..], |stock| &stock.images);
                for BuiltImage { option, from } in images {
                    line.extend([format!("--{option}"), self.built(from)]);
                }
                line
            }
            FipBuild::Plain | FipBuild::Trusted => words_of(["cp", &self.built("fip.bin"), &to]),
        };
        parts.chain([fip]).collect()
    }

    /// Returns the options for those images in a FIP that the user supplied or that TF-A builds.
    fn options(&self, requires: &[String], blobs: &[PackageBlob]) -> Vec<String> {
        let given = &self.plan.request.given;
        let kinds = requires.iter().filter_map(|option| {
            let file = given.get(option)?;
            Some([format!("--{option}"), file.display().to_string()])
        });
        let blobs = blobs.iter().filter_map(|blob| {
            let file = match &blob.option {
                Some(option) => given.get(option)?.display().to_string(),
                None => self.built(blob.file.as_ref()?),
            };
            Some([
                "--blob".to_owned(),
                format!("uuid={},file={file}", blob.uuid),
            ])
        });
        kinds.chain(blobs).flatten().collect()
    }
}

/// Splits a string at spaces.
fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn words_of<const COUNT: usize>(words: [&str; COUNT]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

/// Returns `command`, prefixed so that it runs in the same environment as this tool's builds.
fn in_empty_environment(command: &Command) -> Vec<String> {
    let words = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned());
    let environment = ["env", "-i", "LC_ALL=C", "PATH=$PATH", "HOME=$HOME"];
    environment
        .map(str::to_owned)
        .into_iter()
        .chain(words)
        .collect()
}

/// Returns a command quoted for a shell, which will expand `$PATH` and `$HOME`.
fn quoted(words: &[String]) -> String {
    let quote = |word: &String| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
        match word.as_str() {
            "PATH=$PATH" | "HOME=$HOME" => word.replacen('=', "=\"", 1) + "\"",
            plain if !plain.is_empty() && plain.chars().all(is_plain) => plain.to_owned(),
            other => format!("'{}'", other.replace('\'', r"'\''")),
        }
    };
    words.iter().map(quote).join(" ")
}
