//! Builds TF-A for the overlay platform in `platforms/BOARD/tf-a`, or for one of TF-A's own
//! platforms.
//!
//! A build is cached under a hash of all its inputs: the overlay files, the variant, the TF-A
//! source, the compiler and the arguments. Nothing is written to the TF-A source tree.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, iter, thread};

use anyhow::{Context, Result};
use host::hex::hex;
use host::{process, read_file};
use sha2::{Digest, Sha256};

use super::compiler_cache;
use super::fip::{self, NT_FW_KEY};
use super::plain_paths::PlainPaths;
use super::platform::{FipBuild, Platform};
use crate::build::tf_a::{self, TfA};
use crate::setup::scratch::Scratch;
use crate::setup::sealed_folder::sealed_folder;
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need};

const GCC: &str = "aarch64-linux-gnu-gcc";

/// The device tree folder in a build.
pub(crate) const TREES: &str = "fdts/";

/// The files that a build of TF-A has produced.
#[derive(Clone, Debug)]
pub struct FirmwareBuild {
    /// The folder that contains the platform files, such as `bl31.bin` and `bl31.elf`.
    pub dir: PathBuf,
    /// BL32, if the firmware starts one. It is not part of the build.
    pub bl32: Option<Vec<u8>>,
}

impl FirmwareBuild {
    /// Returns the contents of a stage's `.bin` file.
    pub fn read(&self, stage: &str) -> Result<Vec<u8>> {
        let path = self.dir.join(stage).with_extension("bin");
        read_file::read_own(&path)
    }

    /// Adds the contents of all stages to `hash`.
    pub fn add_to(&self, hash: &mut Sha256) -> Result<()> {
        let location = || self.dir.display().to_string();
        let mut stages = Vec::new();
        for entry in fs::read_dir(&self.dir).with_context(location)? {
            let path = entry.with_context(location)?.path();
            stages.extend(Some(path).filter(|path| path.extension() == Some("bin".as_ref())));
        }
        stages.sort();
        for stage in &stages {
            let bytes = read_file::read_own(stage)?;
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(&bytes);
        }
        hash.update(self.bl32.as_deref().unwrap_or_default());
        Ok(())
    }
}

/// Builds `platform` with `tf_a`, unless that build already exists.
pub fn build(workspace: &Workspace, tf_a: &TfA, platform: &Platform) -> Result<FirmwareBuild> {
    setup::ensure(workspace, &[Need::CrossCompiler, Need::Make])?;
    // A single make run must build all stages for a FIP.
    if platform.bl31_variables.is_empty() || platform.fip != FipBuild::None {
        let dir = build_stages(workspace, tf_a, platform, None)?;
        return Ok(FirmwareBuild { dir, bl32: None });
    }
    let plain = Platform {
        bl31_variables: Vec::new(),
        ..platform.only_stages(|stage| stage != "bl31")
    };
    let first = build_stages(workspace, tf_a, &plain, None)?;
    let only_bl31 = platform.only_stages(|stage| stage == "bl31");
    let dir = build_stages(workspace, tf_a, &only_bl31, Some(&first))?;
    Ok(FirmwareBuild { dir, bl32: None })
}

