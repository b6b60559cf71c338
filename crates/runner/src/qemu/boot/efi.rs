//! The firmware that starts the EFI application: EDK2 and U-Boot, as packaged by Debian.

use std::ffi::OsString;

use anyhow::Result;
use suite::crc::CRC_32;

use super::boot::{Boot, BootFile};
use super::payload_image::stamp;
use super::tf_a::tf_a;
use crate::build::firmware::FirmwareBuild;
use crate::build::{self, image, payload};
use crate::qemu::validated_run::ValidatedRun;
use crate::setup::AAVMF;

/// An address that U-Boot does not use.
pub const APPLICATION: u64 = 0x4800_0000;
/// The address of the U-Boot environment, in the second flash, and its size (`CONFIG_ENV_ADDR` and
/// `CONFIG_ENV_SIZE` in U-Boot's configs/qemu_arm64_defconfig).
pub const ENVIRONMENT: u64 = 0x400_0000;
const ENVIRONMENT_SIZE: usize = 0x4_0000;

/// Boots EDK2, which starts the application.
pub fn edk2(run: &ValidatedRun<'_>) -> Result<Boot> {
    let mut arguments = vec!["-bios", AAVMF];
    // The boot arguments become the application's load options.
    arguments.extend(run.spec.args.iter().flat_map(|args| ["-append", args]));
    Ok(Boot {
        file: Some(BootFile {
            option: "-kernel",
            contents: application(run, None)?,
        }),
        arguments: arguments.into_iter().map(OsString::from).collect(),
        ..Boot::default()
    })
}

/// Boots TF-A with U-Boot as BL33, which starts the application.
pub fn u_boot(run: &ValidatedRun<'_>) -> Result<Boot> {
    let mut boot = tf_a(run)?;
    let application = application(run, boot.tf_a())?;
    let command = start_command(application.len());
    let environment = environment(&command, run.spec.args.as_deref());
    boot.in_memory = vec![(application, APPLICATION), (environment, ENVIRONMENT)];
    // BL33 is U-Boot, so it cannot be replaced.
    boot.stages = None;
    Ok(boot)
}

/// Builds the EFI application. EFI chooses the image address, so the image cannot be in the memory
/// map.
fn application(run: &ValidatedRun<'_>, firmware: Option<&FirmwareBuild>) -> Result<Vec<u8>> {
    let image = image::bare(payload::flat(run.workspace)?)?;
    let mut application = build::efi::build(run.workspace, &image, None)?;
    // The application contains the image.
    stamp(run, &mut application, firmware)?;
    Ok(application)
}

/// Returns the U-Boot command that starts an application of `size` bytes.
pub fn start_command(size: usize) -> String {
    format!("bootefi {APPLICATION:#x}:{size:x} ${{fdtcontroladdr}}")
}

/// Returns an environment that makes U-Boot run `command`, with `args` as the boot arguments: a
/// checksum followed by NUL-terminated variables.
pub fn environment(command: &str, args: Option<&str>) -> Vec<u8> {
    let args = args.unwrap_or("");
    let mut variables = format!("bootcmd={command}\0bootargs={args}\0bootdelay=0\0").into_bytes();
    variables.resize(ENVIRONMENT_SIZE - size_of::<u32>(), 0);
    let checksum = CRC_32.checksum(&variables).to_le_bytes();
    [&checksum[..], &variables].concat()
}
