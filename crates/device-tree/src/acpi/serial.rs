//! The console, by SPCR or DBG2 (Microsoft's tables of these names, which ACPI 6.5 refers to).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hardware::board::{FormatError, Region};
use hardware::image::UartKind;

use super::table::Table;
use super::tables::Tables;
use crate::{Node, Result, nodes};

/// Type of a serial port in DBG2.
const SERIAL: u64 = 0x8000;

/// Makes the node of the console.
pub fn console(tables: &Tables<'_>) -> Result<Node> {
    if let Some(spcr) = tables.get(*b"SPCR")?
        // An address of 0 means that the console is not in use.
        && spcr.field(44, 8)? != 0
    {
        return uart(&spcr, spcr.field(36, 1)?, 36, 40);
    }
    if let Some(dbg2) = tables.get(*b"DBG2")? {
        let (first, count) = (dbg2.field(36, 4)? as usize, dbg2.field(40, 4)? as usize);
        // Where other tables have a kind, DBG2 has a revision.
        for entry in dbg2.entries(first, 2).take(count) {
            let entry = entry?;
            let address = entry.at + entry.field(18, 2)? as usize;
            let (count, is_serial) = (entry.field(3, 1)?, entry.field(12, 2)? == SERIAL);
            // As in SPCR, an address of 0 is none.
            if is_serial && count > 0 && dbg2.field(address + 4, 8)? != 0 {
                return uart(&dbg2, entry.field(14, 2)?, entry.at + 14, address);
            }
        }
    }
    Err(FormatError::new(format_args!(
        "no console: there is no ACPI table SPCR with an address, and no DBG2 with a serial \
         port; use a device tree instead"
    )))
}

/// Makes the node of a UART of the type `kind`, which is at the offset `kind_at`, with the
/// Generic Address Structure (ACPI 6.5, section 5.2.3.2) at `at`.
fn uart(table: &Table<'_>, kind: u64, kind_at: usize, at: usize) -> Result<Node> {
    let base = table.field(at + 4, 8)?;
    let space = table.field(at, 1)?;
    if space != 0 {
        let message = format_args!("the UART is in address space {space}, expected 0 (memory)");
        return Err(table.error(at, message));
    }
    let types = u8::try_from(kind).ok();
    let Some(kind) = types.and_then(UartKind::from_acpi_type) else {
        let message = format_args!(
            "UART of type {kind:#x}, expected {}: use a device tree instead",
            known_types()
        );
        return Err(table.error(kind_at, message));
    };
    if !kind.descriptor().is_numbered {
        // The access size is ignored: tables of real boards have a byte there.
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

/// Returns the types with their kinds: "3 (PL011), 0 or 1 (16550)".
fn known_types() -> String {
    let kinds = UartKind::ALL.iter().map(|kind| kind.descriptor());
    let kinds = kinds.filter(|kind| !kind.acpi_types.is_empty());
    let kinds = kinds.map(|kind| {
        let types: Vec<_> = kind
            .acpi_types
            .iter()
            .map(|it| format!("{it:#x}"))
            .collect();
        format!("{} ({})", types.join(" or "), kind.title)
    });
    kinds.collect::<Vec<_>>().join(", ")
}

/// Returns a 16550's shift from register number to offset, and its access width in bytes. The
/// bit width is the distance of two registers, at least an access.
fn layout(table: &Table<'_>, at: usize) -> Result<(u8, u8)> {
    let bits = table.field(at + 1, 1)?;
    let access = match table.field(at + 3, 1)? {
        size @ 0..=3 => size.saturating_sub(1) as u8,
        size => {
            let message = format_args!("access size {size}, expected 0 to 3");
            return Err(table.error(at + 3, message));
        }
    };
    match bits {
        0 | 8 | 16 | 32 | 64 | 128 => {
            let distance = (bits / 8).max(1).trailing_zeros() as u8;
            Ok((distance.max(access), 1 << access))
        }
        _ => {
            let expected = "0, 8, 16, 32, 64 or 128";
            let message = format_args!("a bit width of {bits}, expected {expected}");
            Err(table.error(at + 1, message))
        }
    }
}
