//! Installs the programs and libraries that a command needs.
//!
//! The machine's own apt installs Debian packages, and rustup the bare-metal target. cargo
//! installs cargo-fuzz, and pip Sphinx, labgrid and the imports of LAVA's dispatcher, into
//! this tool's part of `target/`. Nothing that exists is upgraded, and no configuration is
//! changed.

use std::env;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::need::{CARGO_FUZZ, NO_INSTALL, Need, State, cargo_fuzz_root};
use super::process::{self, find};
use super::progress::say;
use super::python::{LABGRID, SPHINX};
use super::workspace::Workspace;

/// Installs everything in `needs` that is missing. With [`NO_INSTALL`] set to 1, returns
/// the commands as an error instead.
pub fn ensure(workspace: &Workspace, needs: &[Need]) -> Result<()> {
    if missing(workspace, needs)?.is_empty() {
        return Ok(());
    }
    // Another process may have installed the same by the time that the lock is free.
    fs::create_dir_all(workspace.state())?;
    let lock = File::create(workspace.state().join("setup.lock"))?;
    lock.lock().context("cannot lock the build directory")?;
    let needs = missing(workspace, needs)?;
    let mut packages: Vec<&str> = needs
        .iter()
        .filter_map(|need| Some(need.names()?.1))
        .collect();
    packages.dedup();
    if env::var_os(NO_INSTALL).is_some_and(|value| value == "1") {
        let apt = (!packages.is_empty()).then(|| apt_install(&packages));
        let steps = needs.iter().flat_map(|need| steps(workspace, *need));
        let commands: Vec<String> = apt
            .into_iter()
            .chain(steps)
            .map(|it| it.join(" "))
            .collect();
        bail!(
            "programs are missing, and {NO_INSTALL}=1 prevents their installation. Run:\n  {}",
            commands.join("\n  ")
        );
    }
    if !packages.is_empty() {
        install(&packages)?;
    }
    for need in &needs {
        if *need == Need::Lava {
            super::lava::unpack(workspace)?;
        }
        for step in steps(workspace, *need) {
            let failed = || format!("{need:?} could not be installed; is there a network?");
            run(Some(workspace), &step).with_context(failed)?;
        }
        if *need == Need::Lava {
            super::lava::done(workspace)?;
        }
    }
    match missing(workspace, &needs)?.first() {
        Some(need) => bail!("{need:?} was installed, and is still not found"),
        None => Ok(()),
    }
}

fn missing(workspace: &Workspace, needs: &[Need]) -> Result<Vec<Need>> {
    let mut missing = Vec::new();
    for need in needs {
        match need.state(workspace) {
            State::Ready => {}
            State::Missing => missing.push(*need),
            State::Unfit(why) => bail!(why),
        }
    }
    Ok(missing)
}

/// Returns the commands that install a need for which there is no Debian package.
fn steps(workspace: &Workspace, need: Need) -> Vec<Vec<String>> {
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
    match need {
        Need::RustTarget | Need::LinuxTarget => {
            let target = need.target().unwrap_or_default();
            vec![words(&["rustup", "target", "add", target])]
        }
        Need::CargoFuzz => {
            let version = format!("={CARGO_FUZZ}");
            let root = cargo_fuzz_root(workspace).display().to_string();
            let options = ["--version", &version, "--locked", "--root", &root];
            vec![words(
                &[&["cargo", "install", "cargo-fuzz"], &options[..]].concat(),
            )]
        }
        Need::Sphinx => SPHINX.install(workspace),
        Need::Labgrid => LABGRID.install(workspace),
        Need::Lava => super::lava::install(workspace),
        _ => Vec::new(),
    }
}

fn apt_install(packages: &[&str]) -> Vec<String> {
    as_root(
        &[
            &["apt-get", "install", "-y", "--no-install-recommends"],
            packages,
        ]
        .concat(),
    )
}

fn as_root(words: &[&str]) -> Vec<String> {
    let is_root = fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0);
    let sudo = (!is_root).then_some("sudo");
    sudo.iter().chain(words).map(ToString::to_string).collect()
}

fn install(packages: &[&str]) -> Result<()> {
    let install = apt_install(packages);
    let by_hand = |why: &str| {
        format!(
            "{why}: install {} yourself, then run this again (on Debian: {})",
            packages.join(", "),
            install.join(" ")
        )
    };
    if find("apt-get").is_none() {
        bail!(by_hand("this machine has no apt-get"));
    }
    if install.first().is_some_and(|word| word == "sudo") && find("sudo").is_none() {
        bail!(by_hand("this needs root, and there is no sudo"));
    }
    // Absent or stale package lists are the usual reason for a failure, and the only
    // reason for which a second attempt can succeed.
    let known = packages.iter().all(|package| is_known(package));
    if known && run(None, &install).is_ok() {
        return Ok(());
    }
    run(None, &as_root(&["apt-get", "update"]))
        .and_then(|()| run(None, &install))
        .with_context(|| by_hand("apt-get failed, see above; is there a network"))
}

fn is_known(package: &str) -> bool {
    let mut policy = Command::new("apt-cache");
    process::output(policy.args(["policy", package]))
        .is_ok_and(|said| said.contains("Candidate:") && !said.contains("Candidate: (none)"))
}

/// Runs the command `words`, in the workspace if there is one.
fn run(workspace: Option<&Workspace>, words: &[String]) -> Result<()> {
    say(&words.join(" "));
    let (program, arguments) = words.split_first().context("an empty command")?;
    if program == "rustup" && find("rustup").is_none() {
        bail!(
            "rustup is not in PATH: install that target's libraries in the way in which this \
             machine's Rust was installed"
        );
    }
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    // The command's stdout goes to stderr: stdout is the UART's.
    command.stdout(std::io::stderr());
    command.env("DEBIAN_FRONTEND", "noninteractive");
    if let Some(workspace) = workspace {
        command.current_dir(&workspace.root);
    }
    process::run(&mut command)
}
