//! Memory that may be used, and what of it may not.
//!
//! Devicetree Specification v0.4, sections 3.4 (`memory`), 3.5
//! (`/reserved-memory`) and 5.3 (memory reservation block).

use arrayvec::ArrayVec;

use super::error::{BoardError, NodePath, Problem};
use super::fdt::{Read, Tree};
use super::ranges::{self, Region};
use super::tree::{self, Chain};

/// The most regions of memory.
pub const MEMORY_MAX: usize = 32;
/// The most regions that are reserved.
pub const RESERVED_MAX: usize = 64;

/// Regions in the making.
struct List<const N: usize> {
    regions: ArrayVec<Region, N>,
    /// Nodes and entries seen, empty ones too, so that a tree of nothing but
    /// empty ones costs no more time than others.
    seen: usize,
}

impl<const N: usize> List<N> {
    const fn new() -> Self {
        Self {
            regions: ArrayVec::new_const(),
            seen: 0,
        }
    }

    /// Appends every region of the last node's `reg` that is not empty: boot
    /// loaders fill in the sizes, and what they leave empty is not there.
    fn append(&mut self, chain: &Chain<'_, '_>) -> Read<()> {
        let too_many = || chain.node().error("reg", Problem::TooMany(N));
        self.seen += 1;
        if self.seen > 4 * N {
            return Err(too_many());
        }
        let count = ranges::count(chain)?;
        self.seen = self.seen.saturating_add(count);
        if count > N {
            return Err(too_many());
        }
        for index in 0..count {
            let region = ranges::region_or_empty(chain, index)?;
            if region.size != 0 && self.regions.try_push(region).is_err() {
                return Err(too_many());
            }
        }
        Ok(())
    }
}

/// Every region of memory, in the tree's order.
pub(crate) fn read(tree: &Tree<'_>) -> Read<ArrayVec<Region, MEMORY_MAX>> {
    let mut list = List::new();
    tree::walk(tree, &mut |chain, facts| {
        if facts.is_memory {
            list.append(chain)?;
        }
        Ok(())
    })?;
    if list.regions.is_empty() {
        return Err(tree.no_node("no memory node with a size: boot loaders fill that in"));
    }
    Ok(list.regions)
}

/// What /memreserve/ and /reserved-memory keep from use. Children without
/// `reg` are for an operating system to place, and no concern here.
pub(crate) fn reserved(tree: &Tree<'_>) -> Read<ArrayVec<Region, RESERVED_MAX>> {
    let mut list = List::new();
    for (base, size) in tree.reservations() {
        let problem = if base.checked_add(size).is_none() {
            Problem::Wraps { base, size }
        } else if size != 0 && list.regions.try_push(Region { base, size }).is_err() {
            Problem::TooMany(RESERVED_MAX)
        } else {
            continue;
        };
        return Err(tree.report(BoardError {
            node: NodePath::default(),
            property: "(memory reservation block)",
            problem,
        }));
    }
    let Some(node) = tree.find("/reserved-memory") else {
        return Ok(list.regions);
    };
    let mut chain = Chain::to(node);
    for node in node.children() {
        if node.available() && chain.enter(node) {
            list.append(&chain)?;
            chain.leave();
        }
    }
    Ok(list.regions)
}
