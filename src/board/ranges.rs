//! From a bus address in `reg` to the address that a CPU uses.
//!
//! Devicetree Specification v0.4, sections 2.3.5 (`#address-cells`), 2.3.6
//! (`reg`) and 2.3.8 (`ranges`): each bus between a device and the root
//! translates; an empty `ranges` is the identity, none at all means that
//! the CPUs cannot reach the bus. Half of Linux's arm64 boards have their
//! console under a non-empty `ranges`.

use super::error::Problem;
use super::fdt::{Node, Read, number};
use super::tree::Chain;
pub use crate::spec::region::Region;

/// `#address-cells` and `#size-cells` of a bus.
#[derive(Clone, Copy)]
struct Cells {
    address: u32,
    size: u32,
}

impl Cells {
    fn of(bus: Node<'_, '_>) -> Read<Self> {
        let beyond = "1 or 2 (a device behind PCI cannot be used)";
        Ok(Self {
            address: Self::count(bus, "#address-cells", 2, beyond)?,
            size: Self::count(bus, "#size-cells", 1, "1 or 2")?,
        })
    }

    fn count(
        bus: Node<'_, '_>,
        name: &'static str,
        default: u32,
        expected: &'static str,
    ) -> Read<u32> {
        let value = bus.u32(name)?.unwrap_or(default);
        if !matches!(value, 1 | 2) {
            return Err(bus.wrong_value(name, value.into(), expected));
        }
        Ok(value)
    }
}

/// Bytes in so many cells.
fn bytes(cells: u32) -> usize {
    cells as usize * 4
}

/// Takes a number of one or two cells off the front of `cells`.
fn take(cells: &mut &[u8], count: u32) -> u64 {
    let (head, rest) = cells.split_at_checked(bytes(count)).unwrap_or((cells, &[]));
    *cells = rest;
    number(head)
}

/// The `reg` of a chain's last node, of whole entries only.
struct Reg<'t> {
    cells: Cells,
    value: &'t [u8],
}

impl<'t> Reg<'t> {
    fn of(chain: &Chain<'_, 't>) -> Read<Option<Self>> {
        let node = chain.node();
        let Some(value) = node.value("reg") else {
            return Ok(None);
        };
        let parent = chain.nodes().iter().rev().nth(1).unwrap_or(&node);
        let reg = Self {
            cells: Cells::of(*parent)?,
            value,
        };
        if !value.len().is_multiple_of(reg.entry()) {
            let expected = "whole entries of address and size";
            return Err(node.length("reg", value.len(), expected));
        }
        Ok(Some(reg))
    }

    /// Bytes in an entry.
    fn entry(&self) -> usize {
        bytes(self.cells.address + self.cells.size)
    }
}

/// How many regions the `reg` of the chain's last node has.
pub(crate) fn count(chain: &Chain<'_, '_>) -> Read<usize> {
    let reg = Reg::of(chain)?;
    let count = reg.and_then(|reg| reg.value.len().checked_div(reg.entry()));
    Ok(count.unwrap_or(0))
}

/// Entry `index` of the last node's `reg`, as the CPUs see it; an empty one
/// as it is, for there is nothing to see.
pub(crate) fn region_or_empty(chain: &Chain<'_, '_>, index: usize) -> Read<Region> {
    let node = chain.node();
    let reg = Reg::of(chain)?.ok_or_else(|| node.missing("reg"))?;
    let at = index.checked_mul(reg.entry());
    let rest = at.and_then(|at| reg.value.get(at..));
    // Whole entries: where something is left, that is one at least.
    let Some(mut rest) = rest.filter(|rest| !rest.is_empty()) else {
        return Err(node.length("reg", reg.value.len(), "more entries"));
    };
    let mut region = Region {
        base: take(&mut rest, reg.cells.address),
        size: take(&mut rest, reg.cells.size),
    };
    if region.size == 0 {
        return Ok(region);
    }
    // From the device's bus up to, and without, the root.
    let (_, buses) = chain.nodes().split_last().unwrap_or((&node, &[]));
    for step in buses.windows(2).rev() {
        if let [parent, bus] = step {
            region.base = translate(*bus, *parent, region)?;
        }
    }
    let Region { base, size } = region;
    if base.checked_add(size).is_none() {
        return Err(node.error("reg", Problem::Wraps { base, size }));
    }
    Ok(region)
}

/// Entry `index` of the last node's `reg`, as the CPUs see it.
pub(crate) fn region(chain: &Chain<'_, '_>, index: usize) -> Read<Region> {
    let region = region_or_empty(chain, index)?;
    if region.size == 0 {
        let problem = Problem::Empty(region.base);
        return Err(chain.node().error("reg", problem));
    }
    Ok(region)
}

/// Where `region` of the addresses on `bus` begins among its parent's.
fn translate(bus: Node<'_, '_>, parent: Node<'_, '_>, region: Region) -> Read<u64> {
    let Some(mut ranges) = bus.value("ranges") else {
        return Err(bus.error("ranges", Problem::Unreachable));
    };
    if ranges.is_empty() {
        return Ok(region.base);
    }
    let (child, parent) = (Cells::of(bus)?, Cells::of(parent)?);
    let entry = bytes(child.address + parent.address + child.size);
    if !ranges.len().is_multiple_of(entry) {
        let expected = "whole entries of both addresses and size";
        return Err(bus.length("ranges", ranges.len(), expected));
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
        return match to.checked_add(offset) {
            Some(base) => Ok(base),
            None => Err(bus.error("ranges", Problem::Wraps { base: to, size })),
        };
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
