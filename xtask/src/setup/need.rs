//! The programs and libraries that commands need, and checks for them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, bail};
use host::process::{self, find};

use super::lava::lava;
use super::python::{LABGRID, SPHINX, has_venv};
use super::workspace::Workspace;

/// The build target for the payload.
pub const TARGET: &str = "aarch64-unknown-none-softfloat";

/// The build target for the statically linked program that runs in the emulated Linux host.
pub const LINUX_TARGET: &str = "aarch64-unknown-linux-musl";

/// The build target for the EFI application.
pub const EFI_TARGET: &str = "aarch64-unknown-uefi";

/// The environment variable that, when set to 1, makes `ensure` return an error with the commands
/// that it would run.
pub const NO_INSTALL: &str = "PSCI_BENCH_NO_INSTALL";

/// U-Boot for QEMU's `virt`, from the Debian package.
pub const U_BOOT: &str = "/usr/lib/u-boot/qemu_arm64/u-boot.bin";

/// EDK2 for QEMU's `virt`, from the Debian package.
pub const AAVMF: &str = "/usr/share/AAVMF/AAVMF_CODE.fd";

/// The oldest usable QEMU version.
const QEMU_LEAST: (u32, u32) = (7, 2);

/// The required version of cargo-fuzz.
pub(super) const CARGO_FUZZ: &str = "0.13.2";

macro_rules! needs {
    ($($need:ident $what:tt $program:tt)*) => {
        /// A program or library that a command needs.
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[expect(missing_docs, reason = "named after the programs")]
        pub enum Need { $($need),* }

        /// Every `Need`, with the package that provides it and the program or file to look for.
        const INSTALLED: &[(Need, &str, &str)] = &[$((Need::$need, $what, $program)),*];
    };
}

// docs/setup.md contains the same list.
needs! {
    Qemu "qemu-system-arm" "qemu-system-aarch64"
    CrossCompiler "gcc-aarch64-linux-gnu" "aarch64-linux-gnu-gcc"
    Ccache "ccache" "ccache"
    ArmNoneEabi "gcc-arm-none-eabi" "arm-none-eabi-gcc"
    Make "make" "make"
    DpkgSource "dpkg-dev" "dpkg-source"
    Fiptool "arm-trusted-firmware-tools" "fiptool"
    CertCreate "arm-trusted-firmware-tools" "cert_create"
    Openssl "openssl" "openssl"
    Mkimage "u-boot-tools" "mkimage"
    Dtc "device-tree-compiler" "dtc"
    UBoot "u-boot-qemu" U_BOOT
    Aavmf "qemu-efi-aarch64" AAVMF
    Sbsign "sbsigntool" "sbsign"
    Mtools "mtools" "mformat"
    Iasl "acpica-tools" "iasl"
    Chromium "chromium" "chromium"
    PythonVenv "python3-venv" "python3"
    File "file" "file"
    Zip "zip" "zip"
    Unzip "unzip" "unzip"
    SevenZip "p7zip-full" "7z"
    CxxCompiler "g++" "c++"
    RustTarget TARGET ""
    LinuxTarget LINUX_TARGET ""
    EfiTarget EFI_TARGET ""
    CargoFuzz "cargo-fuzz" ""
    Sphinx "sphinx" "sphinx-build"
    Labgrid "labgrid" "pytest"
    Lava "lava-dispatcher" "lava-run"
}

/// Returns the names of everything that may be installed.
pub fn installed() -> impl Iterator<Item = &'static str> {
    INSTALLED.iter().map(|row| row.1)
}

/// Returns everything that `cargo xtask test` uses.
pub fn all() -> Vec<Need> {
    let others = [
        Need::ArmNoneEabi,
        Need::CxxCompiler,
        Need::LinuxTarget,
        Need::CargoFuzz,
    ];
    let needs = INSTALLED.iter().map(|row| row.0);
    needs.filter(|need| !others.contains(need)).collect()
}

impl Need {
    /// Returns the name of the package to install, and the program or file to look for.
    pub(super) fn row(self) -> (&'static str, &'static str) {
        let row = INSTALLED.iter().find(|row| row.0 == self);
        row.map_or(("", ""), |row| (row.1, row.2))
    }

    /// Returns true if the program or library exists. Returns an error if it exists but is
    /// unusable, because an existing installation is never overwritten.
    pub(super) fn is_there(self, workspace: &Workspace) -> Result<bool> {
        let (what, program) = self.row();
        let found = match self {
            Self::CargoFuzz => cargo_fuzz(workspace),
            Self::Sphinx => SPHINX.find(workspace),
            Self::Lava => lava(workspace).map(|lava| lava.run()),
            Self::Labgrid => LABGRID.find(workspace),
            Self::RustTarget | Self::LinuxTarget | Self::EfiTarget => {
                return has_target(what);
            }
            Self::UBoot | Self::Aavmf => Some(PathBuf::from(program)).filter(|it| it.is_file()),
            Self::PythonVenv => find(program).filter(|_| has_venv()),
            _ => find(program),
        };
        if let (Some(path), Self::Qemu) = (&found, self) {
            check_qemu().with_context(|| path.display().to_string())?;
        }
        Ok(found.is_some())
    }
}

fn check_qemu() -> Result<()> {
    let version = qemu_version()?;
    if version < QEMU_LEAST {
        let ((major, minor), (least, least_minor)) = (version, QEMU_LEAST);
        bail!(
            "this is QEMU {major}.{minor}, but {least}.{least_minor} or later is needed; install a \
             newer one (Debian has it in backports) and put it first in PATH"
        );
    }
    Ok(())
}

/// Returns the major and minor version of the QEMU in PATH.
pub fn qemu_version() -> Result<(u32, u32)> {
    let said = process::output_once(Command::new("qemu-system-aarch64").arg("--version"))?;
    let version = parse_version(&said);
    version.with_context(|| format!("not a QEMU version: {:?}", said.trim()))
}

fn parse_version(said: &str) -> Option<(u32, u32)> {
    let (_, version) = said.split_once("version ")?;
    let mut numbers = version.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn has_target(target: &str) -> Result<bool> {
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc.args(["--print", "target-libdir", "--target", target]);
    let dir = process::output_once(&mut rustc)?;
    Ok(fs::read_dir(dir.trim()).is_ok_and(|mut dir| dir.next().is_some()))
}

pub(super) fn cargo_fuzz_root(workspace: &Workspace) -> PathBuf {
    workspace.state().join(format!("cargo-fuzz-{CARGO_FUZZ}"))
}

/// Returns the cargo-fuzz to use: the one in PATH if it is the right version, or the one that this
/// tool installed.
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
