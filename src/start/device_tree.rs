//! Finds the device tree: appended to the image, in the transfer list at X3 (if X1 announces one),
//! or at the address in X0 or X2.
//!
//! Firmware may pass an MPIDR in X0. An address in a register must therefore be 8-byte aligned and
//! above the first 64 KiB. The memory at that address must be readable, which is tested by a probe
//! that survives an abort, and must start with the device tree magic number. X1 guarantees that X3
//! is the address of a transfer list, so a damaged list is an error.
//!
//! X2 is the address of the tree on STM32MP2, but the size of BL32 on i.MX 8M (TF-A 2.12,
//! `plat/st/stm32mp2/bl31_plat_setup.c`, `plat/imx/imx8m`). A probe of a size accesses whatever device is
//! at that address. X2 must therefore be in the same gigabyte as the image, which is in memory.

use alloc::format;
use alloc::string::String;

use hardware::board::{FormatError, Region, total_size, whole_tree};
use hardware::image::{PARAMETER_BLOCK, ParameterBlock, TREE_ALIGN, TREE_MAX, handoff};
use thiserror::Error;

use crate::machine::boot::layout;
use crate::machine::memory::loader_data;
use crate::machine::memory::tables::{MapError, PAGE, TranslationTables};

/// The payload does not look for a device tree below this address.
const LOWEST: u64 = 0x1_0000;

/// The size of the aligned region that contains the image, and in which X2 may be an address.
const NEARBY: u64 = 1 << 30;

/// The device tree magic number as a little-endian CPU loads it (Devicetree Specification v0.4,
/// section 5.2).
const MAGIC: u32 = 0xd00d_feed_u32.swap_bytes();

/// The size in bytes of a device tree header, which contains the size of the tree. A transfer list
/// header is smaller.
const HEADER: usize = 40;

/// The bytes of the tree, and the region they occupy.
type FoundTree = (&'static [u8], Region);

/// The reason why no device tree was found.
#[derive(Debug, Error)]
pub enum TreeError {
    #[error("device tree {source_name}: {reason}")]
    Unusable {
        /// The location, worded to follow "device tree".
        source_name: String,
        reason: LoadError,
    },
    #[error(
        "no device tree: none is appended to the image, and neither X0 = {x0:#x} nor X2 = \
         {x2:#x} points to one; append one with cargo xtask image"
    )]
    None { x0: u64, x2: u64 },
    #[error(
        "the parameter block at offset {PARAMETER_BLOCK:#x} is invalid: tree_offset \
         {offset:#x}, tree_size {size:#x}; rebuild the image with cargo xtask image"
    )]
    ParameterBlock { offset: u64, size: u64 },
}

