//! The firmware that starts the EFI application: EDK2 and U-Boot, as packaged by Debian.

use std::ffi::OsString;

use suite::crc::CRC_32;

use crate::setup::AAVMF;

/// An address that U-Boot does not use.
pub const APPLICATION: u64 = 0x4800_0000;
/// The address of the U-Boot environment, in the second flash, and its size (`CONFIG_ENV_ADDR` and
/// `CONFIG_ENV_SIZE` in U-Boot's configs/qemu_arm64_defconfig).
pub const ENVIRONMENT: u64 = 0x400_0000;
const ENVIRONMENT_SIZE: usize = 0x4_0000;

/// Returns the QEMU arguments that make EDK2 start the `-kernel` file with `args` as its load
/// options.
pub fn edk2(args: Option<&str>) -> Vec<OsString> {
    let append = args.into_iter().flat_map(|args| ["-append", args]);
    let words = ["-bios", AAVMF].into_iter().chain(append);
    words.map(OsString::from).collect()
}

/// Returns the U-Boot command that starts an application of `size` bytes.
pub fn start_command(size: usize) -> String {
    format!("bootefi {APPLICATION:#x}:{size:x} ${{fdtcontroladdr}}")
}

/// Returns an environment that makes U-Boot run `command`, with `args` as the boot arguments: a
/// checksum followed by NUL-terminated variables.
pub fn environment(command: &str, args: Option<&str>) -> Vec<u8> {
    let args = args.unwrap_or("");
    let variables = format!("bootcmd={command}\0bootargs={args}\0bootdelay=0\0");
    let mut variables = variables.into_bytes();
    variables.resize(ENVIRONMENT_SIZE - size_of::<u32>(), 0);
    let checksum = CRC_32.checksum(&variables).to_le_bytes();
    [&checksum[..], &variables].concat()
}
