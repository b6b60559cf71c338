//! `cargo xtask setup` and `cargo xtask test`: everything there is to test, with what it
//! needs set up before, so that no test has a reason to be left out.

use std::io::{BufReader, IsTerminal, pipe, stderr};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::test_output::Sum;
use crate::build::{payload, tf_a};
use crate::qemu::kvm_host::KvmHost;
use crate::qemu::stream::Owned;
use crate::setup::progress::say;
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need, linux_trees, process};

/// Sets up all that any command needs. Returns the folder of TF-A's source.
fn set_up(workspace: &Workspace) -> Result<PathBuf> {
    workspace.check_for_make()?;
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
    let (programs, options) = if trees {
        linux_trees::fetch(&workspace)?;
        ("--package xtask --test trees", "--ignored --nocapture")
    } else if kvm {
        setup::ensure(&workspace, &[Need::Qemu, Need::Dtc, Need::RustTarget])?;
        KvmHost::ready(&workspace)?;
        payload::build(&workspace)?;
        // One machine at a time: each of them is a Linux and its guest.
        let options = "--ignored --nocapture --test-threads=1";
        ("--package psci-bench --test kvm", options)
    } else {
        set_up(&workspace)?;
        payload::build(&workspace)?;
        ("--workspace", "")
    };
    let cargo = || {
        let mut command = process::cargo();
        command.arg("test").args(programs.split(' '));
        command.arg("--target-dir").arg(&workspace.target);
        if trees {
            // A thousand trees are minutes without any optimisation.
            command.env("CARGO_PROFILE_DEV_OPT_LEVEL", "1");
        }
        command.current_dir(&workspace.root).stdin(Stdio::null());
        command
    };
    let log = workspace.state().join("tests.log");
    let mut build = cargo();
    process::step(
        "building the tests",
        build.args(["--no-run", "--quiet"]),
        &log,
    )?;

    let started = Instant::now();
    let (output, input) = pipe()?;
    let mut command = cargo();
    // Whatever fails first, all the rest as well.
    command.args(["--no-fail-fast", "--"]).args(filter);
    command.args(options.split_whitespace());
    command.env("CARGO_TERM_COLOR", "never");
    command.stdout(input.try_clone()?).stderr(input);
    let child = command.process_group(0).spawn();
    let mut child = Owned(child.context("cannot run cargo")?);
    // The pipe ends when nothing else has it.
    drop(command);
    let is_loud = trees || kvm || filter.iter().any(|word| word.starts_with('-'));
    let reader =
        thread::spawn(move || Sum::read(BufReader::new(output), is_loud, stderr().is_terminal()));
    let status = process::wait(&mut child.0, None)?;
    let sum = reader.join().expect("it reads any text")?;
    if sum.failed == 0 && !status.success() {
        bail!("cargo test failed ({status}): {}", sum.other);
    }
    if sum.passed + sum.failed == 0 && !filter.iter().any(|word| word == "--list") {
        let words = filter.join(" ");
        bail!("no test is run with -- {words}: `cargo xtask test -- --list` names the tests");
    }
    say(&sum.line(started.elapsed()));
    Ok(u8::from(sum.failed > 0))
}
