//! The flash from which QEMU's machines start secure firmware.
//!
//! BL1 is at the start, where the CPUs come out of reset; it finds the FIP
//! behind it.

use anyhow::{Result, bail};

use super::fip::Builder;
use super::firmware::Firmware;
use crate::board::Stock;
use crate::board::image_kinds::called;

/// Where the overlay platform's FIP is (`PLAT_QEMU_FIP_BASE` in TF-A's
/// `plat/qemu/qemu/include/platform_def.h`).
pub const FIP_BASE: usize = 256 << 10;
/// The largest BL33 that is read, in bytes: there is no room for a larger one.
pub const IMAGE_MAX: usize = FLASH_MAX - FIP_BASE;
/// Size of the first flash bank of `virt`; other machines have more.
const FLASH_MAX: usize = 64 << 20;

/// The flash of `firmware` with `image` as BL33. Where the platform wants BL33
/// in memory, the image comes back.
pub fn build(
    firmware: &Firmware,
    stock: Option<&Stock>,
    image: Vec<u8>,
) -> Result<(Vec<u8>, Option<Vec<u8>>)> {
    let (in_fip, in_memory) = match stock {
        Some(stock) if stock.preloaded => (None, Some(image)),
        _ => (Some(image), None),
    };
    let fip = package(firmware, in_fip)?;
    let fip_base = stock.map_or(FIP_BASE, |stock| stock.fip_base);
    Ok((flash(&firmware.read("bl1")?, &fip, fip_base)?, in_memory))
}

/// A FIP of `firmware`, with `payload` as BL33 where it is to have one.
pub fn package(firmware: &Firmware, payload: Option<Vec<u8>>) -> Result<Vec<u8>> {
    let mut images = vec![
        ("tb-fw", firmware.read("bl2")?),
        ("soc-fw", firmware.read("bl31")?),
    ];
    images.extend(payload.map(|payload| ("nt-fw", payload)));
    let mut builder = Builder::default();
    for (option, data) in images {
        if let Some(kind) = called(option) {
            builder.image(kind.uuid, data)?;
        }
    }
    builder.build()
}

/// The flash with `bl1`, and `fip` at the offset `fip_base`.
pub fn flash(bl1: &[u8], fip: &[u8], fip_base: usize) -> Result<Vec<u8>> {
    if bl1.len() > fip_base {
        bail!(
            "BL1 has {} bytes, and {fip_base} are left for it",
            bl1.len()
        );
    }
    if fip_base.saturating_add(fip.len()) > FLASH_MAX {
        bail!("the FIP has {} bytes, more than the flash holds", fip.len());
    }
    let mut flash = bl1.to_vec();
    flash.resize(fip_base, 0xff);
    flash.extend(fip);
    Ok(flash)
}
