//! Reads device tree files that a user specifies.

use std::path::Path;

use anyhow::{Result, bail};
use hardware::image::TREE_MAX;
use host::read_file;

/// The start of a device tree blob.
const MAGIC: [u8; 4] = 0xd00d_feed_u32.to_be_bytes();
/// The start of a device tree's source, after any comments.
const SOURCE: &[u8] = b"/dts-v1/";

/// Returns the device tree blob in the file at `path`, which `option` specifies. Only the start of
/// the blob is checked.
///
/// # Errors
/// Returns an error if the file cannot be read, or if it is not a device tree blob.
pub fn read_tree(option: &str, path: &Path) -> Result<Vec<u8>> {
    let blob = read_file::read(option, path, TREE_MAX)?;
    let named = format!("{option} {}", path.display());
    let named = named.trim_start();
    if blob.is_empty() {
        bail!("{named}: the file is empty");
    }
    if blob.windows(SOURCE.len()).any(|window| window == SOURCE) && !blob.starts_with(&MAGIC) {
        // The output must not be the source, whatever its name is.
        let is_named_dtb = path.extension().is_some_and(|extension| extension == "dtb");
        let output = path.with_extension(if is_named_dtb { "new.dtb" } else { "dtb" });
        let (source, output) = (path.display(), output.display());
        bail!(
            "{named}: device tree source; compile it with dtc -I dts -O dtb -o {output} {source}"
        );
    }
    match blob.first_chunk::<4>() {
        Some(start) if *start != MAGIC => bail!(
            "{named}: not a compiled device tree: it starts with {:#010x} instead of {:#010x}",
            u32::from_be_bytes(*start),
            u32::from_be_bytes(MAGIC)
        ),
        _ => Ok(blob),
    }
}
