//! The translation of a bus address in `reg` to the address that a CPU uses.
//!
//! Devicetree Specification v0.4, sections 2.3.5 (`#address-cells`), 2.3.6
//! (`reg`) and 2.3.8 (`ranges`): each bus between a device and the root
//! translates; an empty `ranges` is the identity, and without `ranges`
//! the CPUs cannot reach the bus. Half of Linux's arm64 boards have their
//! console under a non-empty `ranges`.

use alloc::boxed::Box;

use super::error::{BoardError, Result};
use super::fdt::number;
use super::node::Node;
use super::tree::Chain;

pub use crate::spec::region::{PAGE, Region};

/// `#address-cells` and `#size-cells` of a bus.
#[derive(Clone, Copy)]
struct Cells {
    address: u32,
    size: u32,
}

impl Cells {
    fn of(bus: Node<'_>) -> Result<Self> {
        let count = |name, default, expected| match bus.u32(name)?.unwrap_or(default) {
            value @ 1..=2 => Ok(value),
            value => Err(bus.wrong_value(name, value.into(), expected)),
        };
        let beyond = "1 or 2 (a device on PCI cannot be used)";
        Ok(Self {
            address: count("#address-cells", 2, beyond)?,
            size: count("#size-cells", 1, "1 or 2")?,
        })
    }
}

/// Returns the number of bytes in `cells` cells.
fn bytes(cells: u32) -> usize {
    cells as usize * 4
}

/// Takes a number of one or two cells off the front of `cells`.
fn take(cells: &mut &[u8], count: u32) -> u64 {
    let (head, rest) = cells.split_at_checked(bytes(count)).unwrap_or((cells, &[]));
    *cells = rest;
    number(head)
}

/// The `reg` of a chain's last node; it has whole entries only.
struct Reg<'t> {
    cells: Cells,
    value: &'t [u8],
}

impl<'t> Reg<'t> {
    fn of(chain: &Chain<'t>) -> Result<Option<Self>> {
        let node = chain.node;
        let Some(value) = node.value("reg") else {
            return Ok(None);
        };
        let parent = chain.parents.last().unwrap_or(&node);
        let reg = Self {
            cells: Cells::of(*parent)?,
            value,
        };
        if !value.len().is_multiple_of(reg.entry()) {
            let expected = "whole entries of address and size";
            return Err(node.wrong_length("reg", value.len(), expected));
        }
        Ok(Some(reg))
    }

    /// Returns the bytes in an entry.
    fn entry(&self) -> usize {
        bytes(self.cells.address + self.cells.size)
    }
}

/// Counts the regions in the `reg` of the chain's last node.
pub(crate) fn count(chain: &Chain<'_>) -> Result<usize> {
    let reg = Reg::of(chain)?;
    let count = reg.and_then(|reg| reg.value.len().checked_div(reg.entry()));
    Ok(count.unwrap_or(0))
}

/// Reads entry `index` of the last node's `reg` as the CPUs address it. An empty
/// entry is not translated.
pub(crate) fn region_or_empty(chain: &Chain<'_>, index: usize) -> Result<Region> {
    let node = chain.node;
    let reg = Reg::of(chain)?.ok_or_else(|| node.missing("reg"))?;
    let at = index.checked_mul(reg.entry());
    let rest = at.and_then(|at| reg.value.get(at..));
    // Entries are whole, so that any rest has at least one.
    let Some(mut rest) = rest.filter(|rest| !rest.is_empty()) else {
        return Err(node.wrong_length("reg", reg.value.len(), "more entries"));
    };
    let mut region = Region {
        base: take(&mut rest, reg.cells.address),
        size: take(&mut rest, reg.cells.size),
    };
    if region.size == 0 {
        return Ok(region);
    }
    // From the device's bus up to, and without, the root.
    for step in chain.parents.windows(2).rev() {
        if let [parent, bus] = step {
            region.base = translate(*bus, *parent, region)?;
        }
    }
    match region.base.checked_add(region.size) {
        Some(_) => Ok(region),
        None => Err(wraps(node, "reg", region)),
    }
}

/// Reads entry `index` of the last node's `reg` as the CPUs address it.
pub(crate) fn region(chain: &Chain<'_>, index: usize) -> Result<Region> {
    let region = region_or_empty(chain, index)?;
    if region.size == 0 {
        let message = format_args!("the region at {:#x} has no size", region.base);
        return Err(chain.node.error("reg", message));
    }
    Ok(region)
}

/// Reads the first address of a node's registers; `None` unless they are a page.
pub(crate) fn page(node: Node<'_>) -> Option<u64> {
    let region = region(&Chain::to(node), 0).ok()?;
    region.is_page().then_some(region.base)
}

/// Makes the error of a region that ends beyond the address space.
pub(crate) fn wraps(node: Node<'_>, property: &'static str, region: Region) -> Box<BoardError> {
    let Region { base, size } = region;
    let message = format_args!("{size:#x} bytes at {base:#x} exceed 64-bit addresses");
    node.error(property, message)
}

/// Translates the base of `region` from addresses on `bus` to its parent's.
fn translate(bus: Node<'_>, parent: Node<'_>, region: Region) -> Result<u64> {
    let Some(mut ranges) = bus.value("ranges") else {
        let message = "missing, so what is on this bus has no address for the CPUs";
        return Err(bus.error("ranges", format_args!("{message}")));
    };
    if ranges.is_empty() {
        return Ok(region.base);
    }
    let (child, parent) = (Cells::of(bus)?, Cells::of(parent)?);
    let entry = bytes(child.address + parent.address + child.size);
    if !ranges.len().is_multiple_of(entry) {
        let expected = "whole entries of both addresses and size";
        return Err(bus.wrong_length("ranges", ranges.len(), expected));
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
        let base = to.checked_add(offset);
        return base.ok_or_else(|| wraps(bus, "ranges", Region { base: to, size }));
    }
    let Region { base, size } = region;
    let message = format_args!("no entry holds {size:#x} bytes at {base:#x}");
    Err(bus.error("ranges", message))
}