/// The reason why data passed by a loader cannot be used.
#[derive(Debug, Error)]
pub enum LoadError {
    #[error("not a transfer list")]
    NoList,
    #[error(transparent)]
    Format(#[from] FormatError),
    #[error(transparent)]
    Map(#[from] MapError),
}

/// The device tree that was found. Holding a value proves that the bytes are mapped read-only, not
/// that they are a valid tree.
pub struct DeviceTree {
    pub bytes: &'static [u8],
    pub region: Region,
    /// True if a loader passed the tree, whose boot arguments may be meant for an operating system.
    pub is_handed_over: bool,
    /// The location, worded to follow "device tree".
    pub source: String,
}

/// Finds the tree and maps it, or returns the reason why it was not found. `registers` contains X0
/// to X3 as passed by the loader.
pub fn find_device_tree(
    tables: &mut TranslationTables,
    block: &ParameterBlock,
    registers: [u64; 4],
) -> Result<DeviceTree, TreeError> {
    if block.tree_offset != 0 || block.tree_size != 0 {
        return appended(tables, block);
    }
    let [x0, x1, x2, x3] = registers;
    let unusable_tree = |source: &str, reason| TreeError::Unusable {
        source_name: source.into(),
        reason,
    };
    if x1 == handoff::REGISTER {
        let source = format!("in the transfer list at {x3:#x} (X3)");
        let found = in_list(tables, x3).map_err(|reason| unusable_tree(&source, reason))?;
        if let Some((bytes, region)) = found {
            return Ok(DeviceTree {
                bytes,
                region,
                is_handed_over: true,
                source,
            });
        }
    }
    let is_near = x2 / NEARBY == layout::image().base / NEARBY;
    let candidates = [Some((0, x0)), is_near.then_some((2, x2))];
    for (number, address) in candidates.into_iter().flatten() {
        if let Some(header) = header(tables, address, MAGIC) {
            let source = format!("at {address:#x} (X{number})");
            let taken = take(tables, address, &header);
            let (bytes, region) = taken.map_err(|reason| unusable_tree(&source, reason))?;
            return Ok(DeviceTree {
                bytes,
                region,
                is_handed_over: true,
                source,
            });
        }
    }
    Err(TreeError::None { x0, x2 })
}

/// Finds the tree appended to the image, which boot.S has already mapped.
fn appended(tables: &TranslationTables, block: &ParameterBlock) -> Result<DeviceTree, TreeError> {
    let offset = block.tree_offset;
    let size = block.tree_size;
    let image = layout::image();
    let fits = offset >= image.size
        && offset <= image.size + PAGE
        && offset.is_multiple_of(TREE_ALIGN as u64)
        && (HEADER as u64..=TREE_MAX as u64).contains(&size);
    let region = Region {
        base: image.base.saturating_add(offset),
        size,
    };
    let not_there = TreeError::ParameterBlock { offset, size };
    // The page lookup is bounded only if the tree size is within limits.
    if !fits {
        return Err(not_there);
    }
    let mapped = loader_data::find_mapped(tables, region).ok_or(not_there)?;
    let bytes = whole_tree(mapped).map_err(|reason| TreeError::Unusable {
        source_name: format!(
            "appended to the image (in the parameter block, tree_offset {offset:#x} and tree_size \
             {size:#x})"
        ),
        reason: reason.into(),
    })?;
    Ok(DeviceTree {
        bytes,
        region,
        is_handed_over: false,
        source: "appended to the image".into(),
    })
}

/// Reads the header at `address` if it begins with `magic`.
fn header(tables: &mut TranslationTables, address: u64, magic: u32) -> Option<[u8; HEADER]> {
    if !address.is_multiple_of(8) || address < LOWEST {
        return None;
    }
    let region = Region {
        base: address,
        size: HEADER as u64,
    };
    let copy = |bytes: &[u8]| bytes.first_chunk().copied();
    let header: Option<[u8; HEADER]> = loader_data::read_once(tables, region, copy).ok()?;
    let header = header?;
    header.starts_with(&magic.to_le_bytes()).then_some(header)
}

/// Maps the entire tree that starts with this header.
fn take(tables: &mut TranslationTables, base: u64, header: &[u8]) -> Result<FoundTree, LoadError> {
    let size = total_size(header)? as u64;
    let region = Region { base, size };
    let bytes = loader_data::map_for_good(tables, region)?;
    Ok((bytes, region))
}

/// Returns the tree in the transfer list at `base`, if it contains one.
fn in_list(tables: &mut TranslationTables, base: u64) -> Result<Option<FoundTree>, LoadError> {
    let header = header(tables, base, handoff::SIGNATURE).ok_or(LoadError::NoList)?;
    let size = handoff::used_size(&header)? as u64;
    let region = Region { base, size };
    // If the list does not contain a tree, its memory may be used as working memory.
    let Some(offsets) = loader_data::read_once(tables, region, handoff::device_tree)?? else {
        return Ok(None);
    };
    let list = loader_data::map_for_good(tables, region)?;
    Ok(list.get(offsets).map(|bytes| (bytes, region)))
}
