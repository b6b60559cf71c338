//! Finds the console UART through `/chosen/stdout-path`.
//!
//! See Devicetree Specification v0.4, sections 3.6 (`stdout-path`), 3.3 (`/aliases`) and 4.2
//! (`reg-shift`, `reg-io-width`, `reg-offset`). The UART keeps the firmware's settings, so the
//! baud rate and clock do not matter.

use alloc::string::ToString as _;

use super::fdt::Fdt;
use super::node::{Node, first_text};
use super::{ranges, reference};
use crate::devices::uart::{AnyUart, Description as Uart, Layout, UartKind, registers};
use crate::image::Conduit;
use crate::text::format_error::{FormatError, Result};

/// The information needed to report an unusable device tree: the UART for the message and the
/// conduit for the subsequent SYSTEM_OFF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeConsole {
    /// The console UART, or the reason why it is not available.
    pub uart: Result<Uart, FormatError>,
    /// The property that specifies the UART, such as "/chosen/stdout-path".
    pub by: &'static str,
    /// The conduit, or the reason why it is not available.
    pub conduit: Result<Conduit, FormatError>,
}

impl TreeConsole {
    /// Looks for the UART and conduit in `tree`. Either can be missing.
    ///
    /// # Errors
    /// Returns an error if `tree` is not a valid flattened device tree.
    pub fn find(tree: &[u8]) -> Result<Self, FormatError> {
        let tree = super::fdt::open(tree)?;
        Ok(Self {
            uart: uart(tree),
            by: locate(tree).map_or("", |(_, by)| by),
            conduit: super::psci_node::conduit(tree),
        })
    }
}

/// Reads the UART specified by `/chosen` or, failing that, by the `serial0` alias.
pub(crate) fn uart(tree: Fdt<'_>) -> Result<Uart> {
    let node = locate(tree)?.0;
    for node in node.parents().into_iter().chain([node]) {
        if !node.is_available() {
            let value = node.text("status")?.unwrap_or("");
            let expected = "okay because the console needs it";
            return Err(node.wrong_text("status", value, expected));
        }
    }
    let compatible = node.required("compatible")?;
    let mut names = compatible.split(|byte| *byte == 0);
    let Some((kind, mut layout)) = names.find_map(UartKind::from_compatible) else {
        return Err(match first_text(compatible) {
            None => node.not_text("compatible"),
            Some(value) => node.wrong_text("compatible", value, &AnyUart.to_string()),
        });
    };
    if node.value("big-endian").is_some() {
        return Err(node.error("big-endian", format_args!("not supported")));
    }
    if kind.descriptor().is_numbered {
        let wrong =
            |name, value: u32, expected| Err(node.wrong_value(name, value.into(), expected));
        let reg_shift = match node.u32("reg-shift")? {
            None => layout.reg_shift,
            Some(shift @ 0..=4) => shift as u8,
            Some(shift) => return wrong("reg-shift", shift, "0 to 4"),
        };
        let io_width = match node.u32("reg-io-width")? {
            None => layout.io_width,
            Some(width @ (1 | 2 | 4)) => width as u8,
            Some(width) => return wrong("reg-io-width", width, "1, 2 or 4"),
        };
        if io_width > 1 << reg_shift {
            let expected = "at most the register spacing";
            return wrong("reg-io-width", io_width.into(), expected);
        }
        layout = Layout::new(reg_shift, io_width);
    }
    // The registers start `reg-offset` bytes into the `reg` region.
    let region = ranges::region(node, 0)?;
    let offset = u64::from(node.u32("reg-offset")?.unwrap_or(0));
    let base = region.base.saturating_add(offset);
    let uart = Uart::new(kind, base, layout);
    if region.size < offset.saturating_add(registers(&uart).size) {
        return Err(node.wrong_value("reg", region.size, "a size that covers all registers"));
    }
    if !uart.is_aligned() {
        let expected = "an address aligned to reg-io-width";
        return Err(node.wrong_value("reg", base, expected));
    }
    Ok(uart)
}

/// Returns the console node and the property that specifies it.
fn locate<'t>(tree: Fdt<'t>) -> Result<(Node<'t>, &'static str)> {
    // Linux used the second name before the first was standardized.
    for (name, by) in [
        ("stdout-path", "/chosen/stdout-path"),
        ("linux,stdout-path", "/chosen/linux,stdout-path"),
    ] {
        if let Some(node) = reference::in_chosen(tree, name)? {
            return Ok((node, by));
        }
    }
    let none = "no stdout-path in /chosen and no alias serial0, so the console is unknown";
    let node = reference::resolve(tree, "serial0")?;
    let node = node.ok_or_else(|| FormatError::new(format_args!("{none}")))?;
    Ok((node, "alias serial0"))
}
