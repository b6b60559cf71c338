//! Installs what is missing from the list in [`super::need`].
//!
//! Debian packages are installed with the machine's apt, and Rust targets with rustup. Everything
//! else is installed into this tool's part of `target/`. Existing packages are not upgraded, and no
//! configuration is changed.

use std::env;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use host::progress::{StepProgress, above_steps};
use host::{interrupt, process};
use itertools::Itertools as _;

use super::need::{Need, READY, Source};
use super::workspace::Workspace;

/// The environment variable that, when set to 1, makes [`ensure`] return an error with the commands
/// that it would run.
const NO_INSTALL: &str = "PSCI_BENCH_NO_INSTALL";

/// The words of a command.
type CommandWords = Vec<String>;

/// Installs everything in `needs` that is missing. With `NO_INSTALL` set to 1, returns the commands
/// as an error instead.
pub fn ensure(workspace: &Workspace, needs: &[Need]) -> Result<()> {
    check_no_install(workspace, needs)?;
    let groups = missing_groups(workspace, needs)?;
    groups
        .iter()
        .try_for_each(|group| install(workspace, group))
}

/// If `NO_INSTALL` is set to 1, returns an error that lists the commands for everything in `needs`
/// that is missing. This runs before any parallel steps, each of which would report only some of
/// the commands.
pub fn check_no_install(workspace: &Workspace, needs: &[Need]) -> Result<()> {
    if env::var_os(NO_INSTALL).is_none_or(|value| value != "1") {
        return Ok(());
    }
    let groups = missing_groups(workspace, needs)?;
    if groups.is_empty() {
        return Ok(());
    }
    let commands = groups.iter().flat_map(|group| commands(workspace, group));
    bail!(
        "programs are missing, and {NO_INSTALL}=1 prevents their installation. Run:\n  {}",
        commands.map(|words| words.join(" ")).join("\n  ")
    )
}

/// Returns the needs that are missing, grouped by the commands that install them: first all Debian
/// packages, then each of the others.
fn missing_groups(workspace: &Workspace, needs: &[Need]) -> Result<Vec<Vec<Need>>> {
    let is_package = |need: &Need| matches!(need.source(), Source::Debian(..));
    let (packages, others): (Vec<Need>, Vec<Need>) =
        missing(workspace, needs)?.into_iter().partition(is_package);
    let others = others.into_iter().map(|need| vec![need]);
    let groups = [packages].into_iter().chain(others);
    Ok(groups.filter(|group| !group.is_empty()).collect())
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

/// Installs a group, unless another thread or process has already done so.
fn install(workspace: &Workspace, group: &[Need]) -> Result<()> {
    fs::create_dir_all(workspace.state())?;
    // Different installers may run at the same time.
    let installer = group[0].source().installer();
    let lock = File::create(workspace.state().join(format!("install-{installer}.lock")))?;
    lock.lock().context("cannot lock the build directory")?;
    if missing(workspace, group)?.is_empty() {
        return Ok(());
    }
    let commands = commands(workspace, group);
    if commands.iter().flatten().any(|word| word == "sudo") {
        // sudo must prompt for the password before a progress line is shown. An error is ignored
        // here, because sudo will fail again below.
        let _ = above_steps(|| Command::new("sudo").arg("-v").status());
    }
    let names = names(group).join(", ");
    let progress = StepProgress::start(&format!("installing {names}"));
    let log = workspace.state().join(format!("install-{installer}.log"));
    let mut installed = commands.iter().map(|words| run(workspace, words, &log));
    installed.try_for_each(|result| result).with_context(|| {
        format!(
            "cannot install {names}; check the network, or install it yourself and run this again"
        )
    })?;
    drop(progress);
    match missing(workspace, group)?.first() {
        Some(need) => bail!(
            "{} was installed but is still not found",
            need.source().name()
        ),
        None => Ok(()),
    }
}

/// Returns the names of what is installed, without duplicates.
fn names(group: &[Need]) -> Vec<&'static str> {
    let names = group.iter().map(|need| need.source().name());
    names.unique().collect()
}

/// Returns the commands that install a group.
fn commands(workspace: &Workspace, group: &[Need]) -> Vec<CommandWords> {
    let source = group[0].source();
    match source {
        Source::Debian(..) => {
            let install = "apt-get install -y --no-install-recommends";
            vec![as_root(install, &names(group))]
        }
        Source::Target(target) => vec![words("rustup target add", &[target])],
        Source::Python(environment) => {
            let folder = environment.folder(workspace).display().to_string();
            let mut pip = [&*format!("{folder}/bin/pip"), "install", "--quiet"]
                .map(str::to_owned)
                .to_vec();
            pip.push("--disable-pip-version-check".to_owned());
            pip.extend(environment.pinned_packages());
            vec![
                words("python3 -m venv --clear", &[&folder]),
                pip,
                words("touch", &[&format!("{folder}/{READY}")]),
            ]
        }
    }
}

/// Splits `line` into words and appends `more`.
fn words(line: &str, more: &[&str]) -> CommandWords {
    let words = line.split(' ').chain(more.iter().copied());
    words.map(str::to_owned).collect()
}

fn as_root(line: &str, more: &[&str]) -> CommandWords {
    let is_root = fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0);
    let sudo = if is_root { "" } else { "sudo " };
    words(&format!("{sudo}{line}"), more)
}

/// Runs a command. `log` receives its output.
fn run(workspace: &Workspace, words: &CommandWords, log: &Path) -> Result<()> {
    let run_quietly = |words: &CommandWords| {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(&workspace.root);
        command.env("DEBIAN_FRONTEND", "noninteractive");
        process::run_quietly(&mut command, log)
    };
    match run_quietly(words) {
        // Installation usually fails because the package lists are missing or out of date. A second
        // attempt may succeed after the lists have been updated.
        Err(_) if words.iter().any(|word| word == "apt-get") && interrupt::check().is_ok() => {
            run_quietly(&as_root("apt-get update", &[]))?;
            run_quietly(words)
        }
        done => done,
    }
}
