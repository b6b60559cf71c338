//! What a command needs of the machine, and how it gets there.
//!
//! Programs come as Debian packages, by name, from the machine's own apt;
//! the bare-metal target comes by rustup; cargo-fuzz, which Debian does not
//! have, by cargo into this tool's part of `target/`, and so do Sphinx, labgrid
//! and LAVA's dispatcher by pip. What is there is used as it is: nothing is
//! upgraded, and no configuration is touched.

use std::env;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::labgrid::labgrid;
use super::lava::lava;
use super::process::{self, find};
use super::progress::say;
use super::sphinx::sphinx_build;
use super::workspace::Workspace;

/// The target that the payload is built for.
pub const TARGET: &str = "aarch64-unknown-none-softfloat";
/// The target of the program that runs in an emulated Linux: it needs nothing
/// that is not in its own file.
pub const LINUX_TARGET: &str = "aarch64-unknown-linux-musl";
/// Set to 1, this makes `ensure` tell what it would install, and fail.
pub const NO_INSTALL: &str = "PSCI_BENCH_NO_INSTALL";
/// U-Boot for QEMU's `virt`, as Debian's package has it.
pub const U_BOOT: &str = "/usr/lib/u-boot/qemu_arm64/u-boot.bin";
/// The oldest QEMU whose `virt` machine is known to do.
const QEMU_LEAST: (u32, u32) = (7, 2);
/// The cargo-fuzz that is used, and no other.
const CARGO_FUZZ: &str = "0.13.2";

/// Something that has to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// QEMU for AArch64.
    Qemu,
    /// A cross compiler for TF-A, which is C and assembly.
    CrossCompiler,
    /// GNU make, for TF-A.
    Make,
    /// What unpacks a Debian source package.
    DpkgSource,
    /// Rust's core library for the payload.
    RustTarget,
    /// Rust's libraries for a program in an emulated Linux.
    LinuxTarget,
    /// TF-A's own FIP tool, which tests compare with.
    Fiptool,
    /// TF-A's tool that signs.
    CertCreate,
    /// Keys for firmware that checks signatures, which tests run.
    Openssl,
    /// U-Boot's tool that makes a FIT of its source, which tests use.
    Mkimage,
    /// The device tree compiler, which tests compare with.
    Dtc,
    /// U-Boot for QEMU's machines, from which tests boot.
    UBoot,
    /// A browser, in which tests open pages.
    Chromium,
    /// A C++ compiler, for libFuzzer.
    CxxCompiler,
    /// What builds fuzz targets.
    CargoFuzz,
    /// A Python that makes virtual environments, for what is behind it.
    PythonVenv,
    /// What builds TF-A's documentation, which tests build pages with.
    Sphinx,
    /// What tells kinds of files, for LAVA.
    File,
    /// Info-ZIP's programs, and 7-Zip's, which tests compare with.
    Zip,
    /// As [`Need::Zip`].
    Unzip,
    /// As [`Need::Zip`].
    SevenZip,
    /// LAVA's dispatcher, which tests run jobs with.
    Lava,
    /// labgrid, which tests run environments with.
    Labgrid,
}

/// All that `cargo xtask test` uses.
pub const ALL: [Need; 20] = [
    Need::Qemu,
    Need::CrossCompiler,
    Need::Make,
    Need::DpkgSource,
    Need::RustTarget,
    Need::Fiptool,
    Need::CertCreate,
    Need::Openssl,
    Need::Mkimage,
    Need::Dtc,
    Need::UBoot,
    Need::PythonVenv,
    Need::Sphinx,
    Need::Chromium,
    Need::File,
    Need::Zip,
    Need::Unzip,
    Need::SevenZip,
    Need::Lava,
    Need::Labgrid,
];

/// What makes and reads archives.
pub const ARCHIVES: [Need; 3] = [Need::Zip, Need::Unzip, Need::SevenZip];

/// What builds pages.
pub const PAGES: [Need; 2] = [Need::PythonVenv, Need::Sphinx];

/// What runs jobs as labs do.
pub const LABS: [Need; 5] = [
    Need::Qemu,
    Need::PythonVenv,
    Need::File,
    Need::Lava,
    Need::Labgrid,
];

/// What `cargo xtask fuzz` uses.
pub const FUZZ: [Need; 2] = [Need::CxxCompiler, Need::CargoFuzz];

/// What TF-A's build uses.
pub const FIRMWARE: [Need; 2] = [Need::CrossCompiler, Need::Make];

enum State {
    Ready,
    Missing,
    /// It is there and does not do, and another one would not be installed
    /// over it.
    Unfit(String),
}

