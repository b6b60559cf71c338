//! The UART to print on: `/chosen/stdout-path`.
//!
//! Devicetree Specification v0.4, sections 3.6 (`stdout-path`), 3.3
//! (`/aliases`) and 4.2 (`reg-shift`, `reg-io-width`, `reg-offset`). A UART is
//! used as the firmware left it, so speed and clock do not matter.

use super::error::{BoardError, Result};
use super::fdt::Fdt;
use super::found::Found;
use super::node::{Node, VALUE_MAX, compatible_with, first_text};
use super::ranges::{self, Region};
use super::text::Shown;
use crate::devices::uart::size;
use crate::image::UartKind::{self, Cadence, Imx, Lpuart, Ns16550, Pl011, Sbsa, Stm32};
use crate::image::{Conduit, EmergencyUart};

/// The console's UART.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uart {
    /// Programming model.
    pub kind: UartKind,
    /// Physical address of register 0.
    pub base: u64,
    /// Size in bytes of the register window from there.
    pub size: u64,
    /// Left shift from register number to byte offset: 0 to 4 for a 16550, 2 for
    /// all others.
    pub reg_shift: u8,
    /// Width of a register access in bytes: 1, 2 or 4 for a 16550, 4 for all
    /// others.
    pub io_width: u8,
}

impl Uart {
    /// Returns the register window, at least one byte.
    pub fn registers(&self) -> Region {
        Region {
            base: self.base,
            size: self.size.max(1),
        }
    }

    /// Returns true if both are one UART, used in the same way; sizes may differ.
    pub fn is_same(&self, other: &Self) -> bool {
        let size = self.size;
        *self == Self { size, ..*other }
    }

    /// Returns true if every register is aligned to the accesses to it.
    pub fn is_aligned(&self) -> bool {
        let width = u64::from(self.io_width);
        width <= 1 << self.reg_shift && self.base.is_multiple_of(width)
    }
}

impl From<&EmergencyUart> for Uart {
    /// Describes the parameter block's UART as a device tree would.
    fn from(uart: &EmergencyUart) -> Self {
        let (reg_shift, io_width) = match uart.kind {
            Ns16550 => (uart.reg_shift, uart.io_width),
            // 32-bit registers that are 4 bytes apart.
            _ => (2, 4),
        };
        Self {
            kind: uart.kind,
            base: uart.base,
            size: size(uart.kind, reg_shift),
            reg_shift,
            io_width,
        }
    }
}

/// The two things needed to report that the rest of a device tree cannot be used: the
/// UART to print on, and the conduit for SYSTEM_OFF afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Console {
    /// The console's UART, or the reason for its absence.
    pub uart: Result<Uart, BoardError>,
    /// The property that names that UART: "/chosen/stdout-path", or another.
    pub by: &'static str,
    /// The conduit, or the reason for its absence.
    pub conduit: Result<Conduit, BoardError>,
}

impl Console {
    /// Looks for UART and conduit in `tree`; either may be absent.
    ///
    /// # Errors
    /// When `tree` is not a sound flattened device tree.
    pub fn find(tree: &[u8]) -> Result<Self, BoardError> {
        let tree = super::check::open(tree)?;
        Ok(Self {
            uart: uart(tree),
            by: locate(tree).map_or("", |(_, by)| by),
            conduit: Found::search(tree).conduit(tree),
        })
    }
}

/// UARTs by the names in `compatible`, with the `reg-shift` and the `reg-io-width` that
/// the Linux drivers take where those are absent. PL011 registers are 32 bits apart, and
/// an SBSA UART takes 32-bit accesses only.
const MODELS: &[(&str, UartKind, u8, u8)] = &[
    ("arm,pl011", Pl011, 2, 4),
    ("arm,sbsa-uart", Sbsa, 2, 4),
    ("ns16550a ns16550 ns16450 ns8250 ns16850", Ns16550, 0, 1),
    ("snps,dw-apb-uart", Ns16550, 0, 1),
    ("fsl,ns16550 fsl,16550-FIFO64", Ns16550, 0, 1),
    ("nvidia,tegra20-uart mrvl,mmp-uart", Ns16550, 2, 1),
    ("mediatek,mt6577-uart ti,am654-uart", Ns16550, 2, 4),
    ("ti,omap4-uart brcm,bcm2835-aux-uart", Ns16550, 2, 4),
    ("cdns,uart-r1p12 cdns,uart-r1p8", Cadence, 2, 4),
    ("xlnx,xuartps", Cadence, 2, 4),
    ("fsl,imx6q-uart fsl,imx21-uart", Imx, 2, 4),
    ("fsl,imx7ulp-lpuart fsl,imx8ulp-lpuart", Lpuart, 2, 4),
    ("fsl,imx8qxp-lpuart", Lpuart, 2, 4),
    ("st,stm32h7-uart", Stm32, 2, 4),
];
const SUPPORTED: &str = "a PL011, 8250, Cadence, i.MX, LPUART32 or STM32H7 UART";

