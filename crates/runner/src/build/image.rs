//! Builds the image: the flattened payload, followed by a device tree. The header and the parameter
//! block describe both parts.

use std::path::Path;

use anyhow::{Context, Result, bail};
use boards::BoardFile;
use hardware::devices::uart::mark_register;
use hardware::image::{
    BASE_MAX, Conduit, HEADER_SIZE, IMAGE_SIZE_OFFSET, PARAMETER_BLOCK, PARAMETER_BLOCK_SIZE,
    PARAMETER_MAGIC, ParameterBlock, TREE_ALIGN, TREE_MAX, UartDescription, working_memory,
};
use host::read_file;
use object::{Object as _, ObjectSegment as _};
use suite::crc::CRC_32;

const PAGE: u64 = 4096;
/// The number of CPUs that an image without a tree reserves memory for.
const BARE_CPUS: usize = 32;
/// The maximum size of an image, in bytes.
pub const FILE_MAX: usize = BASE_MAX + TREE_ALIGN + TREE_MAX;
/// The first bytes of a device tree (Devicetree Specification v0.4, section 5.2).
const TREE_MAGIC: [u8; 4] = 0xd00d_feed_u32.to_be_bytes();

/// The UART and the conduit in the image parameter block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Emergency {
    /// The UART to use until a device tree has been read.
    pub uart: Option<UartDescription>,
    /// The conduit to use for SYSTEM_OFF until a device tree has been read.
    pub conduit: Option<Conduit>,
}

impl Emergency {
    /// Returns the UART of `board`, with `conduit`.
    pub fn of_board(board: &BoardFile, conduit: Conduit) -> Self {
        Self {
            uart: Some(board.uart.emergency()),
            conduit: Some(conduit),
        }
    }

    /// Returns the UART and the conduit specified in `tree`, a device tree.
    pub fn of_tree(tree: &[u8]) -> Self {
        let Ok(console) = hardware::board::TreeConsole::find(tree) else {
            return Self::default();
        };
        let uart = console.uart.ok();
        let conduit = console.conduit.ok();
        Self { uart, conduit }
    }
}

/// Returns the memory contents of the segments in `elf` (the payload), starting with the first.
pub fn flatten(elf: &[u8]) -> Result<Vec<u8>> {
    const WHAT: &str = "the payload's ELF file";
    let mut flat = Vec::new();
    for segment in object::File::parse(elf).context(WHAT)?.segments() {
        let from = segment.address();
        let size = segment.size();
        let data = segment.data().context(WHAT)?;
        let end = from
            .checked_add(size)
            .filter(|image_end| *image_end <= BASE_MAX as u64);
        let Some(end) = end.filter(|_| data.len() as u64 <= size) else {
            bail!("{WHAT}: a segment of {size} bytes at {from:#x} does not fit in an image");
        };
        // The segment size includes .bss, so the file contains its zeros too.
        flat.resize(flat.len().max(end as usize), 0);
        flat[from as usize..][..data.len()].copy_from_slice(data);
    }
    Ok(flat)
}

/// Builds an image from `base`, a flat payload, with `tree` appended. The image header reserves
/// memory for `cpus` CPUs.
pub fn assemble(
    mut base: Vec<u8>,
    tree: Option<&[u8]>,
    emergency: Emergency,
    cpus: usize,
) -> Result<Vec<u8>> {
    if base.len() > BASE_MAX {
        bail!(
            "the payload is {} bytes; the maximum is {BASE_MAX}",
            base.len()
        );
    }
    // If the file were too short, part of the tree would be mistaken for the payload.
    ParameterBlock::read(&base).context("the payload's image")?;
    let mut block = ParameterBlock {
        uart: emergency.uart,
        conduit: emergency.conduit,
        base_size: base.len() as u64,
        build: CRC_32.checksum(&base[HEADER_SIZE + PARAMETER_BLOCK_SIZE..]),
        ..ParameterBlock::default()
    };
    if let Some(tree) = tree {
        if tree.len() > TREE_MAX {
            let size = tree.len();
            bail!("the device tree is {size} bytes; the maximum is {TREE_MAX}");
        }
        base.resize(base.len().next_multiple_of(TREE_ALIGN), 0);
        block.tree_offset = base.len() as u64;
        block.tree_size = tree.len() as u64;
        base.extend(tree);
    }
    let cpus = u32::try_from(cpus).unwrap_or(u32::MAX);
    let need = base.len() as u64 + working_memory(cpus);
    block.write(&mut base, need.next_multiple_of(PAGE))?;
    Ok(base)
}

/// Returns the device tree that is appended to `image`.
pub fn appended_tree(image: &[u8]) -> Result<&[u8]> {
    let block = ParameterBlock::read(image)?;
    let offset = Some(block.tree_offset as usize).filter(|_| block.tree_size > 0);
    let tree = offset.and_then(|offset| image.get(offset..));
    tree.context("the image has no device tree")
}

