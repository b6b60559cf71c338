//! Finding the device tree: appended to the image, in the transfer list that
//! X1 says is at X3, or where X0 or X2 points.
//!
//! An address in a register is not one until it is proven: firmware may pass
//! an MPIDR there. It must be aligned to 8, above the first 64 KiB, and what
//! is there must be readable (by a probe that survives an abort) and have the
//! magic of a device tree. X1 is a promise that X3 is the address of a list:
//! one that is not sound is an error, and not passed over.

use core::fmt;

use psci_bench::board::{Region, total_size};
use psci_bench::handoff::{self, HandoffError};
use psci_bench::image::{PARAMETER_BLOCK, ParameterBlock, TREE_ALIGN, TREE_MAX};

use crate::machine::mmu::{Kind, MapError, PAGE, Tables};
use crate::machine::{boot, memory, probe};

/// Below this no device tree is looked for.
const LOWEST: u64 = 0x1_0000;

/// The magic number of a device tree as a little-endian CPU loads it
/// (Devicetree Specification v0.4, section 5.2).
const MAGIC: u32 = 0xd00d_feed_u32.swap_bytes();

/// Bytes of a device tree's header, which tell its size; a transfer list's are
/// fewer.
const HEADER: u64 = 40;

/// Where the tree came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Appended to the image.
    Appended,
    /// At the address in this register.
    Register(u8, u64),
    /// In the transfer list at this address.
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
    Handoff(HandoffError),
    Map(MapError),
    /// No transfer list begins where X3 points.
    NoList,
    /// Nothing can be read at this address.
    Unreadable(u64),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Board(error) => error.fmt(f),
            Self::Handoff(error) => error.fmt(f),
            Self::Map(error) => error.fmt(f),
            Self::NoList => f.write_str("there is none"),
            Self::Unreadable(address) => write!(f, "there is no memory at {address:#x}"),
        }
    }
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
            Self::Unusable(source, reason) => write!(f, "device tree {source}: {reason}"),
        }
    }
}

/// Finds the tree and maps it. `registers` are the loader's X0 to X3.
pub fn find(
    tables: &mut Tables,
    block: &ParameterBlock,
    registers: [u64; 4],
) -> Result<Found, NotFound> {
    if block.tree_offset != 0 || block.tree_size != 0 {
        return appended(block);
    }
    let [x0, x1, x2, x3] = registers;
    if x1 == handoff::REGISTER {
        let in_list = in_list(tables, x3);
        let unusable = |reason| NotFound::Unusable(Source::List(x3), reason);
        if let Some(found) = in_list.map_err(unusable)? {
            return Ok(found);
        }
    }
    for (number, address) in [(0, x0), (2, x2)] {
        if begins_with(tables, address, MAGIC) {
            let source = Source::Register(number, address);
            return take(tables, address, source)
                .map_err(|reason| NotFound::Unusable(source, reason));
        }
    }
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

/// Whether memory begins with `magic` at `address`. If so, its header is
/// mapped; if not, nothing is: who knows what is there.
fn begins_with(tables: &mut Tables, address: u64, magic: u32) -> bool {
    let header = Region {
        base: address,
        size: HEADER,
    };
    if !address.is_multiple_of(8) || address < LOWEST || map(tables, header).is_err() {
        return false;
    }
    let found = probe::word(address) == Some(magic);
    if !found {
        unmap(tables, header);
    }
    found
}

/// The pages that `region` touches.
fn pages(region: Region) -> impl Iterator<Item = u64> {
    let end = region.base.saturating_add(region.size);
    (region.base & !(PAGE - 1)..end).step_by(PAGE as usize)
}

/// Maps what can be read, and is not in use: a page that is mapped already is
/// the payload's own.
fn map(tables: &mut Tables, region: Region) -> Result<(), Reason> {
    if let Some(page) = pages(region).find(|page| tables.is_mapped(*page)) {
        return Err(Reason::Map(MapError::Conflict(page)));
    }
    tables.map(region, Kind::Constant).map_err(Reason::Map)?;
    let Some(page) = pages(region).find(|page| probe::word(*page).is_none()) else {
        return Ok(());
    };
    unmap(tables, region);
    Err(Reason::Unreadable(page))
}

fn unmap(tables: &mut Tables, region: Region) {
    pages(region).for_each(|page| tables.unmap_page(page));
}

/// Maps the whole of what has `size` bytes in place of its header.
fn whole(tables: &mut Tables, base: u64, size: usize) -> Result<Region, Reason> {
    unmap(tables, Region { base, size: HEADER });
    let size = size as u64;
    let region = Region { base, size };
    map(tables, region)?;
    Ok(region)
}

/// Maps the whole of the tree at `base`.
fn take(tables: &mut Tables, base: u64, source: Source) -> Result<Found, Reason> {
    let header = Region { base, size: HEADER };
    // SAFETY: begins_with() mapped the header and could read it.
    let header = unsafe { memory::bytes(header) };
    let size = total_size(header).map_err(Reason::Board)?;
    let region = whole(tables, base, size)?;
    Ok(Found {
        // SAFETY: just mapped; the loader left a tree there and is gone.
        bytes: unsafe { memory::bytes(region) },
        region,
        source,
    })
}

/// The tree in the transfer list at `base`, if it has one.
fn in_list(tables: &mut Tables, base: u64) -> Result<Option<Found>, Reason> {
    if !begins_with(tables, base, handoff::SIGNATURE) {
        return Err(Reason::NoList);
    }
    let header = Region { base, size: HEADER };
    // SAFETY: begins_with() mapped the header and could read it.
    let header = unsafe { memory::bytes(header) };
    let size = handoff::used_size(header).map_err(Reason::Handoff)?;
    let region = whole(tables, base, size)?;
    // SAFETY: just mapped; the loader left a list there and is gone.
    let list = unsafe { memory::bytes(region) };
    let tree = handoff::device_tree(list).map_err(Reason::Handoff)?;
    let Some(bytes) = tree.and_then(|tree| list.get(tree)) else {
        // Working memory may be there.
        unmap(tables, region);
        return Ok(None);
    };
    Ok(Some(Found {
        bytes,
        region,
        source: Source::List(base),
    }))
}