/// Reads the UART that `/chosen` names, else the alias `serial0`.
pub(crate) fn uart(tree: Fdt<'_>) -> Result<Uart> {
    let node = locate(tree)?.0;
    for node in node.parents().into_iter().chain([node]) {
        if !node.is_available() {
            let value = node.text("status")?.unwrap_or("");
            let expected = "okay, as the console is on it";
            return Err(node.wrong_text("status", value, expected));
        }
    }
    let compatible = node.required("compatible")?;
    let model = |name| {
        MODELS
            .iter()
            .find(|row| compatible_with(name, row.0).is_some())
    };
    let Some(model) = compatible.split(|byte| *byte == 0).find_map(model) else {
        return Err(match first_text(compatible) {
            None => node.not_text("compatible"),
            Some(value) => node.wrong_text("compatible", value, SUPPORTED),
        });
    };
    if node.value("big-endian").is_some() {
        return Err(node.error("big-endian", format_args!("not supported")));
    }
    let (_, kind, mut reg_shift, mut io_width) = *model;
    if kind == Ns16550 {
        reg_shift = choice(node, "reg-shift", reg_shift, |it| it <= 4, "0 to 4")?;
        let is_width = |it| matches!(it, 1 | 2 | 4);
        io_width = choice(node, "reg-io-width", io_width, is_width, "1, 2 or 4")?;
        if io_width > 1 << reg_shift {
            let expected = "no more than from one register to the next";
            return Err(node.wrong_value("reg-io-width", io_width.into(), expected));
        }
    }
    // The registers begin at `reg-offset` in `reg`.
    let region = ranges::region(node, 0)?;
    let offset = u64::from(node.u32("reg-offset")?.unwrap_or(0));
    let size = match region.size.checked_sub(offset) {
        Some(have) if have >= size(kind, reg_shift) => have,
        _ => return Err(node.wrong_value("reg", region.size, "room for all registers")),
    };
    let uart = Uart {
        kind,
        base: region.base + offset,
        size,
        reg_shift,
        io_width,
    };
    if !uart.is_aligned() {
        let expected = "an address aligned to reg-io-width";
        return Err(node.wrong_value("reg", uart.base, expected));
    }
    Ok(uart)
}

/// Reads a number that `accepts` takes; `default` if the property is absent.
fn choice(
    node: Node<'_>,
    name: &'static str,
    default: u8,
    accepts: fn(u32) -> bool,
    expected: &str,
) -> Result<u8> {
    match node.u32(name)?.unwrap_or(default.into()) {
        value if accepts(value) => Ok(value as u8),
        value => Err(node.wrong_value(name, value.into(), expected)),
    }
}

/// Finds the console's node, and returns the property that names it.
fn locate<'t>(tree: Fdt<'t>) -> Result<(Node<'t>, &'static str)> {
    if let Some(chosen) = Node::find(tree, "/chosen") {
        // Linux used the second name before the specification had the first.
        for (name, by) in [
            ("stdout-path", "/chosen/stdout-path"),
            ("linux,stdout-path", "/chosen/linux,stdout-path"),
        ] {
            let Some(value) = chosen.text(name)? else {
                continue;
            };
            // After a colon come speed and the like (section 3.6).
            let path = value.split(':').next().unwrap_or(value);
            let Some(node) = resolve(tree, path)? else {
                let path = Shown(path, VALUE_MAX);
                return Err(chosen.error(name, format_args!("no node has the path \"{path}\"")));
            };
            return Ok((node, by));
        }
    }
    let none = "no stdout-path in /chosen and no alias serial0, so the console is not known";
    let node = resolve(tree, "serial0")?;
    let node = node.ok_or_else(|| BoardError::new(format_args!("{none}")))?;
    Ok((node, "alias serial0"))
}

/// Finds the node of a path, or of an alias and a path below it (section 3.3).
fn resolve<'t>(tree: Fdt<'t>, path: &str) -> Result<Option<Node<'t>>> {
    if path.starts_with('/') {
        return Ok(Node::find(tree, path));
    }
    let (alias, below) = path.split_once('/').unwrap_or((path, ""));
    let aliases = Node::find(tree, "/aliases");
    let Some((aliases, value)) = aliases.and_then(|it| Some((it, it.value(alias)?))) else {
        return Ok(None);
    };
    let target = first_text(value).ok_or_else(|| aliases.not_text("(alias of the console)"))?;
    let target = Node::find(tree, target);
    Ok(target.and_then(|target| target.below(below.as_bytes())))
}