/// Modifies `image` so that it prints a mark on the emergency UART at each boot stage.
pub fn enable_boot_log(image: &mut [u8]) -> Result<()> {
    let mut block = ParameterBlock::read(image)?;
    let Some(uart) = &block.uart else {
        bail!("--bootlog: the image specifies no UART; add --board, or a --dtb with a console");
    };
    block.marks = mark_register(uart.kind);
    if block.marks.is_none() {
        let kind = uart.kind.name();
        bail!("--bootlog: a {kind} UART cannot send a byte without a driver");
    }
    let image_size = image[IMAGE_SIZE_OFFSET..][..8].try_into();
    block.write(image, u64::from_le_bytes(image_size?))?;
    Ok(())
}

/// Sets the digest ([`ParameterBlock::digest`]) of the image in `file`, which is the image itself
/// or a program that contains it. Does nothing if `file` contains no image.
pub(crate) fn set_digest(file: &mut [u8], digest: u64) {
    let starts: Vec<_> = memchr::memmem::find_iter(file, &PARAMETER_MAGIC)
        .filter_map(|block| block.checked_sub(PARAMETER_BLOCK))
        .collect();
    for start in starts {
        let image = &mut file[start..];
        if let Ok(mut block) = ParameterBlock::read(image) {
            block.digest = digest;
            let bytes = image
                .get(IMAGE_SIZE_OFFSET..)
                .and_then(|header| header.first_chunk())
                .expect("the header has been read");
            let image_size = u64::from_le_bytes(*bytes);
            // The block has been read, so it can be written.
            let _ = block.write(image, image_size);
        }
    }
}

/// Builds a generic image from `base`, a flat payload, with no tree or emergency UART.
pub fn bare(base: Vec<u8>) -> Result<Vec<u8>> {
    assemble(base, None, Emergency::default(), BARE_CPUS)
}

/// Returns the released payload from the file at `path`, without a tree.
pub fn released(option: &str, path: Option<&Path>) -> Result<Option<Vec<u8>>> {
    let read = |path: &Path| {
        let file = strip(read_file::read(option, path, FILE_MAX)?);
        file.with_context(|| format!("{option} {}", path.display()))
    };
    path.map(read).transpose()
}

/// Returns the flat payload from the image `file`, without any appended device tree.
pub fn strip(mut file: Vec<u8>) -> Result<Vec<u8>> {
    let block = ParameterBlock::read(&file)?;
    let base = block.base_size as usize;
    let tree = block.tree_offset as usize;
    if (tree, block.tree_size) != (0, 0) {
        let is_aligned = base.checked_next_multiple_of(TREE_ALIGN) == Some(tree);
        let rest = file.get(tree..);
        if !is_aligned || !rest.is_some_and(|tree| tree.starts_with(&TREE_MAGIC)) {
            bail!("its parameter block refers to a device tree, but there is none at that offset");
        }
    }
    let ends = base.max(tree.saturating_add(block.tree_size as usize));
    if !(HEADER_SIZE + PARAMETER_BLOCK_SIZE..=BASE_MAX).contains(&base) {
        bail!("its parameter block contains an impossible payload size, {base} bytes");
    }
    if ends != file.len() {
        let is = file.len();
        bail!("the image is {is} bytes, but should be {ends} according to its parameter block");
    }
    file.truncate(base);
    Ok(file)
}

#[cfg(test)]
pub(crate) mod tests {
    use hardware::image::{MAGIC, MAGIC_OFFSET};

    use super::*;

    /// Returns a payload of `size` bytes: a header and zeros.
    pub(crate) fn blank(size: usize) -> Vec<u8> {
        let mut file = vec![0; size];
        file[MAGIC_OFFSET..][..4].copy_from_slice(&MAGIC);
        file[PARAMETER_BLOCK..][..8].copy_from_slice(&PARAMETER_MAGIC);
        file[PARAMETER_BLOCK + 8] = 2;
        file[PARAMETER_BLOCK + 12] = 0x48;
        file
    }

    #[test]
    fn build_is_of_the_payload_and_not_of_its_tree() {
        let build = |base: Vec<u8>, tree: Option<&[u8]>| {
            let image = assemble(base, tree, Emergency::default(), 1).expect("an image");
            ParameterBlock::read(&image).expect("its block").build
        };
        let own = build(blank(0x1000), None);
        assert_eq!(build(blank(0x1000), Some(&[0; 64])), own);
        let mut other = blank(0x1000);
        other[0xfff] = 1;
        assert_ne!(build(other, None), own);
    }

    #[test]
    fn what_is_too_large_or_no_payload_is_refused() {
        let large = vec![0; TREE_MAX + 1];
        let assemble = |base, tree| assemble(base, tree, Emergency::default(), 1);
        assemble(blank(0x1000), Some(&[0; 64])).expect("a good payload");
        for (base, tree) in [
            (blank(BASE_MAX + 1), None),
            (blank(0x1000), Some(&large[..])),
            (vec![0; 0x1000], None),
            (blank(0x80)[..0x70].to_vec(), Some(&[0; 64])),
        ] {
            assemble(base, tree).expect_err("too large, or not an image");
        }
    }
}
