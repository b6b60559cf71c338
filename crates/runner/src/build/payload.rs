//! Builds the payload and its images.

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, bail};
use host::{process, read_file};
use itertools::Itertools as _;

use super::image::{self, Emergency};
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need, TARGET};

/// The separator that cargo uses between encoded flags.
const SEPARATOR: &str = "\x1f";

/// The cargo profile for code that runs on the board.
pub const PROFILE: &str = "payload";

/// The device tree in an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TreeSource {
    /// A tree built from the board file.
    #[default]
    Board,
    /// The user's tree, which the payload must be able to use.
    File(PathBuf),
    /// A tree that consists of these bytes, unchecked, for testing the payload's own checks.
    Raw(Vec<u8>),
    /// No tree.
    None,
}

/// Builds the payload and returns the path of its ELF file. The payload is built only once per
/// process, so all runs use the same payload even if the source is edited in the meantime.
pub fn build(workspace: &Workspace) -> Result<PathBuf> {
    static BUILT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let mut built = BUILT.lock().expect("nothing panics while it is locked");
    let elf = elf(workspace);
    if !built.contains(&elf) {
        run_cargo(workspace)?;
        if !elf.is_file() {
            bail!("cargo built no {}", elf.display());
        }
        built.insert(elf.clone());
    }
    Ok(elf)
}

fn run_cargo(workspace: &Workspace) -> Result<()> {
    setup::ensure(workspace, &[Need::RustTarget])?;
    let mut command = process::cargo();
    command.args(["build", "--quiet", "--profile", PROFILE, "--target", TARGET]);
    command.args(["--package", "psci-bench", "--bin", "psci-bench"]);
    command.arg("--target-dir").arg(&workspace.target);
    command.current_dir(&workspace.root);
    command.env("CARGO_ENCODED_RUSTFLAGS", rust_flags(workspace, &FLAGS)?);
    let log = workspace.state().join("payload.log");
    let built = process::run_step("building the payload", &mut command, &log);
    built.context("cannot build the payload")
}

/// Returns the path of the payload ELF file.
pub fn elf(workspace: &Workspace) -> PathBuf {
    workspace
        .target
        .join(TARGET)
        .join(PROFILE)
        .join("psci-bench")
}

/// The rustc flags for the payload.
///
/// * `code-model=tiny`: the entire image fits within 1 MiB, so one instruction rather than two can
///   reach any address in it.
/// * `fix-cortex-a53-835769`: keeps a 64-bit multiply-accumulate from directly following a load or
///   store, after which Cortex-A53 r0p0 to r0p4 may compute a wrong result. rustc passes the
///   feature to LLVM, and warns that it is unstable. `-Awarnings` suppresses this warning; lints
///   are reported by `cargo clippy`.
const FLAGS: [&str; 3] = ["-Ccode-model=tiny", FIX_835769, "-Awarnings"];

/// A workaround for Cortex-A53 erratum 835769 in compiled code, which rustc calls unstable.
pub const FIX_835769: &str = "-Ctarget-feature=+fix-cortex-a53-835769";

/// Returns the user's rustc flags, followed by `own` and `remap-path-prefix`. Panic messages begin
/// with the source folder, but build results must not depend on the user's home directory.
pub fn rust_flags(workspace: &Workspace, own: &[&str]) -> Result<String> {
    let plain_flags =
        |_| env::var("RUSTFLAGS").map(|flags| flags.split_whitespace().join(SEPARATOR));
    let user = env::var("CARGO_ENCODED_RUSTFLAGS")
        .or_else(plain_flags)
        .into_iter()
        .filter(|flags| !flags.is_empty());
    let own = own.iter().map(|flag| (*flag).to_owned());
    let remaps = remap_dependencies()
        .into_iter()
        .chain(remap_standard_library(workspace)?);
    Ok(user.chain(own).chain(remaps).join(SEPARATOR))
}

/// Returns the flag that strips the path of the folder where cargo unpacks dependencies.
fn remap_dependencies() -> Option<String> {
    let home = env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(env::home_dir()?.join(".cargo")))?;
    let sources = home.join("registry").join("src");
    Some(format!("--remap-path-prefix={}=", sources.display()))
}

/// Returns the flag for the standard library's source path. If rustup's rust-src component is
/// installed, rustc records the path of a local folder. The flag replaces that path with the one
/// that rustc would otherwise record.
fn remap_standard_library(workspace: &Workspace) -> Result<Option<String>> {
    let ask = |arguments: &[&str]| {
        let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or("rustc".into()));
        process::output_once(rustc.args(arguments).current_dir(&workspace.root))
    };
    let sysroot = ask(&["--print", "sysroot"])?;
    let sources = Path::new(sysroot.trim()).join("lib/rustlib/src/rust");
    let version = ask(&["--version", "--verbose"])?;
    let mut lines = version.lines();
    let commit = lines.find_map(|line| line.strip_prefix("commit-hash: "));
    Ok(commit.map(|commit| format!("--remap-path-prefix={}=/rustc/{commit}", sources.display())))
}

/// Builds the payload and returns it in flat form.
pub fn flat(workspace: &Workspace) -> Result<Vec<u8>> {
    let path = build(workspace)?;
    let elf = read_file::read_own(&path)?;
    image::flatten(&elf)
}

/// Builds the payload and its image with `tree`.
pub fn image(
    workspace: &Workspace,
    tree: Option<&[u8]>,
    emergency: Emergency,
    cpus: usize,
) -> Result<Vec<u8>> {
    image::assemble(flat(workspace)?, tree, emergency, cpus)
}
