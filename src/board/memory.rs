//! Memory that may be used, and the parts of it that are reserved.
//!
//! Devicetree Specification v0.4, sections 3.4 (`memory`), 3.5
//! (`/reserved-memory`) and 5.3 (memory reservation block).

use alloc::vec::Vec;

use super::error::{BoardError, Result};
use super::fdt::Fdt;
use super::node::{Node, usable_nodes};
use super::ranges::{self, Region};

/// The most regions of memory.
pub const MEMORY_MAX: usize = 32;
/// The most regions that are reserved.
pub const RESERVED_MAX: usize = 64;

/// A growing list of at most `N` regions.
struct List<const N: usize> {
    regions: Vec<Region>,
    /// Nodes and entries read, including empty ones: the limit on them bounds the
    /// time for a tree that has only empty entries.
    seen: usize,
}

impl<const N: usize> List<N> {
    /// Returns an empty list with room for all: it could not grow in its place, and the
    /// heap has only a few KiB before working memory is found.
    fn new() -> Self {
        let regions = Vec::with_capacity(N);
        Self { regions, seen: 0 }
    }

    /// Appends every region of the node's `reg` that is not empty: boot loaders fill in
    /// the sizes, and an entry that they leave empty is unused.
    fn append(&mut self, node: Node<'_>) -> Result<()> {
        let regions = ranges::regions(node)?;
        let count = regions.len();
        self.seen += 1 + count;
        if count > N || self.seen > 4 * N {
            return Err(node.too_many("reg", N));
        }
        for region in regions {
            self.push(region?, || node.too_many("reg", N))?;
        }
        Ok(())
    }

    fn push(&mut self, region: Region, too_many: impl Fn() -> BoardError) -> Result<()> {
        if region.size == 0 {
            return Ok(());
        }
        if self.regions.len() == N {
            return Err(too_many());
        }
        self.regions.push(region);
        Ok(())
    }
}

/// Reads every region of memory, in the tree's order.
pub(crate) fn read(tree: Fdt<'_>) -> Result<Vec<Region>> {
    let mut list = List::<MEMORY_MAX>::new();
    for facts in usable_nodes(tree).filter(|facts| facts.is_memory) {
        list.append(facts.node)?;
    }
    if list.regions.is_empty() {
        let message = format_args!("no memory node with a size: boot loaders fill that in");
        return Err(BoardError::new(message));
    }
    Ok(list.regions)
}

/// Reads the regions that /memreserve/ and /reserved-memory keep from use. A child
/// without `reg` is for an operating system to place, and is left out.
pub(crate) fn reserved(tree: Fdt<'_>) -> Result<Vec<Region>> {
    let mut list = List::<RESERVED_MAX>::new();
    let (root, block) = (Node::root(tree), "(memory reservation block)");
    for (base, size) in tree.reservations() {
        let region = Region { base, size };
        if base.checked_add(size).is_none() {
            return Err(ranges::wraps(root, block, region));
        }
        list.push(region, || root.too_many(block, RESERVED_MAX))?;
    }
    let parent = Node::find(tree, "/reserved-memory");
    let nodes = parent.into_iter().flat_map(Node::children);
    for node in nodes.filter(|node| node.is_available()) {
        list.append(node)?;
    }
    Ok(list.regions)
}
