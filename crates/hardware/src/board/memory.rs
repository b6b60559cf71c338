//! Usable memory and reserved regions.
//!
//! See Devicetree Specification v0.4, sections 3.4 (`memory`), 3.5 (`/reserved-memory`) and 5.3
//! (memory reservation block).

use alloc::vec::Vec;
use core::fmt;

use super::fdt::Fdt;
use super::node::{Node, usable_nodes};
use super::ranges::{self, Region};
use super::reference;
use crate::text::format_error::{FormatError, Result};

/// The maximum number of memory regions.
pub const MEMORY_MAX: usize = 32;
/// The maximum number of reserved regions.
pub const RESERVED_MAX: usize = 64;

/// How the memory nodes were recognized. Only the first kind that the tree has is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemorySource {
    /// By `device_type`, which the specification requires.
    DeviceType,
    /// By `/chosen/zephyr,sram`, with which Zephyr selects its main memory.
    ZephyrSram,
    /// By name. The nodes are children of the root, as in U-Boot's trees for Tegra, and have no
    /// `compatible`, which would make them devices.
    Name,
    /// By `mmio-dram`, as in Zephyr's trees.
    MmioDram,
    /// By `mmio-sram` and by name, as in Zephyr's trees. Other nodes with `mmio-sram` are on-chip
    /// memory, which firmware often owns.
    MmioSram,
}

impl MemorySource {
    const ALL: [Self; 5] = [
        Self::DeviceType,
        Self::ZephyrSram,
        Self::Name,
        Self::MmioDram,
        Self::MmioSram,
    ];
}

impl fmt::Display for MemorySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DeviceType => "device_type",
            Self::ZephyrSram => "/chosen/zephyr,sram",
            Self::Name => "node name",
            Self::MmioDram => "compatible mmio-dram",
            Self::MmioSram => "compatible mmio-sram and node name",
        })
    }
}

/// Appends the nonempty regions in each node's `reg`, up to `most` regions, and returns the number
/// of nodes. Boot loaders fill in the sizes, so entries that are still empty are ignored.
fn append<'t>(
    list: &mut Vec<Region>,
    nodes: &mut dyn Iterator<Item = Node<'t>>,
    most: usize,
) -> Result<usize> {
    // Count all nodes and entries. The limit bounds the time spent on a tree with only empty
    // entries.
    let mut count = 0;
    let mut seen = 0;
    for node in nodes {
        let regions = ranges::regions(node)?;
        count += 1;
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
    Ok(count)
}

/// Reads all memory regions, in tree order.
pub(crate) fn read(tree: Fdt<'_>) -> Result<(MemorySource, Vec<Region>)> {
    // Allocate space for all regions up front. The list cannot grow in place, and the heap has only
    // a few KiB until working memory is found.
    let mut list = Vec::with_capacity(MEMORY_MAX);
    for source in MemorySource::ALL {
        let count = append_memory(&mut list, tree, source)?;
        if !list.is_empty() {
            return Ok((source, list));
        }
        if count > 0 {
            let message =
                format_args!("no memory node has a size: the boot loader should fill it in");
            return Err(FormatError::new(message));
        }
    }
    if let Some(node) = disabled(tree) {
        let value = node.text("status")?.unwrap_or("");
        return Err(node.wrong_text("status", value, "okay, because no other memory is enabled"));
    }
    let is_sram = |node: Node<'_>| node.compatible_with("mmio-sram").is_some();
    let why = if usable_nodes(tree).any(is_sram) {
        "; mmio-sram is used only if /chosen/zephyr,sram refers to it"
    } else {
        ""
    };
    Err(FormatError::new(format_args!(
        "no enabled memory node: none has device_type = \"memory\", and no child of the root is \
         called memory{why}"
    )))
}

/// Returns true if the node's `device_type` is `memory`.
fn has_memory_type(node: &Node<'_>) -> bool {
    node.value("device_type") == Some(b"memory\0")
}

fn is_called_memory(node: &Node<'_>) -> bool {
    node.is_called(b"memory")
}

/// Returns the first memory node that `status` disables.
fn disabled<'t>(tree: Fdt<'t>) -> Option<Node<'t>> {
    let mut nodes = Node::root(tree).subtree();
    let is_memory = |depth: usize, node: Node<'_>| {
        has_memory_type(&node) || depth == 1 && is_called_memory(&node)
    };
    let disabled = nodes.find(|(depth, node)| is_memory(*depth, *node) && !node.is_available());
    disabled.map(|(_, node)| node)
}

/// Appends the regions of the memory nodes of one kind, and returns the number of nodes.
fn append_memory(list: &mut Vec<Region>, tree: Fdt<'_>, source: MemorySource) -> Result<usize> {
    let mut all = usable_nodes(tree);
    let mut append = |nodes: &mut dyn Iterator<Item = _>| append(list, nodes, MEMORY_MAX);
    match source {
        MemorySource::DeviceType => append(&mut all.filter(has_memory_type)),
        MemorySource::ZephyrSram => {
            let chosen = reference::in_chosen(tree, "zephyr,sram")?;
            append(&mut chosen.into_iter().filter(|node| node.is_available()))
        }
        MemorySource::Name => {
            let children = Node::root(tree).children();
            let named = children.filter(is_called_memory);
            append(
                &mut named.filter(|node| node.is_available() && node.compatible().next().is_none()),
            )
        }
        MemorySource::MmioDram => {
            append(&mut all.filter(|node| node.compatible_with("mmio-dram").is_some()))
        }
        MemorySource::MmioSram => {
            // Zephyr's memory regions have a purpose of their own.
            let is_main = |node: &Node<'_>| {
                node.compatible_with("mmio-sram").is_some()
                    && node.compatible_with("zephyr,memory-region").is_none()
            };
            append(&mut all.by_ref().filter(is_called_memory).filter(is_main))
        }
    }
}

/// Reads the regions reserved by /memreserve/ and /reserved-memory. Children without `reg` are
/// ignored, because the operating system chooses where to allocate them.
pub(crate) fn reserved(tree: Fdt<'_>) -> Result<Vec<Region>> {
    let mut list = Vec::with_capacity(RESERVED_MAX);
    let root = Node::root(tree);
    let block = "(memory reservation block)";
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
    if let Some(parent) = Node::find(tree, "/reserved-memory") {
        let mut nodes = parent.children().filter(|node| node.is_available());
        append(&mut list, &mut nodes, RESERVED_MAX)?;
    }
    Ok(list)
}
