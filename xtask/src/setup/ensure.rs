//! Installs the programs and libraries that a command needs.
//!
//! The machine's own apt installs Debian packages, and rustup the bare-metal target. cargo
//! installs cargo-fuzz, and pip Sphinx, labgrid and the imports of LAVA's dispatcher, into
//! this tool's part of `target/`. Nothing that exists is upgraded, and no configuration is
//! changed.

use std::env;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use anyhow::{Context, Result, bail};
use itertools::Itertools as _;

use super::need::{By, CARGO_FUZZ, NO_INSTALL, Need, cargo_fuzz_root};
use super::plural::many;
use super::process::{is_interrupted, quietly};
use super::progress::Progress;
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
    let rows = needs.iter().map(|need| need.row());
    let debian = rows.filter(|(by, ..)| *by == By::Apt);
    let packages: Vec<&str> = debian.map(|(_, package, _)| package).unique().collect();
    if env::var_os(NO_INSTALL).is_some_and(|value| value == "1") {
        let apt = (!packages.is_empty()).then(|| apt_install(&packages));
        let steps = needs.iter().flat_map(|need| steps(workspace, *need));
        let commands = apt
            .into_iter()
            .chain(steps)
            .map(|words| words.join(" "))
            .join("\n  ");
        bail!(
            "programs are missing, and {NO_INSTALL}=1 prevents their installation. Run:\n  \
             {commands}"
        );
    }
    if !packages.is_empty() {
        install(workspace, &packages)?;
    }
    for need in &needs {
        let (by, what, _) = need.row();
        if by == By::Apt {
            continue;
        }
        if *need == Need::Lava {
            super::lava::unpack(workspace)?;
        }
        let _progress = Progress::start(&format!("installing {what}"));
        for step in steps(workspace, *need) {
            run(workspace, &step).with_context(|| match by {
                By::Rustup => format!(
                    "{what} is not installed. Without rustup, install it as this machine's Rust \
                     was installed"
                ),
                _ => format!("{what} is not installed; is there a network?"),
            })?;
        }
    }
    match missing(workspace, &needs)?.first() {
        Some(need) => bail!("{} was installed, and is still not found", need.row().1),
        None => Ok(()),
    }
}

fn missing(workspace: &Workspace, needs: &[Need]) -> Result<Vec<Need>> {
    let mut missing = Vec::new();
    for need in needs {
        if !need.is_there(workspace)? {
            missing.push(*need);
        }
    }
    Ok(missing)
}

/// Returns the commands that install a need for which there is no Debian package.
fn steps(workspace: &Workspace, need: Need) -> Vec<Vec<String>> {
    match need {
        Need::RustTarget | Need::LinuxTarget => {
            vec![words("rustup target add", &[need.row().1])]
        }
        Need::CargoFuzz => {
            let root = cargo_fuzz_root(workspace).display().to_string();
            let options = ["--version", &format!("={CARGO_FUZZ}"), "--root", &root];
            vec![words("cargo install cargo-fuzz --locked", &options)]
        }
        Need::Sphinx => SPHINX.install(workspace),
        Need::Labgrid => LABGRID.install(workspace),
        Need::Lava => super::lava::install(workspace),
        _ => Vec::new(),
    }
}

/// Returns the words of `line`, and `more`.
fn words(line: &str, more: &[&str]) -> Vec<String> {
    line.split(' ')
        .chain(more.iter().copied())
        .map(str::to_owned)
        .collect()
}

fn apt_install(packages: &[&str]) -> Vec<String> {
    as_root("apt-get install -y --no-install-recommends", packages)
}

fn as_root(line: &str, more: &[&str]) -> Vec<String> {
    let is_root = fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0);
    words(
        &if is_root {
            line.to_owned()
        } else {
            format!("sudo {line}")
        },
        more,
    )
}

fn install(workspace: &Workspace, packages: &[&str]) -> Result<()> {
    let install = apt_install(packages);
    if install.first().is_some_and(|word| word == "sudo") {
        // sudo asks for the password before a line of progress is there. apt-get reports a failure.
        let _ = Command::new("sudo").arg("-v").status();
    }
    let names = packages.join(", ");
    let what = match packages.len() {
        ..=4 => names.clone(),
        count => many(count, "package"),
    };
    let _progress = Progress::start(&format!("installing {what} by apt-get"));
    // Absent or stale package lists are the usual reason for a failure, and the only
    // reason for which a second attempt can succeed.
    match run(workspace, &install) {
        Err(error) if is_interrupted() => return Err(error),
        Err(_) => {}
        done => return done,
    }
    run(workspace, &as_root("apt-get update", &[]))
        .and_then(|()| run(workspace, &install))
        .with_context(|| {
            format!(
                "apt-get failed; is there a network, and a sudo where this is not root? Or install \
                 {names} yourself, then run this again"
            )
        })
}

/// Runs the command `words`.
fn run(workspace: &Workspace, words: &[String]) -> Result<()> {
    let (program, arguments) = words.split_first().context("an empty command")?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&workspace.root);
    command.env("DEBIAN_FRONTEND", "noninteractive");
    quietly(&mut command, &workspace.state().join("install.log"))
}
