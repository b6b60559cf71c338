//! The flash from which QEMU's `virt` machine starts secure firmware.
//!
//! BL1 is at the start, where the CPUs come out of reset; it finds the FIP at
//! 256 KiB (`PLAT_QEMU_FIP_BASE` in TF-A's
//! `plat/qemu/qemu/include/platform_def.h`).

use anyhow::{Result, bail};

use crate::fip::{Builder, called};
use crate::firmware::Firmware;

/// Where the FIP is.
const FIP_BASE: usize = 256 << 10;
/// The largest BL33 that is read, in bytes: there is no room for a larger one.
pub const IMAGE_MAX: usize = FLASH_MAX - FIP_BASE;
/// Size of the machine's first flash bank.
const FLASH_MAX: usize = 64 << 20;

/// A FIP of `firmware` with `payload` as BL33.
///
/// # Errors
/// When a file of the firmware cannot be read.
pub fn package(firmware: &Firmware, payload: Vec<u8>) -> Result<Vec<u8>> {
    let images = [
        ("tb-fw", firmware.read("bl2")?),
        ("soc-fw", firmware.read("bl31")?),
        ("nt-fw", payload),
    ];
    let mut builder = Builder::default();
    for (option, data) in images {
        if let Some(kind) = called(option) {
            builder.image(kind.uuid, data)?;
        }
    }
    Ok(builder.build()?)
}

/// The flash with `bl1` and `fip`.
///
/// # Errors
/// When one of them does not fit.
pub fn flash(bl1: &[u8], fip: &[u8]) -> Result<Vec<u8>> {
    if bl1.len() > FIP_BASE {
        bail!(
            "BL1 has {} bytes, and {FIP_BASE} are left for it",
            bl1.len()
        );
    }
    if fip.len() > IMAGE_MAX {
        bail!("the FIP has {} bytes, more than the flash holds", fip.len());
    }
    let mut flash = bl1.to_vec();
    flash.resize(FIP_BASE, 0xff);
    flash.extend(fip);
    Ok(flash)
}
