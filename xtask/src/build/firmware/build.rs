//! Builds TF-A for the overlay platform in `platforms/BOARD/tf-a`, or for one of TF-A's own
//! platforms.
//!
//! A build is cached under a hash of all its inputs: the overlay's files, the variant, TF-A's
//! source, the compiler and the arguments. Nothing is written to TF-A's source tree.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, thread};

use anyhow::{Context, Result};
use host::hex::hex;
use host::places::once;
use host::process;
use sha2::{Digest, Sha256};

use super::fip::{self, NT_FW_KEY};
use super::platform::Platform;
use crate::build::tf_a::{self, TfA};
use crate::setup::scratch::Scratch;
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need};

/// A finished build.
#[derive(Clone, Debug)]
pub struct FirmwareBuild {
    /// The folder with `bl1.bin`, `bl2.bin`, `bl31.bin` and their ELF files, and with `fip.bin` if
    /// it was requested.
    pub dir: PathBuf,
}

impl FirmwareBuild {
    /// Returns the contents of a stage's `.bin` file.
    pub fn read(&self, stage: &str) -> Result<Vec<u8>> {
        let path = self.dir.join(stage).with_extension("bin");
        fs::read(&path).with_context(|| path.display().to_string())
    }
}

/// Builds `platform` with `tf_a`, unless that build already exists.
pub fn build(workspace: &Workspace, tf_a: &TfA, platform: &Platform) -> Result<FirmwareBuild> {
    workspace.check_for_make()?;
    setup::ensure(workspace, &[Need::CrossCompiler, Need::Make])?;
    // A FIP with certificates requires that a single make run builds all stages.
    if platform.bl31_variables.is_empty() || platform.trusted_fip {
        let dir = build_stages(workspace, tf_a, platform, &["bl1", "bl2", "bl31"], None)?;
        return Ok(FirmwareBuild { dir });
    }
    let plain = Platform {
        bl31_variables: Vec::new(),
        ..platform.clone()
    };
    let first = build_stages(workspace, tf_a, &plain, &["bl1", "bl2"], None)?;
    let dir = build_stages(workspace, tf_a, platform, &["bl31"], Some(&first))?;
    Ok(FirmwareBuild { dir })
}

/// Builds `stages`, unless that build already exists, and adds the files from the folder `others`.
/// Returns the build's folder.
fn build_stages(
    workspace: &Workspace,
    tf_a: &TfA,
    platform: &Platform,
    stages: &[&str],
    others: Option<&Path>,
) -> Result<PathBuf> {
    let arguments = arguments(workspace, tf_a, platform, stages)?;
    let key = key(tf_a, platform, &arguments)?;
    let name = format!("{}-{}", platform.name, key.get(..16).unwrap_or(&key));
    let dir = workspace.state().join("firmware").join(name);
    once(&dir, |partial| {
        make(workspace, tf_a, platform, stages, &arguments, partial)?;
        others.map_or(Ok(()), |from| copy_files(from, partial))
    })?;
    Ok(dir)
}

/// Copies the files from one folder to another.
fn copy_files(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from)? {
        let file = entry?;
        fs::copy(file.path(), to.join(file.file_name()))?;
    }
    Ok(())
}

/// Returns the arguments that do not depend on the build folder.
fn arguments(
    workspace: &Workspace,
    tf_a: &TfA,
    platform: &Platform,
    stages: &[&str],
) -> Result<Vec<String>> {
    let mut arguments = vec![
        format!("PLAT={}", platform.name),
        "CROSS_COMPILE=aarch64-linux-gnu-".into(),
        "DEBUG=0".into(),
        // Neither the time nor the state of the surrounding repository may affect the build.
        "BUILD_MESSAGE_TIMESTAMP=\"reproducible\"".into(),
        format!("BUILD_STRING=psci-bench-{}", tf_a.version),
    ];
    arguments.extend(platform.all_variables().cloned());
    arguments.extend(stages.iter().map(ToString::to_string));
    if platform.trusted_fip {
        arguments.extend(fip::arguments(workspace)?);
    }
    Ok(arguments)
}

/// Returns the first line of version output from the compiler and from the linker.
pub fn toolchain() -> Result<[String; 2]> {
    let version = |program: &str| -> Result<String> {
        let said = process::output_once(process::clean(program).arg("--version"))?;
        let version = said.lines().next();
        let version = version.with_context(|| format!("`{program} --version` prints nothing"))?;
        Ok(version.to_owned())
    };
    let [gcc, ld] = ["aarch64-linux-gnu-gcc", "aarch64-linux-gnu-ld"].map(version);
    Ok([gcc?, ld?])
}

fn key(tf_a: &TfA, platform: &Platform, arguments: &[String]) -> Result<String> {
    let mut hash = Sha256::new();
    let mut part = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    part(&tf_a.identity);
    arguments.iter().for_each(|argument| part(argument));
    toolchain()?.iter().for_each(|version| part(version));
    if let Some(root) = &platform.root {
        tf_a::hash_folder(root, root, &[], &mut hash)
            .context("cannot read the overlay platform")?;
    }
    Ok(hex(&hash.finalize()))
}

fn make(
    workspace: &Workspace,
    tf_a: &TfA,
    platform: &Platform,
    stages: &[&str],
    arguments: &[String],
    place: &Path,
) -> Result<()> {
    let scratch = Scratch::new(workspace)?;
    let what = platform.special(workspace);
    let what = format!("building TF-A {} for {what}", tf_a.version);
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    let mut command: Command = process::clean("make");
    command.arg("-C").arg(&tf_a.dir).arg(format!("-j{jobs}"));
    command.args(arguments);
    if let Some(root) = &platform.root {
        // TF-A concatenates this with the platform's name, without a slash.
        command.arg(format!("TF_PLATFORM_ROOT={}/", root.display()));
    }
    command.arg(format!("BUILD_BASE={}", scratch.path().display()));
    let mut files: Vec<String> = stages
        .iter()
        .flat_map(|it| [format!("{it}.bin"), format!("{it}/{it}.elf")])
        .collect();
    if platform.trusted_fip {
        let bl33 = scratch.path().join("bl33.bin");
        fs::write(&bl33, "a stand-in for BL33")?;
        command.arg(format!("BL33={}", bl33.display()));
        command.arg(format!("BL33_KEY={}", place.join(NT_FW_KEY).display()));
        files.push("fip.bin".into());
    }
    let log = place.with_extension("log");
    process::run(&what, &mut command, &log).context("cannot build TF-A")?;
    let built = scratch.path().join(&platform.name).join("release");
    for file in files {
        let from = built.join(file);
        let to = place.join(from.file_name().expect("a list of files"));
        let made = || format!("TF-A's build did not produce {}", from.display());
        fs::copy(&from, to).with_context(made)?;
    }
    Ok(())
}
