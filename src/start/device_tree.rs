//! Finds the device tree: appended to the image, in the transfer list at X3 (as X1
//! announces it), or where X0 or X2 points.
//!
//! Firmware may pass an MPIDR in X0. So the address in a register must be aligned to 8
//! and above the first 64 KiB, the memory there must be readable (by a probe that
//! survives an abort) and begin with the magic of a device tree. X1 promises that X3 is
//! the address of a transfer list: a damaged list is an error.

use alloc::boxed::Box;
use alloc::format;
use core::fmt;

use psci_bench::board::{Region, total_size};
use psci_bench::image::handoff;
use psci_bench::image::{PARAMETER_BLOCK, ParameterBlock, TREE_ALIGN, TREE_MAX};

use crate::machine::boot::layout;
use crate::machine::memory::loader_data;
use crate::machine::memory::tables::{PAGE, TranslationTables};

/// Below this no device tree is looked for.
const LOWEST: u64 = 0x1_0000;

/// The magic number of a device tree as a little-endian CPU loads it
/// (Devicetree Specification v0.4, section 5.2).
const MAGIC: u32 = 0xd00d_feed_u32.swap_bytes();

/// Bytes of a device tree's header, which tell its size; a transfer list's are
/// fewer.
const HEADER: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Appended,
    Register(u8, u64),
    List(u64),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Appended => write!(f, "appended to the image"),
            Self::Register(number, address) => write!(f, "at {address:#x} (X{number})"),
            Self::List(address) => write!(f, "in the transfer list at {address:#x} (X3)"),
        }
    }
}

pub struct DeviceTree {
    pub bytes: &'static [u8],
    pub region: Region,
    pub source: Source,
}

type Reason = &'static dyn fmt::Display;

/// Keeps a reason until the run ends by it.
fn keep(reason: impl fmt::Display + 'static) -> Reason {
    Box::leak(Box::new(reason))
}

/// Finds the tree and maps it, or returns the reason why there is none. `registers` are
/// the loader's X0 to X3.
pub fn find(
    tables: &mut TranslationTables,
    block: &ParameterBlock,
    registers: [u64; 4],
) -> Result<DeviceTree, Reason> {
    if block.tree_offset != 0 || block.tree_size != 0 {
        return appended(tables, block);
    }
    let [x0, x1, x2, x3] = registers;
    let unusable = |source| move |reason| keep(format!("device tree {source}: {reason}"));
    if x1 == handoff::REGISTER
        && let Some(found) = in_list(tables, x3).map_err(unusable(Source::List(x3)))?
    {
        return Ok(found);
    }
    for (number, address) in [(0, x0), (2, x2)] {
        if let Some(header) = header(tables, address, MAGIC) {
            let source = Source::Register(number, address);
            return take(tables, address, &header, source).map_err(unusable(source));
        }
    }
    Err(keep(format!(
        "no device tree: none is appended to the image, and neither X0 = {x0:#x} nor \
         X2 = {x2:#x} points to one; append one with cargo xtask image"
    )))
}

/// Finds the tree after the image, which boot.S has mapped.
fn appended(tables: &TranslationTables, block: &ParameterBlock) -> Result<DeviceTree, Reason> {
    let (offset, size) = (block.tree_offset, block.tree_size);
    let image = layout::image();
    let fits = offset >= image.size
        && offset <= image.size + PAGE
        && offset.is_multiple_of(TREE_ALIGN as u64)
        && (HEADER as u64..=TREE_MAX as u64).contains(&size);
    let region = Region {
        base: image.base.saturating_add(offset),
        size,
    };
    // Pages are looked up only where their number is bounded.
    let bytes = fits
        .then(|| loader_data::find_mapped(tables, region))
        .flatten();
    match bytes {
        Some(bytes) => Ok(DeviceTree {
            bytes,
            region,
            source: Source::Appended,
        }),
        None => Err(keep(format!(
            "the parameter block at offset {PARAMETER_BLOCK:#x} is impossible: tree_offset \
             {offset:#x}, tree_size {size:#x}; make the image anew with cargo xtask image"
        ))),
    }
}

/// Reads the header at `address`, if it begins with `magic`.
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
    header.filter(|header| header.starts_with(&magic.to_le_bytes()))
}

/// Maps the whole tree that begins with this header.
fn take(
    tables: &mut TranslationTables,
    base: u64,
    header: &[u8],
    source: Source,
) -> Result<DeviceTree, Reason> {
    let size = total_size(header).map_err(keep)? as u64;
    let region = Region { base, size };
    let bytes = loader_data::map_for_good(tables, region);
    Ok(DeviceTree {
        bytes: bytes.map_err(keep)?,
        region,
        source,
    })
}

/// Finds the tree in the transfer list at `base`, if it has one.
fn in_list(tables: &mut TranslationTables, base: u64) -> Result<Option<DeviceTree>, Reason> {
    let header = header(tables, base, handoff::SIGNATURE).ok_or(&"there is none" as Reason)?;
    let size = handoff::used_size(&header).map_err(keep)? as u64;
    let region = Region { base, size };
    // Without a tree in it, working memory may be there.
    let place = loader_data::read_once(tables, region, handoff::device_tree);
    let Some(place) = place.map_err(keep)?.map_err(keep)? else {
        return Ok(None);
    };
    let list = loader_data::map_for_good(tables, region).map_err(keep)?;
    Ok(list.get(place).map(|bytes| DeviceTree {
        bytes,
        region,
        source: Source::List(base),
    }))
}
