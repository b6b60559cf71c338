//! The UART to print on: `/chosen/stdout-path`.
//!
//! Devicetree Specification v0.4, sections 3.6 (`stdout-path`), 3.3
//! (`/aliases`) and 4.2 (`reg-shift`, `reg-io-width`, `reg-offset`). A UART is
//! used as the firmware left it, so speed and clock are of no interest.

use super::error::{BoardError, Problem};
use super::fdt::{Node, Read, Tree, until};
use super::tree::{Chain, compatible_with, first_text};
use super::{Found, ranges};
use crate::image::{Conduit, UartKind};

/// The console's UART.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uart {
    /// Programming model.
    pub kind: UartKind,
    /// Physical address of register 0.
    pub base: u64,
    /// Size in bytes of the register window from there.
    pub size: u64,
    /// Left shift from register number to byte offset, 0 to 4 (16550 only).
    pub reg_shift: u8,
    /// Width of a register access in bytes: 1 or 4.
    pub io_width: u8,
}

/// What is needed to say that the rest of a device tree is not usable: the
/// UART to say it on, and the conduit for SYSTEM_OFF afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Console<'t> {
    /// The console's UART, or why there is none.
    pub uart: Result<Uart, BoardError<'t>>,
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
            conduit: tree.outcome(Found::search(&tree).conduit(&tree)),
        })
    }
}

/// PL011 first, then 16550.
const COMPATIBLE: &str = "arm,pl011 arm,sbsa-uart \
    ns16550a ns16550 ns16450 ns8250 ns16850 snps,dw-apb-uart fsl,ns16550 fsl,16550-FIFO64 \
    nvidia,tegra20-uart mrvl,mmp-uart \
    mediatek,mt6577-uart ti,am654-uart ti,omap4-uart brcm,bcm2835-aux-uart";
const SUPPORTED: &str = "arm,pl011, ns16550a or another PL011 or 8250 compatible";

/// Programming model of a UART by place in [`COMPATIBLE`], and what that
/// implies when `reg-shift` and `reg-io-width` are absent, as in the Linux
/// drivers for it. PL011 registers are 32 bits apart, and an SBSA UART may be
/// reached by 32-bit accesses only.
const fn model(place: usize) -> (UartKind, u32, u32) {
    match place {
        0 | 1 => (UartKind::Pl011, 2, 4),
        2..=9 => (UartKind::Ns16550, 0, 1),
        10 | 11 => (UartKind::Ns16550, 2, 1),
        _ => (UartKind::Ns16550, 2, 4),
    }
}

/// The UART that `/chosen` names, else the alias `serial0`.
pub(super) fn uart(tree: &Tree<'_>) -> Read<Uart> {
    let chain = Chain::to(locate(tree)?);
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
    let (kind, shift, width) = model(place);
    let reg_shift = node.u32("reg-shift")?.unwrap_or(shift);
    if reg_shift > 4 {
        return Err(node.wrong_value("reg-shift", reg_shift.into(), "0 to 4"));
    }
    let io_width = node.u32("reg-io-width")?.unwrap_or(width);
    if !matches!(io_width, 1 | 4) {
        return Err(node.wrong_value("reg-io-width", io_width.into(), "1 or 4"));
    }
    window(&chain, kind, reg_shift as u8, io_width as u8)
}

/// The registers: `reg` from `reg-offset` on.
fn window(chain: &Chain<'_, '_>, kind: UartKind, reg_shift: u8, io_width: u8) -> Read<Uart> {
    let node = chain.node();
    let region = ranges::region(chain, 0)?;
    let offset = u64::from(node.u32("reg-offset")?.unwrap_or(0));
    // Up to DMACR of a PL011; eight registers of a 16550.
    let need = match kind {
        UartKind::Pl011 => 0x4c,
        UartKind::Ns16550 => 8u64 << reg_shift,
    };
    let size = match region.size.checked_sub(offset) {
        Some(size) if size >= need => size,
        _ => return Err(node.wrong_value("reg", region.size, "room for all registers")),
    };
    let base = region.base + offset;
    if base & u64::from(io_width - 1) != 0 {
        let expected = "an address aligned to reg-io-width";
        return Err(node.wrong_value("reg", base, expected));
    }
    Ok(Uart {
        kind,
        base,
        size,
        reg_shift,
        io_width,
    })
}

/// The console's node.
fn locate<'c, 't>(tree: &'c Tree<'t>) -> Read<Node<'c, 't>> {
    if let Some(chosen) = tree.find("/chosen") {
        // The second name is what Linux used before the specification had one.
        for name in ["stdout-path", "linux,stdout-path"] {
            let Some(value) = chosen.text(name)? else {
                continue;
            };
            // Behind a colon are speed and the like (section 3.6).
            let length = until(value.as_bytes(), b':').len();
            let path = value.get(..length).unwrap_or(value);
            let node = resolve(tree, path)?;
            return node.ok_or_else(|| chosen.error(name, Problem::NoPath(path)));
        }
    }
    let none = "no stdout-path in /chosen and no alias serial0, so the console is not known";
    resolve(tree, "serial0")?.ok_or_else(|| tree.no_node(none))
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
