//! Finding the device tree: appended to the image, or where X0 or X2 points.
//!
//! An address in a register is not one until it is proven: firmware may pass
//! an MPIDR there. It must be aligned to 8, above the first 64 KiB, and what
//! is there must be readable (by a probe that survives an abort) and have the
//! magic of a device tree.

use core::fmt;

use psci_bench::board::{Region, total_size};
use psci_bench::image::{PARAMETER_BLOCK, ParameterBlock, TREE_ALIGN, TREE_MAX};

use crate::machine::mmu::{Kind, MapError, PAGE, Tables};
use crate::machine::{boot, memory, probe};

/// Below this no device tree is looked for.
const LOWEST: u64 = 0x1_0000;

/// The magic number of a device tree as a little-endian CPU loads it
/// (Devicetree Specification v0.4, section 5.2).
const MAGIC: u32 = 0xd00d_feed_u32.swap_bytes();

/// Bytes of a device tree's header that tell its size.
const HEADER: u64 = 40;

/// Where the tree came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Appended to the image.
    Appended,
    /// At the address in this register.
    Register(u8, u64),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Appended => write!(f, "appended to the image"),
            Self::Register(number, address) => write!(f, "at {address:#x} (X{number})"),
        }
    }
}

/// A tree, mapped and whole.
pub struct Found {
    /// Its bytes.
    pub bytes: &'static [u8],
    /// Where they are.
    pub region: Region,
    /// Where they came from.
    pub source: Source,
}

/// Why there is no tree.
pub enum NotFound {
    /// The appended one's place in the parameter block is impossible.
    Appended { offset: u64, size: u64 },
    /// None is appended, and neither register points to one.
    Nowhere { x0: u64, x2: u64 },
    /// One is there, and can not be used.
    Unusable(Source, Reason),
}

/// What is wrong with a tree.
pub enum Reason {
    Board(psci_bench::board::BoardError<'static>),
    Map(MapError),
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Appended { offset, size } => write!(
                f,
                "parameter block at offset {PARAMETER_BLOCK:#x}: no device tree fits at \
                 tree_offset {offset:#x}, tree_size {size:#x}"
            ),
            Self::Nowhere { x0, x2 } => write!(
                f,
                "no device tree: none is appended to the image, and neither X0 = {x0:#x} nor \
                 X2 = {x2:#x} points to one; append one with cargo xtask image"
            ),
            Self::Unusable(source, Reason::Board(error)) => {
                write!(f, "device tree {source}: {error}")
            }
            Self::Unusable(source, Reason::Map(error)) => {
                write!(f, "device tree {source}: {error}")
            }
        }
    }
}

/// Finds the tree and maps it.
pub fn find(
    tables: &mut Tables,
    block: &ParameterBlock,
    registers: [u64; 2],
) -> Result<Found, NotFound> {
    if block.tree_offset != 0 || block.tree_size != 0 {
        return appended(block);
    }
    for (number, address) in [0, 2].into_iter().zip(registers) {
        if points_to_tree(tables, address) {
            let source = Source::Register(number, address);
            return take(tables, address, source)
                .map_err(|reason| NotFound::Unusable(source, reason));
        }
    }
    let [x0, x2] = registers;
    Err(NotFound::Nowhere { x0, x2 })
}

/// The tree behind the image, which boot.S has mapped.
fn appended(block: &ParameterBlock) -> Result<Found, NotFound> {
    let (offset, size) = (block.tree_offset, block.tree_size);
    let behind_the_image = boot::image_end() - boot::image_start();
    let fits = offset >= behind_the_image
        && offset <= behind_the_image + PAGE
        && offset.is_multiple_of(TREE_ALIGN as u64)
        && (HEADER..=TREE_MAX as u64).contains(&size);
    if !fits {
        return Err(NotFound::Appended { offset, size });
    }
    let region = Region {
        base: boot::image_start() + offset,
        size,
    };
    Ok(Found {
        // SAFETY: boot.S mapped tree_size bytes at tree_offset read-only, and
        // nothing writes there.
        bytes: unsafe { memory::bytes(region) },
        region,
        source: Source::Appended,
    })
}

/// Whether a device tree begins at `address`. If not, the page does not stay
/// mapped: who knows what is there.
fn points_to_tree(tables: &mut Tables, address: u64) -> bool {
    let header = Region {
        base: address,
        size: HEADER,
    };
    if !address.is_multiple_of(8) || address < LOWEST {
        return false;
    }
    // A page that is in use already is the payload's own.
    if tables.is_mapped(address) || tables.map(header, Kind::Constant).is_err() {
        return false;
    }
    let found = probe::word(address) == Some(MAGIC);
    if !found {
        tables.unmap_page(address);
        tables.unmap_page(address + HEADER - 1);
    }
    found
}

/// Maps the whole of the tree at `base`.
fn take(tables: &mut Tables, base: u64, source: Source) -> Result<Found, Reason> {
    let header = Region { base, size: HEADER };
    // SAFETY: points_to_tree() mapped the header and could read it.
    let header = unsafe { memory::bytes(header) };
    let size = total_size(header).map_err(Reason::Board)? as u64;
    let region = Region { base, size };
    tables.map(region, Kind::Constant).map_err(Reason::Map)?;
    Ok(Found {
        // SAFETY: just mapped; the loader left a tree there and is gone.
        bytes: unsafe { memory::bytes(region) },
        region,
        source,
    })
}
