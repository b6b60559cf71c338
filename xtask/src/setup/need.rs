//! The programs and libraries that commands need, and the checks for them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result};

use super::lava::lava;
use super::process::{self, find};
use super::python::{LABGRID, SPHINX, has_venv};
use super::workspace::Workspace;

/// The target that the payload is built for.
pub const TARGET: &str = "aarch64-unknown-none-softfloat";

/// The target of the statically linked program that runs in an emulated Linux.
pub const LINUX_TARGET: &str = "aarch64-unknown-linux-musl";

/// The environment variable that, set to 1, makes `ensure` fail with the commands that it
/// would run.
pub const NO_INSTALL: &str = "PSCI_BENCH_NO_INSTALL";

/// U-Boot for QEMU's `virt`, as Debian's package has it.
pub const U_BOOT: &str = "/usr/lib/u-boot/qemu_arm64/u-boot.bin";

/// The oldest QEMU with a `virt` machine that can be used.
const QEMU_LEAST: (u32, u32) = (7, 2);

/// The cargo-fuzz that is used, and no other.
pub(super) const CARGO_FUZZ: &str = "0.13.2";

/// A program or library that a command needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// QEMU for AArch64.
    Qemu,
    /// A cross compiler for TF-A, which is C and assembly.
    CrossCompiler,
    /// GNU make, for TF-A.
    Make,
    /// The program that unpacks a Debian source package.
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
    /// The program that builds fuzz targets.
    CargoFuzz,
    /// A Python that makes virtual environments, for the packages that follow.
    PythonVenv,
    /// Sphinx, with which TF-A's documentation and tests' pages are built.
    Sphinx,
    /// The program that finds the kind of a file, for LAVA.
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

/// The programs that make and read archives.
pub const ARCHIVES: [Need; 3] = [Need::Zip, Need::Unzip, Need::SevenZip];

/// The programs that build pages.
pub const PAGES: [Need; 2] = [Need::PythonVenv, Need::Sphinx];

/// The programs that run jobs as labs do.
pub const LABS: [Need; 5] = [
    Need::Qemu,
    Need::PythonVenv,
    Need::File,
    Need::Lava,
    Need::Labgrid,
];

/// The programs that `cargo xtask fuzz` uses.
pub const FUZZ: [Need; 2] = [Need::CxxCompiler, Need::CargoFuzz];

/// The programs that TF-A's build uses.
pub const FIRMWARE: [Need; 2] = [Need::CrossCompiler, Need::Make];

pub(super) enum State {
    Ready,
    Missing,
    /// Found, but not usable, for this reason; no other one is installed over it.
    Unfit(String),
}

impl Need {
    /// Returns the program, or file, to look for, and its Debian package.
    pub(super) fn names(self) -> Option<(&'static str, &'static str)> {
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
            _ => return None,
        })
    }

    pub(super) fn target(self) -> Option<&'static str> {
        match self {
            Self::RustTarget => Some(TARGET),
            Self::LinuxTarget => Some(LINUX_TARGET),
            _ => None,
        }
    }

    pub(super) fn state(self, workspace: &Workspace) -> State {
        let Some((program, _)) = self.names() else {
            let own = match self {
                Self::CargoFuzz => cargo_fuzz(workspace),
                Self::Sphinx => SPHINX.find(workspace),
                Self::Lava => lava(workspace).map(|lava| lava.run()),
                Self::Labgrid => LABGRID.find(workspace),
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
            (Some(_), Self::PythonVenv) if !has_venv() => State::Missing,
            (Some(_), _) => State::Ready,
        }
    }
}

fn qemu_version() -> Result<(u32, u32)> {
    let said = process::output(Command::new("qemu-system-aarch64").arg("--version"))?;
    parse_version(&said).with_context(|| format!("not a QEMU version: {:?}", said.trim()))
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

pub(super) fn cargo_fuzz_root(workspace: &Workspace) -> PathBuf {
    let name = format!("cargo-fuzz-{CARGO_FUZZ}");
    workspace.state().join(name)
}

/// Returns the cargo-fuzz to use: that in PATH if it has the right version, or this tool's
/// own.
pub fn cargo_fuzz(workspace: &Workspace) -> Option<PathBuf> {
    let own = cargo_fuzz_root(workspace).join("bin").join("cargo-fuzz");
    let fits = |program: &Path| {
        process::output(Command::new(program).arg("--version"))
            .is_ok_and(|said| said.split_whitespace().nth(1) == Some(CARGO_FUZZ))
    };
    let mut candidates = find("cargo-fuzz").into_iter().chain([own]);
    candidates.find(|program| fits(program))
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
