//! The console, from SPCR or DBG2 (Microsoft specifications referenced by ACPI 6.5).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem::offset_of;

use hardware::board::{FormatError, Region};
use hardware::image::UartKind;

use super::layouts::{Dbg2, DebugDevice, GenericAddress, Spcr};
use super::table::AcpiTable;
use super::tables::Tables;
use crate::{DeviceTreeNode, Result, nodes};

/// The DBG2 type for a serial port.
const SERIAL: u16 = 0x8000;

/// Builds the console node.
pub fn console(tables: &Tables<'_>) -> Result<DeviceTreeNode> {
    if let Some(spcr) = tables.get(*b"SPCR")? {
        let fields = spcr.read::<Spcr>(0)?;
        // Address 0 means that the console is not in use.
        if fields.address.address.get() != 0 {
            let kind_at = offset_of!(Spcr, interface_type);
            let kind = fields.interface_type.into();
            return uart(&spcr, kind, kind_at, offset_of!(Spcr, address));
        }
    }
    if let Some(dbg2) = tables.get(*b"DBG2")? {
        let fields = dbg2.read::<Dbg2>(0)?;
        let first = fields.first_offset.get();
        let count = fields.count.get();
        // DBG2 entries start with a revision instead of a type.
        for entry in dbg2.entries(first as usize, 2).take(count as usize) {
            let entry = entry?;
            let device = entry.read::<DebugDevice>(0)?;
            if device.port_type.get() != SERIAL || device.address_count == 0 {
                continue;
            }
            let at = entry.at + usize::from(device.address_offset.get());
            // As in the SPCR, address 0 means that the console is not in use.
            if dbg2.read::<GenericAddress>(at)?.address.get() != 0 {
                let kind_at = entry.at + offset_of!(DebugDevice, port_subtype);
                return uart(&dbg2, device.port_subtype.get(), kind_at, at);
            }
        }
    }
    Err(FormatError::new(format_args!(
        "no console: no SPCR table has an address, and no DBG2 table has a serial port; use a \
         device tree instead"
    )))
}

/// Builds a UART node. `kind` is the UART type, which is at offset `kind_at`. The Generic Address
/// Structure for the UART (ACPI 6.5, section 5.2.3.2) is at offset `at`.
fn uart(table: &AcpiTable<'_>, kind: u16, kind_at: usize, at: usize) -> Result<DeviceTreeNode> {
    let address = table.read::<GenericAddress>(at)?;
    let base = address.address.get();
    let space = address.space;
    if space != 0 {
        let message = format_args!("the UART is in address space {space}, expected 0 (memory)");
        return Err(table.error(at, message));
    }
    let types = u8::try_from(kind).ok();
    let Some(kind) = types.and_then(UartKind::from_acpi_type) else {
        let message = format_args!(
            "UART type {kind:#x}, expected {}: use a device tree instead",
            known_types()
        );
        return Err(table.error(kind_at, message));
    };
    if !kind.descriptor().is_numbered {
        // Ignore the access size because tables on real boards specify byte access.
        let page = Region { base, size: 0x1000 };
        return Ok(nodes::uart(kind, page, None, None));
    }
    let (shift, width) = layout(table, at)?;
    let registers = Region {
        base,
        size: 8 << shift,
    };
    Ok(nodes::uart(kind, registers, Some(shift), Some(width)))
}

/// Returns a list of the known UART types: "3 (PL011), 0 or 1 (16550)".
fn known_types() -> String {
    let mut known = Vec::new();
    for kind in UartKind::ALL.iter().map(|kind| kind.descriptor()) {
        let types: Vec<_> = kind
            .acpi_types
            .iter()
            .map(|number| format!("{number:#x}"))
            .collect();
        if !types.is_empty() {
            known.push(format!("{} ({})", types.join(" or "), kind.title));
        }
    }
    known.join(", ")
}

/// Returns a 16550's shift from register number to byte offset, and its access width in bytes.
/// The bit width specifies the register stride, which is at least the access width.
fn layout(table: &AcpiTable<'_>, at: usize) -> Result<(u8, u8)> {
    let address = table.read::<GenericAddress>(at)?;
    let bits = address.bit_width;
    let access = match address.access_size {
        size @ 0..=3 => size.saturating_sub(1),
        size => {
            let at = at + offset_of!(GenericAddress, access_size);
            let message = format_args!("access size {size}, expected 0 to 3");
            return Err(table.error(at, message));
        }
    };
    match bits {
        0 | 8 | 16 | 32 | 64 | 128 => {
            let distance = (bits / 8).max(1).ilog2() as u8;
            Ok((distance.max(access), 1 << access))
        }
        _ => {
            let message = format_args!("bit width {bits}, expected 0, 8, 16, 32, 64 or 128");
            Err(table.error(at + offset_of!(GenericAddress, bit_width), message))
        }
    }
}