impl Need {
    /// The program, or file, to look for, and the Debian package that has it.
    fn names(self) -> Option<(&'static str, &'static str)> {
        Some(match self {
            Self::Qemu => ("qemu-system-aarch64", "qemu-system-arm"),
            Self::CrossCompiler => ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
            Self::Make => ("make", "make"),
            Self::DpkgSource => ("dpkg-source", "dpkg-dev"),
            Self::Fiptool => ("fiptool", "arm-trusted-firmware-tools"),
            Self::CertCreate => ("cert_create", "arm-trusted-firmware-tools"),
            Self::Openssl => ("openssl", "openssl"),
            Self::Mkimage => ("mkimage", "u-boot-tools"),
            Self::Dtc => ("dtc", "device-tree-compiler"),
            Self::UBoot => (U_BOOT, "u-boot-qemu"),
            Self::Chromium => ("chromium", "chromium"),
            Self::CxxCompiler => ("c++", "g++"),
            Self::PythonVenv => ("python3", "python3-venv"),
            Self::File => ("file", "file"),
            Self::Zip => ("zip", "zip"),
            Self::Unzip => ("unzip", "unzip"),
            Self::SevenZip => ("7z", "p7zip-full"),
            Self::RustTarget
            | Self::LinuxTarget
            | Self::CargoFuzz
            | Self::Sphinx
            | Self::Lava
            | Self::Labgrid => return None,
        })
    }

    /// The Rust target that it is.
    fn target(self) -> Option<&'static str> {
        match self {
            Self::RustTarget => Some(TARGET),
            Self::LinuxTarget => Some(LINUX_TARGET),
            _ => None,
        }
    }

    fn state(self, workspace: &Workspace) -> State {
        let Some((program, _)) = self.names() else {
            let own = match self {
                Self::CargoFuzz => cargo_fuzz(workspace),
                Self::Sphinx => sphinx_build(workspace),
                Self::Lava => lava(workspace).map(|lava| lava.run()),
                Self::Labgrid => labgrid(workspace),
                _ => return target_state(self.target().unwrap_or_default()),
            };
            return own.map_or(State::Missing, |_| State::Ready);
        };
        let found = match self {
            Self::UBoot => Some(PathBuf::from(program)).filter(|file| file.is_file()),
            _ => find(program),
        };
        match (found, self) {
            (None, _) => State::Missing,
            (Some(path), Self::Qemu) => match qemu_version() {
                Ok(version) if version >= QEMU_LEAST => State::Ready,
                Ok((major, minor)) => State::Unfit(format!(
                    "{} is QEMU {major}.{minor}, and {}.{} or later is needed: install a newer \
                     one (Debian has them in backports) and put it first in PATH",
                    path.display(),
                    QEMU_LEAST.0,
                    QEMU_LEAST.1
                )),
                Err(error) => State::Unfit(format!("{}: {error:#}", path.display())),
            },
            (Some(_), Self::PythonVenv) if !super::python::has_venv() => State::Missing,
            (Some(_), _) => State::Ready,
        }
    }
}

/// The commands that get what comes by pip.
fn by_pip(workspace: &Workspace, need: Need) -> Option<[Vec<String>; 2]> {
    match need {
        Need::Sphinx => Some(super::sphinx::install(workspace)),
        Need::Lava => Some(super::lava::install(workspace)),
        Need::Labgrid => Some(super::labgrid::install(workspace)),
        _ => None,
    }
}

/// Major and minor version of the QEMU in PATH.
fn qemu_version() -> Result<(u32, u32)> {
    let said = process::output(Command::new("qemu-system-aarch64").arg("--version"))?;
    parse_version(&said).with_context(|| format!("this is no QEMU version: {:?}", said.trim()))
}

fn parse_version(said: &str) -> Option<(u32, u32)> {
    let mut numbers = said
        .split_once("version ")?
        .1
        .split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn target_state(target: &str) -> State {
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc.args(["--print", "target-libdir", "--target", target]);
    match process::output(&mut rustc) {
        Ok(dir) if fs::read_dir(dir.trim()).is_ok_and(|mut d| d.next().is_some()) => State::Ready,
        Ok(_) => State::Missing,
        Err(error) => State::Unfit(format!("{error:#}")),
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

/// Where this tool has a cargo-fuzz of its own.
fn cargo_fuzz_root(workspace: &Workspace) -> PathBuf {
    let name = format!("cargo-fuzz-{CARGO_FUZZ}");
    workspace.state().join(name)
}

/// The cargo-fuzz to use: the one in PATH if it is of the right version, or
/// this tool's own.
#[must_use]
pub fn cargo_fuzz(workspace: &Workspace) -> Option<PathBuf> {
    let own = cargo_fuzz_root(workspace).join("bin").join("cargo-fuzz");
    let fits = |program: &Path| {
        process::output(Command::new(program).arg("--version"))
            .is_ok_and(|said| said.split_whitespace().nth(1) == Some(CARGO_FUZZ))
    };
    let candidates = [find("cargo-fuzz"), Some(own)];
    candidates
        .into_iter()
        .flatten()
        .find(|program| fits(program))
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

fn run(words: &[String]) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let debian = "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)\nCopyright";
        assert_eq!(parse_version(debian), Some((7, 2)));
        assert_eq!(parse_version("QEMU emulator version 10.0.2"), Some((10, 0)));
        assert_eq!(parse_version("QEMU emulator version ten"), None);
        assert!((5, 2) < QEMU_LEAST && (7, 2) >= QEMU_LEAST && (10, 0) >= QEMU_LEAST);
    }
}
