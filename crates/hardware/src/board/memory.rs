//! Usable memory and reserved regions.
//!
//! See Devicetree Specification v0.4, sections 3.4 (`memory`), 3.5 (`/reserved-memory`) and 5.3
//! (memory reservation block).

use alloc::vec::Vec;

use super::fdt::Fdt;
use super::node::{Node, usable_nodes};
use super::ranges::{self, Region};
use crate::text::format_error::{FormatError, Result};

/// The maximum number of memory regions.
pub const MEMORY_MAX: usize = 32;
/// The maximum number of reserved regions.
pub const RESERVED_MAX: usize = 64;

/// Appends the nonempty regions in each node's `reg`, up to `most` regions. Boot loaders fill in
/// the sizes, so entries that are still empty are ignored.
fn append<'t>(
    list: &mut Vec<Region>,
    nodes: impl Iterator<Item = Node<'t>>,
    most: usize,
) -> Result<()> {
    // Count all nodes and entries. The limit bounds the time spent on a tree with only empty
    // entries.
    let mut seen = 0;
    for node in nodes {
        let regions = ranges::regions(node)?;
        seen += 1 + regions.len();
        if seen > 4 * most {
            return Err(node.too_many("reg", most));
        }
        for region in regions {
            match region? {
                Region { size: 0, .. } => {}
                _ if list.len() == most => return Err(node.too_many("reg", most)),
                region => list.push(region),
            }
        }
    }
    Ok(())
}

/// Reads all memory regions, in tree order.
pub(crate) fn read(tree: Fdt<'_>) -> Result<Vec<Region>> {
    // Allocate space for all regions up front. The list cannot grow in place, and the heap has only
    // a few KiB until working memory is found.
    let mut list = Vec::with_capacity(MEMORY_MAX);
    let is_memory = |node: &Node<'_>| node.value("device_type") == Some(b"memory\0");
    append(&mut list, usable_nodes(tree).filter(is_memory), MEMORY_MAX)?;
    if list.is_empty() {
        let message = format_args!("no memory node has a size: the boot loader should fill it in");
        return Err(FormatError::new(message));
    }
    Ok(list)
}

/// Reads the regions reserved by /memreserve/ and /reserved-memory. Children without `reg` are
/// ignored, because the operating system chooses where to allocate them.
pub(crate) fn reserved(tree: Fdt<'_>) -> Result<Vec<Region>> {
    let mut list = Vec::with_capacity(RESERVED_MAX);
    let (root, block) = (Node::root(tree), "(memory reservation block)");
    for (base, size) in tree.reservations().filter(|(_, size)| *size > 0) {
        let region = Region { base, size };
        if base.checked_add(size).is_none() {
            return Err(ranges::wraps(root, block, region));
        }
        if list.len() == RESERVED_MAX {
            return Err(root.too_many(block, RESERVED_MAX));
        }
        list.push(region);
    }
    let parent = Node::find(tree, "/reserved-memory");
    let nodes = parent.into_iter().flat_map(Node::children);
    append(
        &mut list,
        nodes.filter(|node| node.is_available()),
        RESERVED_MAX,
    )?;
    Ok(list)
}
