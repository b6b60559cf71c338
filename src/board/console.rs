//! The UART to print on: `/chosen/stdout-path`.
//!
//! Devicetree Specification v0.4, sections 3.6 (`stdout-path`), 3.3
//! (`/aliases`) and 4.2 (`reg-shift`, `reg-io-width`, `reg-offset`). A UART is
//! used as the firmware left it, so speed and clock are of no interest.

use super::board::Found;
use super::error::{BoardError, Problem};
use super::fdt::{Node, Read, Tree, until};
use super::ranges::{self, Region};
use super::tree::{Chain, compatible_with, first_text};
use crate::devices::uart::size;
use crate::image::{Conduit, EmergencyUart, UartKind};

/// The console's UART.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uart {
    /// Programming model.
    pub kind: UartKind,
    /// Physical address of register 0.
    pub base: u64,
    /// Size in bytes of the register window from there.
    pub size: u64,
    /// Left shift from register number to byte offset: 0 to 4, and 2 of all
    /// but a 16550.
    pub reg_shift: u8,
    /// Width of a register access in bytes: 1, 2 or 4, and 4 of all but a
    /// 16550.
    pub io_width: u8,
}

impl Uart {
    /// Its registers.
    #[must_use]
    pub fn registers(&self) -> Region {
        Region {
            base: self.base,
            size: self.size.max(1),
        }
    }

    /// Whether both are one UART, used in the same way.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let size = self.size;
        *self == Self { size, ..*other }
    }

    /// Whether every register is aligned to the accesses to it.
    #[must_use]
    pub fn is_aligned(&self) -> bool {
        let width = u64::from(self.io_width);
        width <= 1 << self.reg_shift && self.base.is_multiple_of(width)
    }
}

