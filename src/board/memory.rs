//! Memory that may be used, and the parts of it that are reserved.
//!
//! Devicetree Specification v0.4, sections 3.4 (`memory`), 3.5
//! (`/reserved-memory`) and 5.3 (memory reservation block).

use alloc::vec::Vec;

use super::error::{BoardError, Result};
use super::fdt::Fdt;
use super::node::Node;
use super::ranges::{self, Region};
use super::tree::{self, Chain};

/// The most regions of memory.
pub const MEMORY_MAX: usize = 32;
/// The most regions that are reserved.
pub const RESERVED_MAX: usize = 64;

/// A growing list of at most `N` regions.
#[derive(Default)]
struct List<const N: usize> {
    regions: Vec<Region>,
    /// Nodes and entries read, including empty ones: the limit on them bounds the
    /// time for a tree that has only empty entries.
    seen: usize,
}

impl<const N: usize> List<N> {
    /// Appends every region of the last node's `reg` that is not empty: boot
    /// loaders fill in the sizes, and an entry that they leave empty is unused.
    fn append(&mut self, chain: &Chain<'_>) -> Result<()> {
        let too_many = || chain.node.too_many("reg", N);
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
            if region.size == 0 {
                continue;
            }
            if self.regions.len() == N {
                return Err(too_many());
            }
            self.regions.push(region);
        }
        Ok(())
    }
}

/// Reads every region of memory, in the tree's order.
pub(crate) fn read(tree: Fdt<'_>) -> Result<Vec<Region>> {
    let mut list = List::<MEMORY_MAX>::default();
    tree::walk(tree, &mut |chain, facts| match facts.is_memory {
        true => list.append(chain),
        false => Ok(()),
    })?;
    if list.regions.is_empty() {
        let absence = "no memory node with a size: boot loaders fill that in";
        return Err(BoardError::of_tree(format_args!("{absence}")));
    }
    Ok(list.regions)
}

/// Reads the regions that /memreserve/ and /reserved-memory keep from use. A child
/// without `reg` is for an operating system to place, and is left out.
pub(crate) fn reserved(tree: Fdt<'_>) -> Result<Vec<Region>> {
    let mut list = List::<RESERVED_MAX>::default();
    for (base, size) in tree.reservations() {
        let block = "(memory reservation block)";
        let root = Node::root(tree);
        if base.checked_add(size).is_none() {
            return Err(ranges::wraps(root, block, Region { base, size }));
        }
        if size == 0 {
            continue;
        }
        if list.regions.len() == RESERVED_MAX {
            return Err(root.too_many(block, RESERVED_MAX));
        }
        list.regions.push(Region { base, size });
    }
    let Some(node) = Node::find(tree, "/reserved-memory") else {
        return Ok(list.regions);
    };
    let mut chain = Chain::to(node);
    for node in node.children().filter(|node| node.is_available()) {
        chain.enter(node);
        list.append(&chain)?;
        chain.leave();
    }
    Ok(list.regions)
}
