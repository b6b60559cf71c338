//! The UART to print on: `/chosen/stdout-path`.
//!
//! Devicetree Specification v0.4, sections 3.6 (`stdout-path`), 3.3
//! (`/aliases`) and 4.2 (`reg-shift`, `reg-io-width`, `reg-offset`). A UART is
//! used as the firmware left it, so speed and clock are of no interest.

use super::error::{BoardError, Problem};
use super::fdt::{Fdt, Node};
use super::firmware;
use super::ranges;
use super::tree::{Chain, compatible_with, first_text};
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
        let fdt = super::check::open(tree)?;
        Ok(Self {
            uart: uart(fdt),
            conduit: firmware::conduit(fdt),
        })
    }
}

/// A `compatible` string with what it implies when `reg-shift` and
/// `reg-io-width` are absent, as in the Linux drivers for it.
struct Model {
    kind: UartKind,
    reg_shift: u8,
    io_width: u8,
}

const fn model(kind: UartKind, reg_shift: u8, io_width: u8) -> Model {
    Model {
        kind,
        reg_shift,
        io_width,
    }
}

const COMPATIBLE: [&str; 16] = [
    "arm,pl011",
    "arm,sbsa-uart",
    "ns16550a",
    "ns16550",
    "ns16450",
    "ns8250",
    "ns16850",
    "snps,dw-apb-uart",
    "fsl,ns16550",
    "fsl,16550-FIFO64",
    "nvidia,tegra20-uart",
    "mrvl,mmp-uart",
    "mediatek,mt6577-uart",
    "ti,am654-uart",
    "ti,omap4-uart",
    "brcm,bcm2835-aux-uart",
];
const SUPPORTED: &str = "arm,pl011, ns16550a or another PL011 or 8250 compatible";

/// By index in [`COMPATIBLE`]. PL011 registers are 32 bits apart, and an SBSA
/// UART may be reached by 32-bit accesses only.
const fn model_of(index: usize) -> Model {
    match index {
        0 | 1 => model(UartKind::Pl011, 2, 4),
        2..=9 => model(UartKind::Ns16550, 0, 1),
        10 | 11 => model(UartKind::Ns16550, 2, 1),
        _ => model(UartKind::Ns16550, 2, 4),
    }
}

/// The UART that `/chosen` names, else the alias `serial0`.
pub(super) fn uart(fdt: Fdt<'_>) -> Result<Uart, BoardError<'_>> {
    let chain = locate(fdt)?;
    let node = chain.node();
    for index in 0..chain.nodes().len() {
        let node = chain.nodes()[index];
        if !node.available() {
            let value = node.text("status")?.unwrap_or("");
            let expected = "okay, as the console is on it";
            return Err(node.error("status", Problem::Text { value, expected }));
        }
    }
    let compatible = node.required("compatible")?;
    let Some(index) = compatible_with(compatible, &COMPATIBLE) else {
        return Err(match first_text(compatible) {
            None => node.error("compatible", Problem::NotText),
            Some(value) => node.error(
                "compatible",
                Problem::Text {
                    value,
                    expected: SUPPORTED,
                },
            ),
        });
    };
    let model = model_of(index);
    let reg_shift = small(
        node,
        "reg-shift",
        model.reg_shift,
        &[0, 1, 2, 3, 4],
        "0 to 4",
    )?;
    let io_width = small(node, "reg-io-width", model.io_width, &[1, 4], "1 or 4")?;
    window(&chain, model.kind, reg_shift, io_width)
}

/// The registers: `reg` from `reg-offset` on.
fn window<'t>(
    chain: &Chain<'t>,
    kind: UartKind,
    reg_shift: u8,
    io_width: u8,
) -> Result<Uart, BoardError<'t>> {
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
        _ => {
            let (value, expected) = (region.size, "room for all registers");
            return Err(node.wrong_value("reg", value, expected));
        }
    };
    let base = region.base + offset;
    if !base.is_multiple_of(u64::from(io_width)) {
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

fn small<'t>(
    node: Node<'t>,
    name: &'static str,
    default: u8,
    accepted: &[u8],
    expected: &'static str,
) -> Result<u8, BoardError<'t>> {
    let Some(value) = node.u32(name)? else {
        return Ok(default);
    };
    let known = accepted.iter().find(|known| u32::from(**known) == value);
    known.copied().ok_or_else(|| {
        let value = u64::from(value);
        node.wrong_value(name, value, expected)
    })
}

/// The console's node with its parents.
fn locate(fdt: Fdt<'_>) -> Result<Chain<'_>, BoardError<'_>> {
    if let Some(chosen) = fdt.find("/chosen") {
        // The second name is what Linux used before the specification had one.
        for name in ["stdout-path", "linux,stdout-path"] {
            let Some(value) = chosen.text(name)? else {
                continue;
            };
            // Behind a colon are speed and the like (section 3.6).
            let path = value.split(':').next().unwrap_or(value);
            let chain = resolve(fdt, path)?;
            return chain.ok_or_else(|| chosen.error(name, Problem::NoPath(path)));
        }
    }
    let none = "no stdout-path in /chosen and no alias serial0, so the console is not known";
    resolve(fdt, "serial0")?.ok_or_else(|| BoardError::tree(Problem::NoNode(none)))
}

/// The node of a path, or of an alias and a path below it (section 3.3).
fn resolve<'t>(fdt: Fdt<'t>, path: &str) -> Result<Option<Chain<'t>>, BoardError<'t>> {
    if path.starts_with('/') {
        return Ok(Chain::find(fdt, path));
    }
    let (alias, below) = path.split_once('/').unwrap_or((path, ""));
    let Some(aliases) = fdt.find("/aliases") else {
        return Ok(None);
    };
    let Some(value) = aliases.value(alias) else {
        return Ok(None);
    };
    let Some(target) = first_text(value) else {
        return Err(aliases.error("(alias of the console)", Problem::NotText));
    };
    Ok(Chain::find(fdt, target).and_then(|chain| chain.find_below(below)))
}
