//! The flash that QEMU machines boot secure firmware from.
//!
//! BL1 is at the start, at the CPUs' reset vector; the FIP follows.

use anyhow::{Result, bail};
use boards::Stock;
use boards::image_kinds::uuid_of;
use fip::Fip;

use super::firmware::FirmwareBuild;

/// Offset of the FIP for the overlay platform (`PLAT_QEMU_FIP_BASE` in TF-A's
/// `plat/qemu/qemu/include/platform_def.h`).
pub const FIP_BASE: usize = 256 << 10;
/// The maximum size of BL33, in bytes. A larger image does not fit in the flash.
pub const IMAGE_MAX: usize = FLASH_MAX - FIP_BASE;
/// Size of the first flash bank on `virt`; the other machines have larger ones.
const FLASH_MAX: usize = 64 << 20;

/// Builds the flash contents for `firmware` with `image` as BL33. Also returns the image if the
/// platform expects to find BL33 in memory.
pub fn build(
    firmware: &FirmwareBuild,
    stock: Option<&Stock>,
    image: Vec<u8>,
) -> Result<(Vec<u8>, Option<Vec<u8>>)> {
    let (in_fip, in_memory) = match stock {
        Some(stock) if stock.preloaded => (None, Some(image)),
        _ => (Some(image), None),
    };
    let fip = build_fip(firmware, in_fip)?;
    let fip_base = stock.and_then(|stock| stock.fip_base).unwrap_or(FIP_BASE);
    Ok((
        assemble_flash(&firmware.read("bl1")?, &fip, fip_base)?,
        in_memory,
    ))
}

/// Builds a FIP for `firmware`, with `payload` (if any) as BL33.
pub fn build_fip(firmware: &FirmwareBuild, payload: Option<Vec<u8>>) -> Result<Vec<u8>> {
    let mut fip = Fip::default();
    fip.put(uuid_of("tb-fw"), firmware.read("bl2")?)?;
    fip.put(uuid_of("soc-fw"), firmware.read("bl31")?)?;
    if let Some(bl32) = &firmware.bl32 {
        fip.put(uuid_of("tos-fw"), bl32.clone())?;
    }
    if let Some(payload) = payload {
        fip.put(uuid_of("nt-fw"), payload)?;
    }
    fip.build()
}

/// Builds a flash image from `bl1`, with `fip` at the `fip_base` offset.
pub fn assemble_flash(bl1: &[u8], fip: &[u8], fip_base: usize) -> Result<Vec<u8>> {
    if bl1.len() > fip_base {
        let size = bl1.len();
        bail!("BL1 is {size} bytes, but there is room for only {fip_base}");
    }
    if fip_base.saturating_add(fip.len()) > FLASH_MAX {
        bail!(
            "the FIP is {} bytes, more than the flash can hold",
            fip.len()
        );
    }
    let mut flash = bl1.to_vec();
    flash.resize(fip_base, 0xff);
    flash.extend(fip);
    Ok(flash)
}
