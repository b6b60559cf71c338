//! U-Boot's environment on QEMU.

use suite::crc::CRC_32;

/// The address of the U-Boot environment, in the second flash, and its size (`CONFIG_ENV_ADDR` and
/// `CONFIG_ENV_SIZE` in U-Boot's configs/qemu_arm64_defconfig).
pub const ENVIRONMENT: u64 = 0x400_0000;
const ENVIRONMENT_SIZE: usize = 0x4_0000;

/// Returns an environment that makes U-Boot run `command`, with `args` as the boot arguments: a
/// checksum followed by NUL-terminated variables.
pub fn environment(command: &str, args: Option<&str>) -> Vec<u8> {
    let args = args.unwrap_or("");
    let mut variables = format!("bootcmd={command}\0bootargs={args}\0bootdelay=0\0").into_bytes();
    variables.resize(ENVIRONMENT_SIZE - size_of::<u32>(), 0);
    let checksum = CRC_32.checksum(&variables).to_le_bytes();
    [&checksum[..], &variables].concat()
}
