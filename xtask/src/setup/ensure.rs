//! Installs what a command needs of the machine.
//!
//! Programs come as Debian packages, by name, from the machine's own apt;
//! the bare-metal target comes by rustup; cargo-fuzz, which Debian does not
//! have, by cargo into this tool's part of `target/`, and so do Sphinx, labgrid
//! and LAVA's dispatcher by pip. What is there is used as it is: nothing is
//! upgraded, and no configuration is touched.

use std::env;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::need::{CARGO_FUZZ, NO_INSTALL, Need, State, cargo_fuzz_root};
use super::process::{self, find};
use super::progress::say;
use super::workspace::Workspace;

/// The commands that get what comes by pip.
fn by_pip(workspace: &Workspace, need: Need) -> Option<[Vec<String>; 2]> {
    match need {
        Need::Sphinx => Some(super::sphinx::install(workspace)),
        Need::Lava => Some(super::lava::install(workspace)),
        Need::Labgrid => Some(super::labgrid::install(workspace)),
        _ => None,
    }
}

/// Sees to it that everything in `needs` is there.
///
/// # Errors
/// When something is missing and may not, or could not, be installed.
pub fn ensure(workspace: &Workspace, needs: &[Need]) -> Result<()> {
    if missing(workspace, needs)?.is_empty() {
        return Ok(());
    }
    // Another process may be installing the same: look again behind it.
    fs::create_dir_all(workspace.state())?;
    let lock = File::create(workspace.state().join("setup.lock"))?;
    lock.lock().context("cannot lock the build directory")?;
    let missing = missing(workspace, needs)?;
    let mut packages: Vec<&str> = missing
        .iter()
        .filter_map(|need| need.names())
        .map(|(_, package)| package)
        .collect();
    packages.dedup();
    let targets: Vec<&str> = missing.iter().filter_map(|need| need.target()).collect();
    let fuzz = missing.contains(&Need::CargoFuzz);
    let mut steps = Vec::new();
    if !packages.is_empty() {
        steps.push(as_root(&apt_install(&packages)));
    }
    steps.extend(targets.iter().copied().map(target_add));
    if fuzz {
        steps.push(cargo_fuzz_install(workspace));
    }
    let python = missing.iter().filter_map(|need| by_pip(workspace, *need));
    steps.extend(python.flatten());
    if env::var_os(NO_INSTALL).is_some_and(|value| value == "1") {
        let commands: Vec<String> = steps.iter().map(|step| step.join(" ")).collect();
        bail!(
            "something is missing, and {NO_INSTALL}=1 forbids to install it. Run:\n  {}",
            commands.join("\n  ")
        );
    }
    if !packages.is_empty() {
        install(&packages)?;
    }
    for target in targets {
        add_target(workspace, target)?;
    }
    if fuzz {
        run_in(workspace, &cargo_fuzz_install(workspace))
            .context("cargo could not install cargo-fuzz; is there a network?")?;
    }
    for need in &missing {
        if *need == Need::Lava {
            super::lava::unpack(workspace)?;
        }
        for step in by_pip(workspace, *need).iter().flatten() {
            let failed = || format!("{need:?} could not be installed; is there a network?");
            run_in(workspace, step).with_context(failed)?;
        }
        if *need == Need::Lava {
            super::lava::done(workspace)?;
        }
    }
    for need in missing {
        match need.state(workspace) {
            State::Ready => {}
            State::Missing => bail!("{need:?} was installed and is still not to be found"),
            State::Unfit(why) => bail!(why),
        }
    }
    Ok(())
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

fn apt_install(packages: &[&str]) -> Vec<String> {
    let words = ["apt-get", "install", "-y", "--no-install-recommends"];
    words
        .iter()
        .chain(packages)
        .map(ToString::to_string)
        .collect()
}

/// `words` as they have to be called to be root's.
fn as_root(words: &[String]) -> Vec<String> {
    let root = fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0);
    let sudo = if root { None } else { Some("sudo".to_owned()) };
    sudo.into_iter().chain(words.iter().cloned()).collect()
}

fn install(packages: &[&str]) -> Result<()> {
    let install = as_root(&apt_install(packages));
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
    // Lists that are absent or stale are the usual reason for a failure, and
    // the only one that a second try can help.
    let known = packages.iter().all(|package| is_known(package));
    if known && run(&install).is_ok() {
        return Ok(());
    }
    run(&as_root(&["apt-get", "update"].map(String::from)))
        .and_then(|()| run(&install))
        .with_context(|| by_hand("apt-get failed, see above; is there a network"))
}

/// Whether apt has heard of `package`.
fn is_known(package: &str) -> bool {
    let mut policy = Command::new("apt-cache");
    process::output(policy.args(["policy", package]))
        .is_ok_and(|said| said.contains("Candidate:") && !said.contains("Candidate: (none)"))
}

fn target_add(target: &str) -> Vec<String> {
    ["rustup", "target", "add", target]
        .map(String::from)
        .to_vec()
}

fn add_target(workspace: &Workspace, target: &str) -> Result<()> {
    if find("rustup").is_none() {
        bail!(
            "the Rust target {target} is missing, and there is no rustup to add it: install \
             that target's libraries the way this machine's Rust was installed"
        );
    }
    run_in(workspace, &target_add(target))
        .context("rustup could not add the target; is there a network?")
}

fn cargo_fuzz_install(workspace: &Workspace) -> Vec<String> {
    let version = format!("={CARGO_FUZZ}");
    let root = cargo_fuzz_root(workspace).display().to_string();
    let words = ["cargo", "install", "cargo-fuzz", "--version", &version];
    let options = ["--locked", "--root", &root];
    words
        .iter()
        .chain(&options)
        .map(ToString::to_string)
        .collect()
}

pub(super) fn run(words: &[String]) -> Result<()> {
    say(&words.join(" "));
    status(command(words)?)
}

fn run_in(workspace: &Workspace, words: &[String]) -> Result<()> {
    say(&words.join(" "));
    let mut command = command(words)?;
    command.current_dir(&workspace.root);
    status(command)
}

fn command(words: &[String]) -> Result<Command> {
    let (program, arguments) = words.split_first().context("an empty command")?;
    let mut command = Command::new(program);
    // Its stdout goes to our stderr: stdout is the UART's.
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(std::io::stderr());
    command.env("DEBIAN_FRONTEND", "noninteractive");
    Ok(command)
}

fn status(mut command: Command) -> Result<()> {
    let name = process::display(&command);
    let status = command
        .status()
        .with_context(|| format!("cannot run `{name}`"))?;
    if !status.success() {
        bail!("`{name}` failed ({status})");
    }
    Ok(())
}
