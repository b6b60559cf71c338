//! From a bus address in `reg` to the address that a CPU uses.
//!
//! Devicetree Specification v0.4, sections 2.3.5 (`#address-cells`), 2.3.6
//! (`reg`) and 2.3.8 (`ranges`): each bus between a device and the root
//! translates; an empty `ranges` is the identity, none at all means that
//! the CPUs cannot reach the bus. Half of Linux's arm64 boards have their
//! console under a non-empty `ranges`.

use super::error::{BoardError, Problem};
use super::fdt::{Node, number};
use super::tree::Chain;

/// A stretch of the physical address space. It has a size, and its end does
/// not exceed 64 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// First address.
    pub base: u64,
    /// Size in bytes.
    pub size: u64,
}

impl Region {
    /// The address behind the last byte.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.base.saturating_add(self.size)
    }

    /// Whether all of `other` lies in this region.
    #[must_use]
    pub const fn contains(&self, other: &Self) -> bool {
        self.base <= other.base && other.end() <= self.end()
    }

    /// Whether the two share a byte.
    #[must_use]
    pub const fn overlaps(&self, other: &Self) -> bool {
        self.base < other.end() && other.base < self.end()
    }
}

/// `#address-cells` and `#size-cells` of a bus.
#[derive(Clone, Copy)]
struct Cells {
    address: usize,
    size: usize,
}

impl Cells {
    fn of<'t>(bus: Node<'t>) -> Result<Self, BoardError<'t>> {
        let count = |name, default, least, expected| {
            let value = bus.u32(name)?.unwrap_or(default);
            if (least..=2).contains(&value) {
                return Ok(value as usize);
            }
            let value = u64::from(value);
            Err(bus.wrong_value(name, value, expected))
        };
        Ok(Self {
            address: count(
                "#address-cells",
                2,
                1,
                "1 or 2 (a device behind PCI cannot be used)",
            )?,
            size: count("#size-cells", 1, 1, "1 or 2")?,
        })
    }
}

/// Takes a number of one or two cells off the front of `cells`.
fn take(cells: &mut &[u8], count: usize) -> u64 {
    let (head, rest) = cells.split_at_checked(count * 4).unwrap_or((cells, &[]));
    *cells = rest;
    number(head)
}

/// How many regions the `reg` of the chain's last node has.
pub(super) fn count<'t>(chain: &Chain<'t>) -> Result<usize, BoardError<'t>> {
    Ok(entries(chain)?.map_or(0, |(cells, reg)| {
        reg.len() / ((cells.address + cells.size) * 4)
    }))
}

/// The raw `reg` of the chain's last node, of whole entries only.
fn entries<'t>(chain: &Chain<'t>) -> Result<Option<(Cells, &'t [u8])>, BoardError<'t>> {
    let node = chain.node();
    let Some(reg) = node.value("reg") else {
        return Ok(None);
    };
    let parent = chain.nodes().len().saturating_sub(2);
    let cells = Cells::of(chain.nodes()[parent])?;
    if !reg.len().is_multiple_of((cells.address + cells.size) * 4) {
        return Err(node.length("reg", reg, "whole entries of address and size"));
    }
    Ok(Some((cells, reg)))
}

/// Entry `index` of the last node's `reg`, as the CPUs see it; an empty one
/// as it is, for there is nothing to see.
pub(super) fn region_or_empty<'t>(
    chain: &Chain<'t>,
    index: usize,
) -> Result<Region, BoardError<'t>> {
    let node = chain.node();
    let (cells, reg) = entries(chain)?.ok_or_else(|| node.error("reg", Problem::Missing))?;
    let entry = (cells.address + cells.size) * 4;
    let mut rest = index
        .checked_mul(entry)
        .and_then(|at| reg.get(at..at + entry))
        .ok_or_else(|| node.length("reg", reg, "more entries"))?;
    let base = take(&mut rest, cells.address);
    let size = take(&mut rest, cells.size);
    let mut region = Region { base, size };
    if size == 0 {
        return Ok(region);
    }
    // From the device's bus up to, and without, the root.
    for bus in (1..chain.nodes().len() - 1).rev() {
        region = translate(chain, bus, region)?;
    }
    if region.base.checked_add(region.size).is_none() {
        let Region { base, size } = region;
        return Err(node.error("reg", Problem::Wraps { base, size }));
    }
    Ok(region)
}

/// Entry `index` of the last node's `reg`, as the CPUs see it.
pub(super) fn region<'t>(chain: &Chain<'t>, index: usize) -> Result<Region, BoardError<'t>> {
    let region = region_or_empty(chain, index)?;
    if region.size == 0 {
        let problem = Problem::Empty(region.base);
        return Err(chain.node().error("reg", problem));
    }
    Ok(region)
}

/// From the addresses on the bus `index` steps below the root to its parent's.
fn translate<'t>(
    chain: &Chain<'t>,
    index: usize,
    region: Region,
) -> Result<Region, BoardError<'t>> {
    let bus = chain.nodes()[index];
    let Some(mut ranges) = bus.value("ranges") else {
        return Err(bus.error("ranges", Problem::Unreachable));
    };
    if ranges.is_empty() {
        return Ok(region);
    }
    let child = Cells::of(bus)?;
    let parent = Cells::of(chain.nodes()[index - 1])?;
    let entry = (child.address + parent.address + child.size) * 4;
    if !ranges.len().is_multiple_of(entry) {
        return Err(bus.length("ranges", ranges, "whole entries of both addresses and size"));
    }
    while !ranges.is_empty() {
        let from = take(&mut ranges, child.address);
        let to = take(&mut ranges, parent.address);
        let size = take(&mut ranges, child.size);
        let Some(offset) = region.base.checked_sub(from) else {
            continue;
        };
        if offset > size || region.size > size - offset {
            continue;
        }
        let wraps = || bus.error("ranges", Problem::Wraps { base: to, size });
        return Ok(Region {
            base: to.checked_add(offset).ok_or_else(wraps)?,
            size: region.size,
        });
    }
    let Region { base, size } = region;
    Err(bus.error(
        "ranges",
        Problem::OutsideRanges {
            address: base,
            size,
        },
    ))
}
