//! The list of what commands need.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result};
use host::process::{self, find_program};

use super::installed_qemu::check_qemu;
use super::workspace::Workspace;

/// The build target for the payload.
pub const TARGET: &str = "aarch64-unknown-none-softfloat";

/// The build target for the statically linked program that runs in the emulated Linux host.
pub const LINUX_TARGET: &str = "aarch64-unknown-linux-musl";

/// The build target for the EFI application.
pub const EFI_TARGET: &str = "aarch64-unknown-uefi";

/// U-Boot for QEMU's `virt`, from the Debian package.
pub const U_BOOT: &str = "/usr/lib/u-boot/qemu_arm64/u-boot.bin";

/// EDK2 for QEMU's `virt`, from the Debian package.
pub const AAVMF: &str = "/usr/share/AAVMF/AAVMF_CODE.fd";

/// The file that the installer creates last in a Python environment.
pub(super) const READY: &str = "ready";

/// Sphinx, which builds the TF-A documentation and, in tests, report pages.
const SPHINX: PythonEnvironment = PythonEnvironment {
    name: "sphinx",
    version: "8.1.3",
    packages: &["sphinx"],
};

/// Where a need is installed from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A Debian package, and the program or file that shows that it is installed.
    Debian(&'static str, &'static str),
    /// A target of the Rust toolchain.
    Target(&'static str),
    /// A Python environment in `target/`.
    Python(PythonEnvironment),
}

/// A virtual environment in a folder of its own, with packages from PyPI.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PythonEnvironment {
    /// The name, which is also the start of the folder's name.
    pub name: &'static str,
    /// The version, which is the rest of the folder's name.
    pub version: &'static str,
    /// The packages. One without a version has that of the environment.
    pub packages: &'static [&'static str],
}

use Source::{Debian, Python, Target};

macro_rules! needs {
    ($($need:ident, $source:expr;)*) => {
        /// A program or library that a command needs.
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[expect(missing_docs, reason = "named after the programs")]
        pub enum Need {
            $($need,)*
            /// Something that only one of the tools in `tools/` needs.
            Tool(Source),
        }

        /// Every need and its source, except those of tools.
        const NEEDS: &[(Need, Source)] = &[$((Need::$need, $source)),*];
    };
}

// docs/setup.md contains the same list.
needs! {
    Qemu, Debian("qemu-system-arm", "qemu-system-aarch64");
    CrossCompiler, Debian("gcc-aarch64-linux-gnu", "aarch64-linux-gnu-gcc");
    Ccache, Debian("ccache", "ccache");
    ArmNoneEabi, Debian("gcc-arm-none-eabi", "arm-none-eabi-gcc");
    Make, Debian("make", "make");
    DpkgSource, Debian("dpkg-dev", "dpkg-source");
    Fiptool, Debian("arm-trusted-firmware-tools", "fiptool");
    CertCreate, Debian("arm-trusted-firmware-tools", "cert_create");
    Openssl, Debian("openssl", "openssl");
    Mkimage, Debian("u-boot-tools", "mkimage");
    Dtc, Debian("device-tree-compiler", "dtc");
    UBoot, Debian("u-boot-qemu", U_BOOT);
    Aavmf, Debian("qemu-efi-aarch64", AAVMF);
    Sbsign, Debian("sbsigntool", "sbsign");
    Mtools, Debian("mtools", "mformat");
    Iasl, Debian("acpica-tools", "iasl");
    Chromium, Debian("chromium", "chromium");
    PythonVenv, Debian("python3-venv", "python3");
    RustTarget, Target(TARGET);
    LinuxTarget, Target(LINUX_TARGET);
    EfiTarget, Target(EFI_TARGET);
    Sphinx, Python(SPHINX);
}

/// Returns the names of everything that may be installed, except for tools.
pub fn installed() -> impl Iterator<Item = &'static str> {
    NEEDS.iter().map(|row| row.1.name())
}

/// Returns everything that `cargo xtask test` uses.
pub fn all() -> Vec<Need> {
    let others = [Need::ArmNoneEabi, Need::LinuxTarget];
    let needs = NEEDS.iter().map(|row| row.0);
    needs.filter(|need| !others.contains(need)).collect()
}

impl Source {
    pub(super) fn name(self) -> &'static str {
        match self {
            Debian(name, _) | Target(name) => name,
            Python(environment) => environment.name,
        }
    }

    /// Returns the program that installs from this source.
    pub(super) fn installer(self) -> &'static str {
        match self {
            Debian(..) => "apt-get",
            Target(_) => "rustup",
            Python(_) => "pip",
        }
    }
}

impl PythonEnvironment {
    /// Returns the folder of this version.
    pub fn root(&self, workspace: &Workspace) -> PathBuf {
        workspace
            .state()
            .join(format!("{}-{}", self.name, self.version))
    }

    /// Returns the environment's own folder.
    pub(super) fn folder(&self, workspace: &Workspace) -> PathBuf {
        self.root(workspace).join("venv")
    }

    /// Returns true if the environment is complete.
    pub fn is_there(&self, workspace: &Workspace) -> bool {
        self.folder(workspace).join(READY).is_file()
    }

    /// Returns the packages with their versions, as pip takes them.
    pub(super) fn pinned_packages(&self) -> Vec<String> {
        let packages = self.packages.iter().map(|package| {
            if package.contains("==") {
                (*package).to_owned()
            } else {
                format!("{package}=={}", self.version)
            }
        });
        packages.collect()
    }
}

impl Need {
    pub(super) fn source(self) -> Source {
        if let Self::Tool(source) = self {
            return source;
        }
        let row = NEEDS.iter().find(|row| row.0 == self);
        row.expect("the table has every need").1
    }

    /// Returns true if the program or library exists. Returns an error if it exists but is
    /// unusable, because an existing installation is never overwritten.
    pub(super) fn is_there(self, workspace: &Workspace) -> Result<bool> {
        let shown_by = match self.source() {
            Target(target) => return has_target(target),
            Python(environment) => return Ok(environment.is_there(workspace)),
            Debian(_, shown_by) => shown_by,
        };
        let found = if shown_by.starts_with('/') {
            Some(PathBuf::from(shown_by)).filter(|path| path.is_file())
        } else {
            find_program(shown_by)
        };
        match (self, &found) {
            (Self::Qemu, Some(path)) => check_qemu().with_context(|| path.display().to_string())?,
            (Self::PythonVenv, Some(_)) => return Ok(has_venv()),
            _ => {}
        }
        Ok(found.is_some())
    }

    /// Returns the folder that contains the programs of a Python environment, if it is installed.
    pub fn programs(self, workspace: &Workspace) -> Option<PathBuf> {
        match self.source() {
            Python(environment) if environment.is_there(workspace) => {
                Some(environment.folder(workspace).join("bin"))
            }
            _ => None,
        }
    }
}

fn has_target(target: &str) -> Result<bool> {
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc.args(["--print", "target-libdir", "--target", target]);
    let dir = process::output_once(&mut rustc)?;
    Ok(fs::read_dir(dir.trim()).is_ok_and(|mut dir| dir.next().is_some()))
}

/// Returns true if the Python on this machine can create virtual environments. On Debian, this
/// requires a separate package.
fn has_venv() -> bool {
    let check = ["-c", "import ensurepip, venv"];
    process::output(Command::new("python3").args(check)).is_ok()
}