/// Builds `platform`, unless that build already exists, and adds the files from the `others`
/// folder. Returns the build folder.
fn build_stages(
    workspace: &Workspace,
    tf_a: &TfA,
    platform: &Platform,
    others: Option<&Path>,
) -> Result<PathBuf> {
    let arguments = arguments(workspace, tf_a, platform)?;
    let key = key(tf_a, platform, &arguments)?;
    let name = format!("{}-{}", platform.name, key.get(..16).unwrap_or(&key));
    let dir = workspace.state().join("firmware").join(name);
    sealed_folder(&dir, |partial_folder| {
        make(workspace, tf_a, platform, &arguments, partial_folder)?;
        others.map_or(Ok(()), |source_path| {
            copy_files(source_path, partial_folder)
        })
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
fn arguments(workspace: &Workspace, tf_a: &TfA, platform: &Platform) -> Result<Vec<String>> {
    let mut arguments = vec![
        format!("PLAT={}", platform.name),
        "CROSS_COMPILE=aarch64-linux-gnu-".into(),
        format!("DEBUG={}", u8::from(platform.debug)),
        // Neither the time nor the state of the surrounding repository may affect the build.
        "BUILD_MESSAGE_TIMESTAMP=\"reproducible\"".into(),
        format!("BUILD_STRING=psci-bench-{}", tf_a.version),
    ];
    arguments.extend(platform.all_variables().cloned());
    arguments.extend(fip::arguments(workspace, platform.fip)?);
    Ok(arguments)
}

/// Returns the goals for each run of make, in order. Device trees are built first, because the
/// makefiles of some platforms do not declare that their FIP depends on them.
fn goals(platform: &Platform) -> Vec<Vec<String>> {
    let is_fip = platform.fip != FipBuild::None;
    let has_trees = is_fip || platform.files.iter().any(|file| file.starts_with(TREES));
    let trees = has_trees.then(|| vec!["dtbs".to_owned()]);
    let fip = is_fip.then(|| "fip".to_owned());
    let others = platform.stages.iter().cloned().chain(fip);
    trees.into_iter().chain([others.collect()]).collect()
}

/// Returns the commands that build `platform` in `build_dir`. `file` returns the file for a
/// variable that names a FIP image, such as `BL33`.
pub fn commands(
    workspace: &Workspace,
    tf_a: &TfA,
    platform: &Platform,
    build_dir: &Path,
    file: &dyn Fn(&str) -> PathBuf,
) -> Result<Vec<Command>> {
    let arguments = arguments(workspace, tf_a, platform)?;
    let goals = goals(platform);
    let commands = goals.iter().map(|goals| {
        let mut command = with_places(tf_a, platform, &arguments, build_dir, file);
        command.args(goals);
        command
    });
    Ok(commands.collect())
}

fn with_places(
    tf_a: &TfA,
    platform: &Platform,
    arguments: &[String],
    build_dir: &Path,
    file: &dyn Fn(&str) -> PathBuf,
) -> Command {
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    let mut command: Command = process::minimal_command("make");
    command.arg("-C").arg(&tf_a.dir).arg(format!("-j{jobs}"));
    command.args(arguments);
    if let Some(root) = &platform.root {
        // TF-A concatenates this with the platform name, without a slash.
        command.arg(format!("TF_PLATFORM_ROOT={}/", root.display()));
    }
    command.arg(format!("BUILD_BASE={}", build_dir.display()));
    if platform.fip != FipBuild::None {
        let images = iter::once("BL33").chain(platform.inputs.iter().map(String::as_str));
        for image in images {
            command.arg(format!("{image}={}", file(image).display()));
        }
    }
    command
}

/// Returns the first line of the compiler and linker version output.
pub fn toolchain() -> Result<[String; 2]> {
    let version = |program: &str| -> Result<String> {
        let output = process::output_once(process::minimal_command(program).arg("--version"))?;
        let first_line = output.lines().next();
        let version =
            first_line.with_context(|| format!("`{program} --version` prints nothing"))?;
        Ok(version.to_owned())
    };
    let [gcc, ld] = [GCC, "aarch64-linux-gnu-ld"].map(version);
    Ok([gcc?, ld?])
}

fn key(tf_a: &TfA, platform: &Platform, arguments: &[String]) -> Result<String> {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    add(&tf_a.identity);
    arguments.iter().for_each(|argument| add(argument));
    goals(platform).iter().flatten().for_each(|goal| add(goal));
    platform.files.iter().for_each(|file| add(file));
    platform.inputs.iter().for_each(|input| add(input));
    toolchain()?.iter().for_each(|version| add(version));
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
    arguments: &[String],
    folder: &Path,
) -> Result<()> {
    let scratch = Scratch::new(workspace)?;
    let target = platform.special(workspace);
    // A platform's stages may be built in two parts.
    let stage_text = match &platform.stages[..] {
        [stage] => format!("{} of ", stage.to_uppercase()),
        _ => String::new(),
    };
    let step = format!("building {stage_text}TF-A {} for {target}", tf_a.title);
    let paths = PlainPaths::new()?;
    let tf_a = TfA {
        dir: paths.path(&tf_a.dir)?,
        ..tf_a.clone()
    };
    let root = platform.root.as_deref();
    let platform = Platform {
        root: root.map(|root| paths.path(root)).transpose()?,
        ..platform.clone()
    };
    let base = paths.path(scratch.path())?;
    let cache = paths.path(&compiler_cache::folder(workspace)?)?;
    let placeholder = |image: &str| base.join(image.to_lowercase());
    for image in platform.inputs.iter().map(String::as_str).chain(["BL33"]) {
        fs::write(placeholder(image), format!("a placeholder for {image}"))?;
    }
    let log = folder.with_extension("log");
    for goals in goals(&platform) {
        let mut command = with_places(&tf_a, &platform, arguments, &base, &placeholder);
        compiler_cache::add_to(&mut command, &cache, GCC);
        if platform.fip == FipBuild::Trusted {
            let key = paths.path(folder)?.join(NT_FW_KEY);
            command.arg(format!("BL33_KEY={}", key.display()));
        }
        command.args(goals);
        process::run_step(&step, &mut command, &log).context("cannot build TF-A")?;
    }
    let built = scratch.path().join(&platform.name).join(platform.mode());
    for file in &platform.files {
        let from = built.join(file);
        let to = folder.join(from.file_name().expect("a list of files"));
        let made = || format!("the TF-A build did not produce {}", from.display());
        fs::copy(&from, to).with_context(made)?;
    }
    Ok(())
}