impl From<&EmergencyUart> for Uart {
    /// The parameter block's UART as a device tree would describe it.
    fn from(uart: &EmergencyUart) -> Self {
        let (reg_shift, io_width) = match uart.kind {
            UartKind::Ns16550 => (uart.reg_shift, uart.io_width),
            _ => WORDS,
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

/// Registers of 32 bits, by their number: 4 bytes apart, 4 bytes an access.
const WORDS: (u8, u8) = (2, 4);

/// What is needed to say that the rest of a device tree is not usable: the
/// UART to say it on, and the conduit for SYSTEM_OFF afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Console<'t> {
    /// The console's UART, or why there is none.
    pub uart: Result<Uart, BoardError<'t>>,
    /// What names that UART: "/chosen/stdout-path", or another place.
    pub by: &'static str,
    /// The conduit, or why there is none.
    pub conduit: Result<Conduit, BoardError<'t>>,
}

impl<'t> Console<'t> {
    /// Looks for the two in `tree`, each on its own.
    ///
    /// # Errors
    /// When `tree` is not a sound flattened device tree.
    pub fn find(tree: &'t [u8]) -> Result<Self, BoardError<'t>> {
        let tree = Tree::new(super::check::open(tree)?);
        Ok(Self {
            uart: tree.outcome(uart(&tree)),
            by: locate(&tree).map_or("", |(_, by)| by),
            conduit: tree.outcome(Found::search(&tree).conduit(&tree)),
        })
    }
}

/// Those of one model side by side.
const COMPATIBLE: &str = "arm,pl011 arm,sbsa-uart \
    ns16550a ns16550 ns16450 ns8250 ns16850 snps,dw-apb-uart fsl,ns16550 fsl,16550-FIFO64 \
    nvidia,tegra20-uart mrvl,mmp-uart \
    mediatek,mt6577-uart ti,am654-uart ti,omap4-uart brcm,bcm2835-aux-uart \
    cdns,uart-r1p12 cdns,uart-r1p8 xlnx,xuartps \
    fsl,imx6q-uart fsl,imx21-uart \
    fsl,imx7ulp-lpuart fsl,imx8ulp-lpuart fsl,imx8qxp-lpuart \
    st,stm32h7-uart";
const SUPPORTED: &str = "a PL011, 8250, Cadence, i.MX, LPUART32 or STM32H7 UART";

/// Programming model of a UART by place in [`COMPATIBLE`], and what that
/// implies when `reg-shift` and `reg-io-width` are absent, as in the Linux
/// drivers for it. PL011 registers are 32 bits apart, and an SBSA UART may be
/// reached by 32-bit accesses only.
const fn model(place: usize) -> (UartKind, u8, u8) {
    let (shift, width) = WORDS;
    match place {
        0 => (UartKind::Pl011, shift, width),
        1 => (UartKind::Sbsa, shift, width),
        2..=9 => (UartKind::Ns16550, 0, 1),
        10 | 11 => (UartKind::Ns16550, 2, 1),
        12..=15 => (UartKind::Ns16550, 2, 4),
        16..=18 => (UartKind::Cadence, shift, width),
        19 | 20 => (UartKind::Imx, shift, width),
        21..=23 => (UartKind::Lpuart, shift, width),
        _ => (UartKind::Stm32, shift, width),
    }
}

/// The UART that `/chosen` names, else the alias `serial0`.
pub(crate) fn uart(tree: &Tree<'_>) -> Read<Uart> {
    let chain = Chain::to(locate(tree)?.0);
    for node in chain.nodes() {
        if !node.available() {
            let value = node.text("status")?.unwrap_or("");
            let expected = "okay, as the console is on it";
            return Err(node.wrong_text("status", value, expected));
        }
    }
    let node = chain.node();
    let compatible = node.required("compatible")?;
    let Some(place) = compatible_with(compatible, COMPATIBLE) else {
        return Err(match first_text(compatible) {
            None => node.error("compatible", Problem::NotText),
            Some(value) => node.wrong_text("compatible", value, SUPPORTED),
        });
    };
    if node.value("big-endian").is_some() {
        return Err(node.error("big-endian", Problem::NotSupported));
    }
    let (kind, mut reg_shift, mut io_width) = model(place);
    if let UartKind::Ns16550 = kind {
        reg_shift = choice(node, "reg-shift", reg_shift, &[0, 1, 2, 3, 4], "0 to 4")?;
        io_width = choice(node, "reg-io-width", io_width, &[1, 2, 4], "1, 2 or 4")?;
        if io_width > 1 << reg_shift {
            let expected = "no more than from one register to the next";
            return Err(node.wrong_value("reg-io-width", io_width.into(), expected));
        }
    }
    window(&chain, kind, reg_shift, io_width)
}

/// A number that is one of `few`; `default` where the property is absent.
fn choice(
    node: Node<'_, '_>,
    name: &'static str,
    default: u8,
    few: &[u8],
    expected: &'static str,
) -> Read<u8> {
    let value = node.u32(name)?.unwrap_or(default.into());
    match few.iter().find(|few| u32::from(**few) == value) {
        Some(value) => Ok(*value),
        None => Err(node.wrong_value(name, value.into(), expected)),
    }
}

/// The registers: `reg` from `reg-offset` on.
fn window(chain: &Chain<'_, '_>, kind: UartKind, reg_shift: u8, io_width: u8) -> Read<Uart> {
    let node = chain.node();
    let region = ranges::region(chain, 0)?;
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

/// The console's node, and what names it.
fn locate<'c, 't>(tree: &'c Tree<'t>) -> Read<(Node<'c, 't>, &'static str)> {
    if let Some(chosen) = tree.find("/chosen") {
        // The second name is what Linux used before the specification had one.
        for (name, by) in [
            ("stdout-path", "/chosen/stdout-path"),
            ("linux,stdout-path", "/chosen/linux,stdout-path"),
        ] {
            let Some(value) = chosen.text(name)? else {
                continue;
            };
            // Behind a colon are speed and the like (section 3.6).
            let length = until(value.as_bytes(), b':').len();
            let path = value.get(..length).unwrap_or(value);
            let node = resolve(tree, path)?;
            let node = node.ok_or_else(|| chosen.error(name, Problem::NoPath(path)));
            return Ok((node?, by));
        }
    }
    let none = "no stdout-path in /chosen and no alias serial0, so the console is not known";
    let node = resolve(tree, "serial0")?.ok_or_else(|| tree.no_node(none))?;
    Ok((node, "alias serial0"))
}

/// The node of a path, or of an alias and a path below it (section 3.3).
fn resolve<'c, 't>(tree: &'c Tree<'t>, path: &str) -> Read<Option<Node<'c, 't>>> {
    if path.starts_with('/') {
        return Ok(tree.find(path));
    }
    let alias = until(path.as_bytes(), b'/');
    let below = path.as_bytes().get(alias.len()..).unwrap_or_default();
    let aliases = tree.find("/aliases");
    let Some((aliases, value)) = aliases.and_then(|node| Some((node, node.value_of(alias)?)))
    else {
        return Ok(None);
    };
    let Some(target) = first_text(value) else {
        return Err(aliases.error("(alias of the console)", Problem::NotText));
    };
    let target = tree.find(target);
    Ok(target.and_then(|target| target.below(below)))
}
