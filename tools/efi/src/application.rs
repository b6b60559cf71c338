//! Builds the EFI application from `application/` around an image of the payload.

use std::fs::{self, File};

use anyhow::{Context, Result};
use host::{process, read_file};
use runner::build::payload::{FIX_835769, PROFILE, rust_flags};
use runner::setup::workspace::Workspace;
use runner::setup::{self, EFI_TARGET, Need};

/// Builds the application around `image`, which may include a device tree. The boot arguments in
/// `args` apply if the application's load options contain none.
pub fn build(workspace: &Workspace, image: &[u8], args: Option<&str>) -> Result<Vec<u8>> {
    const PACKAGE: &str = "psci-bench-efi";
    setup::ensure(workspace, &[Need::EfiTarget])?;
    let folder = workspace.target.join("efi");
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    // Another process may be building a different application in the same folder.
    let lock = File::create(folder.join("lock")).context("cannot lock the build directory")?;
    lock.lock().context("cannot lock the build directory")?;
    let file = folder.join("image");
    // Rewriting an unchanged file would trigger a rebuild.
    if fs::read(&file).ok().as_deref() != Some(image) {
        fs::write(&file, image).with_context(|| file.display().to_string())?;
    }
    let mut command = process::cargo();
    command.args([
        "build",
        "--quiet",
        "--profile",
        PROFILE,
        "--target",
        EFI_TARGET,
    ]);
    command
        .args(["--package", PACKAGE, "--target-dir"])
        .arg(&folder);
    command.current_dir(&workspace.root);
    let own = [
        // Without these two options, the file would contain its link time and a hash of the folder
        // path.
        "-Clink-arg=/Brepro",
        "-Clink-arg=/DEBUG:NONE",
        // Boards with a Cortex-A53 can also boot through EFI. rustc warns about the unstable
        // feature.
        FIX_835769,
        "-Awarnings",
    ];
    command.env("CARGO_ENCODED_RUSTFLAGS", rust_flags(workspace, &own)?);
    command.env("PSCI_BENCH_IMAGE", &file);
    command.env("PSCI_BENCH_ARGS", args.unwrap_or(""));
    let log = workspace.state().join("efi.log");
    let built = process::run_step("building the EFI application", &mut command, &log);
    built.context("cannot build the EFI application")?;
    let built = folder
        .join(EFI_TARGET)
        .join(PROFILE)
        .join(format!("{PACKAGE}.efi"));
    read_file::read_own(&built)
}
