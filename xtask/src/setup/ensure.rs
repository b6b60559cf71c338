//! Installs the programs and libraries that a command needs.
//!
//! Debian packages are installed with the machine's apt, and the bare-metal target with rustup.
//! cargo-fuzz is installed with cargo, and Sphinx, labgrid and the imports of the LAVA dispatcher
//! with pip, all into this tool's part of `target/`. Existing packages are not upgraded, and no
//! configuration is changed.

use std::env;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use anyhow::{Context, Result, bail};
use host::interrupt;
use host::process;
use host::progress::{StepProgress, above_steps};
use itertools::Itertools as _;

use super::need::{CARGO_FUZZ, NO_INSTALL, Need, cargo_fuzz_root};
use super::python::{LABGRID, SPHINX};
use super::workspace::Workspace;

/// Installs everything in `needs` that is missing. With `NO_INSTALL` set to 1, returns the commands
/// as an error instead.
pub fn ensure(workspace: &Workspace, needs: &[Need]) -> Result<()> {
    let steps = steps(workspace, needs)?;
    refuse_if_forbidden(&steps)?;
    steps.iter().try_for_each(|step| step.install(workspace))
}

/// If `NO_INSTALL` is set to 1, returns an error that lists the commands for everything in `needs`
/// that is missing. This runs before any parallel steps, each of which would report only some of
/// the commands.
pub fn check_no_install(workspace: &Workspace, needs: &[Need]) -> Result<()> {
    match may_install() {
        true => Ok(()),
        false => refuse_if_forbidden(&steps(workspace, needs)?),
    }
}

fn may_install() -> bool {
    env::var_os(NO_INSTALL).is_none_or(|value| value != "1")
}

fn refuse_if_forbidden(steps: &[Step]) -> Result<()> {
    if steps.is_empty() || may_install() {
        return Ok(());
    }
    let commands = steps.iter().flat_map(|step| &step.commands);
    bail!(
        "programs are missing, and {NO_INSTALL}=1 prevents their installation. Run:\n  {}",
        commands.map(|words| words.join(" ")).join("\n  ")
    )
}

/// Returns the steps that install everything that is missing, with all Debian packages in the first
/// step.
fn steps(workspace: &Workspace, needs: &[Need]) -> Result<Vec<Step>> {
    let (packages, others): (Vec<Need>, Vec<Need>) = missing(workspace, needs)?
        .into_iter()
        .partition(|need| commands(workspace, *need).is_empty());
    let of_packages = (!packages.is_empty()).then(|| Step::of_packages(packages));
    let of_others = others.into_iter().map(|need| Step {
        what: need.row().0.to_owned(),
        commands: commands(workspace, need),
        needs: vec![need],
    });
    Ok(of_packages.into_iter().chain(of_others).collect())
}

/// Programs and libraries that one installer installs together.
struct Step {
    /// The names of the programs and libraries.
    what: String,
    commands: Vec<Vec<String>>,
    needs: Vec<Need>,
}

impl Step {
    /// Returns the step that installs Debian packages.
    fn of_packages(needs: Vec<Need>) -> Self {
        let packages = needs.iter().map(|need| need.row().0).unique().collect_vec();
        let install = as_root("apt-get install -y --no-install-recommends", &packages);
        Self {
            what: packages.join(", "),
            commands: vec![install],
            needs,
        }
    }

    /// Installs the step's packages or tools, unless another thread or process using the same
    /// installer has already done so.
    fn install(&self, workspace: &Workspace) -> Result<()> {
        fs::create_dir_all(workspace.state())?;
        let lock = File::create(workspace.state().join(format!("{}.lock", self.installer())))?;
        lock.lock().context("cannot lock the build directory")?;
        if missing(workspace, &self.needs)?.is_empty() {
            return Ok(());
        }
        if self.needs.contains(&Need::Lava) {
            super::lava::unpack(workspace)?;
        }
        if self.commands.iter().flatten().any(|word| word == "sudo") {
            // sudo must prompt for the password before a progress line is shown. An error is
            // ignored here, because sudo will fail again below.
            let _ = above_steps(|| Command::new("sudo").arg("-v").status());
        }
        let what = &self.what;
        let progress = StepProgress::start(&format!("installing {what}"));
        let mut installed = self.commands.iter().map(|words| run(workspace, words));
        installed.try_for_each(|done| done).with_context(|| {
            format!(
                "cannot install {what}; check the network, or install it yourself and run \
                this again"
            )
        })?;
        drop(progress);
        match missing(workspace, &self.needs)?.first() {
            Some(need) => bail!("{} was installed but is still not found", need.row().0),
            None => Ok(()),
        }
    }

    /// Returns the program that performs the installation.
    fn installer(&self) -> &str {
        let mut words = self.commands.iter().flatten().map(String::as_str);
        words.find(|word| *word != "sudo").unwrap_or("setup")
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

/// Returns the commands that install `need`, or none for a Debian package.
fn commands(workspace: &Workspace, need: Need) -> Vec<Vec<String>> {
    match need {
        Need::RustTarget | Need::LinuxTarget | Need::EfiTarget => {
            vec![words("rustup target add", &[need.row().0])]
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

/// Splits `line` into arguments and appends `more`.
fn words(line: &str, more: &[&str]) -> Vec<String> {
    let words = line.split(' ').chain(more.iter().copied());
    words.map(str::to_owned).collect()
}

fn as_root(line: &str, more: &[&str]) -> Vec<String> {
    let is_root = fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0);
    let sudo = if is_root { "" } else { "sudo " };
    words(&format!("{sudo}{line}"), more)
}

/// Runs `words` as a command.
fn run(workspace: &Workspace, words: &[String]) -> Result<()> {
    let quietly = |words: &[String]| {
        let (program, arguments) = words.split_first().context("an empty command")?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&workspace.root);
        command.env("DEBIAN_FRONTEND", "noninteractive");
        process::run("", &mut command, &workspace.state().join("install.log"))
    };
    match quietly(words) {
        // Installation usually fails because the package lists are missing or out of date. A second
        // attempt may succeed after the lists have been updated.
        Err(_) if words.iter().any(|word| word == "apt-get") && interrupt::check().is_ok() => {
            quietly(&as_root("apt-get update", &[]))?;
            quietly(words)
        }
        done => done,
    }
}
