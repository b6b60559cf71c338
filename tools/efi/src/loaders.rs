//! The programs that start the EFI application on QEMU: EDK2 and U-Boot, as packaged by Debian.

use std::ffi::OsString;
use std::fs;

use anyhow::{Context as _, Result};
use runner::build::boot_arguments::with_default;
use runner::build::firmware::FirmwareBuild;
use runner::build::firmware_kind::FirmwareKind;
use runner::build::{image, payload};
use runner::qemu::boot::payload_image::stamp;
use runner::qemu::boot::u_boot::{ENVIRONMENT, environment};
use runner::qemu::boot::{Boot, BootBuilder, BootFile, tf_a};
use runner::qemu::loader::Loader;
use runner::qemu::run_spec::Payload;
use runner::qemu::validated_run::ValidatedRun;
use runner::setup::workspace::Workspace;
use runner::setup::{self, AAVMF, Need, U_BOOT};
use suite::plan::Key;

use crate::application;

/// An address that U-Boot does not use.
pub const APPLICATION: u64 = 0x4800_0000;
/// A program that starts the application on QEMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum EfiLoader {
    /// EDK2, on QEMU's built-in PSCI, with a device tree.
    Edk2,
    /// EDK2, on QEMU's built-in PSCI, with ACPI tables.
    Edk2Acpi,
    /// U-Boot, as TF-A's BL33.
    UBoot,
}

impl EfiLoader {
    /// Returns the loader as a constant, for a run that outlives the command line.
    pub fn as_static(self) -> &'static dyn BootBuilder {
        match self {
            Self::Edk2 => &Self::Edk2,
            Self::Edk2Acpi => &Self::Edk2Acpi,
            Self::UBoot => &Self::UBoot,
        }
    }

    /// Returns the firmware that starts the loader.
    pub fn firmware(self) -> FirmwareKind {
        match self {
            Self::Edk2 | Self::Edk2Acpi => FirmwareKind::Builtin,
            Self::UBoot => FirmwareKind::TfA,
        }
    }

    /// Returns what TF-A starts as BL33.
    ///
    /// # Errors
    /// Returns an error if U-Boot cannot be installed or read.
    pub fn bl33(self, workspace: &Workspace) -> Result<Payload> {
        match self {
            Self::Edk2 | Self::Edk2Acpi => Ok(Payload::Build),
            Self::UBoot => {
                setup::ensure(workspace, &[Need::UBoot])?;
                let u_boot = fs::read(U_BOOT).context(U_BOOT)?;
                Ok(Payload::Image(u_boot))
            }
        }
    }
}

impl Loader for EfiLoader {
    fn title(&self, _firmware: FirmwareKind) -> &'static str {
        match self {
            Self::Edk2 => "EDK2 with a device tree, QEMU's built-in PSCI",
            Self::Edk2Acpi => "EDK2 with ACPI tables, QEMU's built-in PSCI",
            Self::UBoot => "TF-A and U-Boot",
        }
    }

    fn needs(&self) -> Vec<Need> {
        match self {
            Self::Edk2 | Self::Edk2Acpi => vec![Need::Aavmf],
            Self::UBoot => vec![Need::UBoot],
        }
    }

    fn machine_properties(&self) -> &'static str {
        match self {
            Self::Edk2 => ",acpi=off",
            Self::Edk2Acpi | Self::UBoot => "",
        }
    }
}

impl BootBuilder for EfiLoader {
    fn build_boot(&self, run: &ValidatedRun<'_>) -> Result<Boot> {
        match self {
            Self::Edk2 | Self::Edk2Acpi => edk2(run),
            Self::UBoot => u_boot(run),
        }
    }
}

/// Returns the application's load options: the boot arguments and, because QEMU has no power
/// controller to wait for and its trees do not say so, the shortest sleep.
fn load_options(args: Option<&str>) -> String {
    with_default(args, Key::Sleep, "0")
}

/// Boots EDK2, which starts the application.
fn edk2(run: &ValidatedRun<'_>) -> Result<Boot> {
    let load_options = load_options(run.spec.args.as_deref());
    let arguments = ["-bios", AAVMF, "-append", &load_options];
    Ok(Boot {
        file: Some(BootFile {
            option: "-kernel",
            contents: build_application(run, None)?,
        }),
        arguments: arguments.into_iter().map(OsString::from).collect(),
        ..Boot::default()
    })
}

/// Boots TF-A with U-Boot as BL33, which starts the application.
fn u_boot(run: &ValidatedRun<'_>) -> Result<Boot> {
    let mut boot = tf_a(run)?;
    let application = build_application(run, boot.tf_a())?;
    let command = start_command(application.len());
    let load_options = load_options(run.spec.args.as_deref());
    let environment = environment(&command, Some(&load_options));
    boot.in_memory = vec![(application, APPLICATION), (environment, ENVIRONMENT)];
    // BL33 is U-Boot.
    boot.stages = None;
    Ok(boot)
}

/// Builds the EFI application. EFI chooses the image address, so the image cannot be in the memory
/// map.
fn build_application(run: &ValidatedRun<'_>, firmware: Option<&FirmwareBuild>) -> Result<Vec<u8>> {
    let image = image::bare(payload::flat(run.workspace)?)?;
    let mut bytes = application::build(run.workspace, &image, None)?;
    // The application contains the image.
    stamp(run, &mut bytes, firmware)?;
    Ok(bytes)
}

/// Returns the U-Boot command that starts an application of `size` bytes.
pub fn start_command(size: usize) -> String {
    format!("bootefi {APPLICATION:#x}:{size:x} ${{fdtcontroladdr}}")
}
