//! A watchdog that can reset the board: an SP805, an SBSA generic watchdog or an i.MX WDOG.
//!
//! See the Linux bindings *watchdog/arm,sp805.yaml*, *watchdog/arm,sbsa-gwdt.yaml* and
//! *watchdog/fsl-imx-wdt.yaml*. The watchdog is optional protection against hangs, so an unusable node
//! is ignored.

use core::fmt;
use core::num::NonZeroU64;
use serde::{Deserialize, Serialize};

use super::fdt::number;
use super::node::{Node, usable_nodes};
use super::ranges::{PAGE, Region, page};
use crate::devices::watchdog::WatchdogKind;

/// A non-secure watchdog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watchdog {
    /// Decides which registers the driver uses.
    pub kind: WatchdogKind,
    /// The base address of the registers, a multiple of 4 KiB that fits in 48 bits. For an SBSA
    /// watchdog, the registers are those of the control frame. The refresh frame is not used
    /// because writes to the control frame also refresh the watchdog.
    pub base: u64,
}

impl Watchdog {
    /// Returns the registers.
    pub const fn registers(&self) -> Region {
        Region {
            base: self.base,
            size: PAGE,
        }
    }
}

impl fmt::Display for Watchdog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.kind {
            WatchdogKind::Sbsa => "SBSA watchdog",
            WatchdogKind::Sp805 { .. } => "SP805",
            WatchdogKind::Imx => "i.MX WDOG",
        };
        write!(f, "{name} at {:#x}", self.base)
    }
}

pub(crate) const COMPATIBLE: &str = "arm,sbsa-gwdt arm,sp805 fsl,imx21-wdt";
/// The prefix of the WDOGCLK clock name, which is `wdog_clk` or, in older trees, `wdogclk`.
const WDOGCLK: &[u8] = b"wdog";

/// Reads the watchdog at `node`. Returns `None` if it cannot be used.
pub(crate) fn read(node: Node<'_>) -> Option<Watchdog> {
    // For an SBSA watchdog, the first of the two `reg` entries is the control frame.
    let base = page(node)?;
    let kind = match node.compatible_with(COMPATIBLE) {
        Some(0) => WatchdogKind::Sbsa,
        // Layerscape SoCs have a big-endian WDOG.
        Some(2) if node.value("big-endian").is_some() => return None,
        Some(2) => WatchdogKind::Imx,
        _ => WatchdogKind::Sp805 {
            clock: clock(node)?,
        },
    };
    Some(Watchdog { kind, base })
}

/// Reads an SP805's WDOGCLK frequency in Hz. The tree contains the frequency only if the clock is
/// fixed.
fn clock(node: Node<'_>) -> Option<NonZeroU64> {
    // WDOGCLK must be the first clock. Finding a later clock would require knowing the number of
    // cells for each clock before it.
    let names = node.value("clock-names").unwrap_or(WDOGCLK);
    if !names.starts_with(WDOGCLK) {
        return None;
    }
    let phandle = Some(node.value("clocks")?.get(..4)?);
    let is_clock = |node: &Node<'_>| {
        node.compatible_with("fixed-clock").is_some() && node.value("phandle") == phandle
    };
    let clock = usable_nodes(node.fdt).find(is_clock)?;
    NonZeroU64::new(number(clock.value("clock-frequency")?))
}
