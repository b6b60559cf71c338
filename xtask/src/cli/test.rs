//! `cargo xtask setup` and `cargo xtask test`: everything there is to test, with what it needs set up
//! before, so that no test has a reason to be left out.

use std::process::Stdio;

use anyhow::{Context, Result};

use crate::build::{mbed_tls, payload, tf_a};
use crate::qemu::kvm_host::KvmHost;
use crate::setup::progress::say;
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need, linux_trees, process};

/// Sets up all that any command needs.
pub(super) fn set_up() -> Result<u8> {
    let workspace = Workspace::find()?;
    setup::ensure(&workspace, &setup::all())?;
    let source = tf_a::TF_A.fetch(&workspace)?;
    mbed_tls::MBED_TLS.fetch(&workspace)?;
    say("everything is there");
    say(&format!(
        "TF-A {} is in {}",
        tf_a::TF_A.version,
        source.display()
    ));
    Ok(0)
}

/// Runs the tests of both packages. `filter` goes to the test programs.
///
/// Returns whether all of them passed.
pub fn run(filter: &[String]) -> Result<bool> {
    let workspace = Workspace::find()?;
    setup::ensure(&workspace, &setup::all())?;
    tf_a::TF_A.fetch(&workspace)?;
    mbed_tls::MBED_TLS.fetch(&workspace)?;
    payload::build(&workspace)?;
    // Whatever fails first, all the rest as well.
    let mut arguments = vec!["--workspace", "--no-fail-fast"];
    if !filter.is_empty() {
        arguments.push("--");
        arguments.extend(filter.iter().map(String::as_str));
    }
    cargo_test(&workspace, &arguments, &[])
}

/// Runs the test of the device trees of all of Linux's boards.
///
/// Returns whether it passed.
pub fn trees() -> Result<bool> {
    let workspace = Workspace::find()?;
    linux_trees::fetch(&workspace)?;
    let test = ["--package", "xtask", "--test", "trees"];
    let only = ["--", "--ignored", "--nocapture"];
    // A thousand trees are minutes without any optimisation.
    let faster = [("CARGO_PROFILE_DEV_OPT_LEVEL", "1")];
    cargo_test(&workspace, &[&test[..], &only].concat(), &faster)
}

/// Runs the tests as a guest under KVM.
///
/// Returns whether they passed.
pub fn kvm() -> Result<bool> {
    let workspace = Workspace::find()?;
    setup::ensure(&workspace, &[Need::Qemu, Need::Dtc, Need::RustTarget])?;
    KvmHost::ready(&workspace)?;
    payload::build(&workspace)?;
    let test = ["--package", "psci-bench", "--test", "kvm"];
    // One machine at a time: each of them is a Linux and its guest.
    let only = ["--", "--ignored", "--nocapture", "--test-threads=1"];
    cargo_test(&workspace, &[&test[..], &only].concat(), &[])
}

/// Runs `cargo test` with overflow checks and assertions on.
fn cargo_test(
    workspace: &Workspace,
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> Result<bool> {
    let mut command = process::cargo();
    command
        .arg("test")
        .arg("--target-dir")
        .arg(&workspace.target);
    command.args(arguments).envs(environment.iter().copied());
    command.current_dir(&workspace.root).stdin(Stdio::null());
    say(&process::display(&command));
    Ok(command.status().context("cannot run cargo")?.success())
}
