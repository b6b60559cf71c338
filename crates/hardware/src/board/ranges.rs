//! Translates a bus address in `reg` to a CPU address.
//!
//! See Devicetree Specification v0.4, sections 2.3.5 (`#address-cells`), 2.3.6 (`reg`) and 2.3.8
//! (`ranges`). Each bus between a device and the root translates the address. An empty `ranges`
//! leaves the address unchanged. Without `ranges`, CPUs cannot reach the bus. On half of the arm64
//! boards that Linux supports, the console is behind a bus with a nonempty `ranges`.

use super::fdt::number;
use super::node::Node;
use crate::text::format_error::{FormatError, Result};

pub use crate::spec::region::{PAGE, Region};

/// Returns the number of bytes in an address and in a size on a bus.
fn cells(bus: Node<'_>) -> Result<(usize, usize)> {
    let bytes = |name, default, expected_text| match bus.u32(name)?.unwrap_or(default) {
        cells @ 1..=2 => Ok(cells as usize * 4),
        cells => Err(bus.wrong_value(name, cells.into(), expected_text)),
    };
    let beyond = "1 or 2 (PCI devices are not supported)";
    let address = bytes("#address-cells", 2, beyond)?;
    Ok((address, bytes("#size-cells", 1, "1 or 2")?))
}

/// Removes a `bytes`-byte number from the front of `cells` and returns it.
fn take(cells: &mut &[u8], bytes: usize) -> u64 {
    let (head, rest) = cells.split_at_checked(bytes).unwrap_or((cells, &[]));
    *cells = rest;
    number(head)
}

/// Returns the entries in a node's `reg` as CPU addresses. The iterator is empty if there is no
/// `reg`. Empty entries are not translated.
pub(crate) fn regions<'t>(
    node: Node<'t>,
) -> Result<impl ExactSizeIterator<Item = Result<Region>> + use<'t>> {
    let buses = node.parents();
    let parent = buses.last().copied().unwrap_or(node);
    let value = node.value("reg").unwrap_or(&[]);
    let (address_bytes, size_bytes) = match value {
        [] => (4, 4),
        _ => cells(parent)?,
    };
    let entry_bytes = address_bytes + size_bytes;
    if !value.len().is_multiple_of(entry_bytes) {
        let expected = "complete pairs of address and size";
        return Err(node.wrong_length("reg", value.len(), expected));
    }
    Ok(value.chunks_exact(entry_bytes).map(move |mut entry| {
        let base = take(&mut entry, address_bytes);
        let size = take(&mut entry, size_bytes);
        translate(node, &buses, Region { base, size })
    }))
}

/// Reads entry `index` in a node's `reg` as a CPU address.
pub(crate) fn region(node: Node<'_>, index: usize) -> Result<Region> {
    let length = node.required("reg")?.len();
    let entry = regions(node)?.nth(index);
    let region = entry.ok_or_else(|| node.wrong_length("reg", length, "more entries"))??;
    if region.size == 0 {
        let message = format_args!("the region at {:#x} is empty", region.base);
        return Err(node.error("reg", message));
    }
    Ok(region)
}

/// Reads the base address of a node's registers. Returns `None` unless they occupy whole pages that
/// can be mapped.
pub(crate) fn page(node: Node<'_>) -> Option<u64> {
    let region = region(node, 0).ok()?;
    region.is_page().then_some(region.base)
}

/// Builds the error for a region that extends past the end of the address space.
pub(crate) fn wraps(node: Node<'_>, property: &'static str, region: Region) -> FormatError {
    let Region { base, size } = region;
    let message = format_args!("{size:#x} bytes at {base:#x} exceed 64-bit addresses");
    node.error(property, message)
}

/// Translates a region from the bus that `node` is on (the last in `buses`) to the root bus.
fn translate(node: Node<'_>, buses: &[Node<'_>], mut region: Region) -> Result<Region> {
    if region.size == 0 {
        return Ok(region);
    }
    for step in buses.windows(2).rev() {
        if let [parent, bus] = step {
            region.base = translate_base(*bus, *parent, region)?;
        }
    }
    match region.base.checked_add(region.size) {
        Some(_) => Ok(region),
        None => Err(wraps(node, "reg", region)),
    }
}

/// Translates the base of `region` from an address on `bus` to an address on `parent`.
fn translate_base(bus: Node<'_>, parent: Node<'_>, region: Region) -> Result<u64> {
    let Some(mut ranges) = bus.value("ranges") else {
        let message = "missing, so the CPUs cannot reach devices on this bus";
        return Err(bus.error("ranges", format_args!("{message}")));
    };
    if ranges.is_empty() {
        return Ok(region.base);
    }
    let (child_address, child_size) = cells(bus)?;
    let (parent_address, _) = cells(parent)?;
    let entry = child_address + parent_address + child_size;
    if !ranges.len().is_multiple_of(entry) {
        let expected = "complete entries of two addresses and a size";
        return Err(bus.wrong_length("ranges", ranges.len(), expected));
    }
    while !ranges.is_empty() {
        let from = take(&mut ranges, child_address);
        let to = take(&mut ranges, parent_address);
        let size = take(&mut ranges, child_size);
        if let Some(offset) = region.base.checked_sub(from)
            && offset <= size
            && region.size <= size - offset
        {
            let base = to.checked_add(offset);
            return base.ok_or_else(|| wraps(bus, "ranges", Region { base: to, size }));
        }
    }
    let Region { base, size } = region;
    let message = format_args!("no entry covers {size:#x} bytes at {base:#x}");
    Err(bus.error("ranges", message))
}
