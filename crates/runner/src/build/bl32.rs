//! BL32, the secure payload that runs at S-EL1 under TF-A.

use std::path::Path;

use anyhow::{Result, bail};
use host::read_file;

/// The arguments that build TF-A with the dispatcher that starts BL32.
pub const VARIABLES: [&str; 1] = ["SPD=opteed"];

/// The maximum size of BL32, in bytes (`SEC_DRAM_SIZE` in TF-A's
/// `plat/qemu/qemu/include/platform_def.h`).
const SIZE_MAX: usize = 15 << 20;

/// How files start that cannot be executed from their first byte, and what they contain.
const HEADERS: [(&[u8], &str); 2] = [
    (b"OPTE", "starts with an OP-TEE header"),
    (b"\x7fELF", "is an ELF file"),
];

/// Reads BL32 from the file at `path`, which `--bl32` specifies.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let bytes = read_file::read("--bl32", path, SIZE_MAX)?;
    let at = path.display();
    if bytes.is_empty() {
        bail!("--bl32 {at}: the file is empty");
    }
    if let Some((_, what)) = HEADERS.iter().find(|(start, _)| bytes.starts_with(start)) {
        bail!("--bl32 {at}: {what}; use a flat binary, such as OP-TEE's tee-raw.bin");
    }
    Ok(bytes)
}
