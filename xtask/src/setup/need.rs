//! The list of what commands need.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result};
use host::process::{self, find};

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

/// The folder of LAVA's virtual environment, in the dispatcher's own folder.
pub(super) const LAVA_ENVIRONMENT: &str = "lava-2023.01-2/venv";

/// The Python packages that `lava-run` imports, in mutually compatible versions.
const LAVA_IMPORTS: [&str; 11] = [
    "aiohttp==3.14.5",
    "configobj==5.0.9",
    "jinja2==3.1.6",
    "pexpect==4.9.0",
    "python-magic==0.4.27",
    "pytz==2026.6",
    "pyudev==0.24.5",
    "pyyaml==6.0.3",
    "requests==2.34.2",
    "setproctitle==1.3.8",
    "voluptuous==0.16.0",
];

/// Where a need is installed from, and its name there. Everything except Debian packages and Rust
/// targets is installed in a folder of its own below this tool's part of `target/`.
#[derive(Clone, Copy)]
pub(super) enum Source {
    Debian(&'static str),
    RustTarget(&'static str),
    /// A virtual environment: its name, its folder, and packages from PyPI.
    Python(&'static str, &'static str, &'static [&'static str]),
}

use Source::{Debian, Python, RustTarget};

macro_rules! needs {
    ($($need:ident, $source:expr, $shown_by:expr;)*) => {
        /// A program or library that a command needs.
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[expect(missing_docs, reason = "named after the programs")]
        pub enum Need { $($need),* }

        /// Every need, its source, and the program or file that shows that it is installed.
        const NEEDS: &[(Need, Source, &str)] = &[$((Need::$need, $source, $shown_by)),*];
    };
}

// docs/setup.md contains the same list.
needs! {
    Qemu, Debian("qemu-system-arm"), "qemu-system-aarch64";
    CrossCompiler, Debian("gcc-aarch64-linux-gnu"), "aarch64-linux-gnu-gcc";
    Ccache, Debian("ccache"), "ccache";
    ArmNoneEabi, Debian("gcc-arm-none-eabi"), "arm-none-eabi-gcc";
    Make, Debian("make"), "make";
    DpkgSource, Debian("dpkg-dev"), "dpkg-source";
    Fiptool, Debian("arm-trusted-firmware-tools"), "fiptool";
    CertCreate, Debian("arm-trusted-firmware-tools"), "cert_create";
    Openssl, Debian("openssl"), "openssl";
    Mkimage, Debian("u-boot-tools"), "mkimage";
    Dtc, Debian("device-tree-compiler"), "dtc";
    UBoot, Debian("u-boot-qemu"), U_BOOT;
    Aavmf, Debian("qemu-efi-aarch64"), AAVMF;
    Sbsign, Debian("sbsigntool"), "sbsign";
    Mtools, Debian("mtools"), "mformat";
    Iasl, Debian("acpica-tools"), "iasl";
    Chromium, Debian("chromium"), "chromium";
    PythonVenv, Debian("python3-venv"), "python3";
    File, Debian("file"), "file";
    RustTarget, RustTarget(TARGET), "";
    LinuxTarget, RustTarget(LINUX_TARGET), "";
    EfiTarget, RustTarget(EFI_TARGET), "";
    Sphinx, Python("sphinx", "sphinx-8.1.3", &["sphinx==8.1.3"]), READY;
    Labgrid, Python("labgrid", "labgrid-26.0.1", &["labgrid==26.0.1", "pytest==9.2.0"]), READY;
    Lava, Python("lava-dispatcher", LAVA_ENVIRONMENT, &LAVA_IMPORTS), READY;
}

/// Returns the names of everything that may be installed.
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
            Debian(name) | RustTarget(name) | Python(name, ..) => name,
        }
    }

    /// Returns the folder that a need from this source is installed in.
    pub(super) fn folder(self, workspace: &Workspace) -> PathBuf {
        match self {
            Debian(_) | RustTarget(_) => PathBuf::from("/"),
            Python(_, folder, _) => workspace.state().join(folder),
        }
    }
}

impl Need {
    fn row(self) -> (Source, &'static str) {
        let row = NEEDS.iter().find(|row| row.0 == self);
        row.map(|row| (row.1, row.2))
            .expect("the table has every need")
    }

    pub(super) fn source(self) -> Source {
        self.row().0
    }

    /// Returns true if the program or library exists. Returns an error if it exists but is
    /// unusable, because an existing installation is never overwritten.
    pub(super) fn is_there(self, workspace: &Workspace) -> Result<bool> {
        let (source, shown_by) = self.row();
        let found = match source {
            RustTarget(target) => return has_target(target),
            Debian(_) if !shown_by.starts_with('/') => find(shown_by),
            _ => Some(source.folder(workspace).join(shown_by)).filter(|path| path.is_file()),
        };
        match (self, &found) {
            (Self::Qemu, Some(path)) => check_qemu().with_context(|| path.display().to_string())?,
            (Self::PythonVenv, Some(_)) => return Ok(has_venv()),
            _ => {}
        }
        Ok(found.is_some())
    }

    /// Returns the folder below `target/` that contains the programs of this need, if it is
    /// installed.
    pub fn programs(self, workspace: &Workspace) -> Option<PathBuf> {
        let (source, shown_by) = self.row();
        let folder = source.folder(workspace);
        folder.join(shown_by).is_file().then(|| folder.join("bin"))
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
