//! `cargo xtask setup` and `cargo xtask test`: everything there is to test, with what it
//! needs set up before, so that no test has a reason to be left out.

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result};

use crate::build::{payload, tf_a};
use crate::qemu::kvm_host::KvmHost;
use crate::setup::progress::say;
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need, linux_trees, process};

/// Sets up all that any command needs. Returns the folder of TF-A's source.
fn set_up(workspace: &Workspace) -> Result<PathBuf> {
    setup::ensure(workspace, &setup::all())?;
    tf_a::MBED_TLS.fetch(workspace)?;
    tf_a::TF_A.fetch(workspace)
}

/// Runs `cargo xtask setup`.
pub(super) fn run_setup() -> Result<u8> {
    let source = set_up(&Workspace::find()?)?;
    let (version, source) = (tf_a::TF_A.version, source.display());
    say("everything is there");
    say(&format!("TF-A {version} is in {source}"));
    Ok(0)
}

/// Runs the tests of both packages, to whose programs `filter` goes; or that of the device
/// trees of Linux's boards; or those as a guest under KVM.
pub(super) fn run(trees: bool, kvm: bool, filter: &[String]) -> Result<u8> {
    let workspace = Workspace::find()?;
    let mut command = process::cargo();
    command
        .args(["test", "--target-dir"])
        .arg(&workspace.target);
    if trees {
        linux_trees::fetch(&workspace)?;
        command.args([
            "--package",
            "xtask",
            "--test",
            "trees",
            "--",
            "--ignored",
            "--nocapture",
        ]);
        // A thousand trees are minutes without any optimisation.
        command.env("CARGO_PROFILE_DEV_OPT_LEVEL", "1");
    } else if kvm {
        setup::ensure(&workspace, &[Need::Qemu, Need::Dtc, Need::RustTarget])?;
        KvmHost::ready(&workspace)?;
        payload::build(&workspace)?;
        command.args([
            "--package",
            "psci-bench",
            "--test",
            "kvm",
            "--",
            "--ignored",
        ]);
        // One machine at a time: each of them is a Linux and its guest.
        command.args(["--nocapture", "--test-threads=1"]);
    } else {
        set_up(&workspace)?;
        payload::build(&workspace)?;
        // Whatever fails first, all the rest as well.
        command
            .args(["--workspace", "--no-fail-fast", "--"])
            .args(filter);
    }
    command.current_dir(&workspace.root).stdin(Stdio::null());
    say(&process::display(&command));
    let status = command.status().context("cannot run cargo")?;
    Ok(u8::from(!status.success()))
}
