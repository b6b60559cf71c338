//! A watchdog that can reset the board: an SP805, or an SBSA generic watchdog.
//!
//! Linux bindings *watchdog/arm,sp805.yaml* and *watchdog/arm,sbsa-gwdt.yaml*.
//! It is a net under the run and no part of it. So a node that is of no use
//! here stops nothing: it is as if there were none.

use core::fmt;
use core::num::NonZeroU64;

use super::fdt::{Node, number};
use super::ranges::{self, Region};
use super::tree::{self, Chain, compatible_with};

/// Size in bytes and alignment of either kind's registers.
const FRAME: u64 = 0x1000;
/// How many bits addresses have here at most.
const ADDRESS_BITS: u32 = 48;

/// The watchdog's programming model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchdogKind {
    /// SBSA generic watchdog (Arm BSA, DEN 0094, "Watchdogs"), which counts as
    /// the system counter does.
    Sbsa,
    /// Arm PrimeCell SP805 (DDI 0270).
    Sp805 {
        /// Frequency of WDOGCLK in Hz.
        clock: NonZeroU64,
    },
}

/// A watchdog that is not secure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watchdog {
    /// Programming model.
    pub kind: WatchdogKind,
    /// First address of its registers: a multiple of 4 KiB, with 48 bits at
    /// most. An SBSA watchdog's are its control frame: writing there refreshes
    /// it as well, so that the refresh frame has no use.
    pub base: u64,
}

impl Watchdog {
    /// Its registers.
    #[must_use]
    pub const fn registers(&self) -> Region {
        Region {
            base: self.base,
            size: FRAME,
        }
    }
}

impl fmt::Display for Watchdog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.kind {
            WatchdogKind::Sbsa => "SBSA watchdog",
            WatchdogKind::Sp805 { .. } => "SP805",
        };
        write!(f, "{name} at {:#x}", self.base)
    }
}

const COMPATIBLE: &str = "arm,sbsa-gwdt arm,sp805";
/// How the name of WDOGCLK begins: `wdog_clk`, or `wdogclk` as of old.
const WDOGCLK: &[u8] = b"wdog";

/// Whether `compatible` is that of a watchdog.
pub(crate) fn is_watchdog(compatible: &[u8]) -> bool {
    compatible_with(compatible, COMPATIBLE).is_some()
}

/// The watchdog at `node`, if it can be used.
pub(crate) fn read(node: Node<'_, '_>) -> Option<Watchdog> {
    // The first entry is the control frame where there are two.
    let Region { base, size } = ranges::region(&Chain::to(node), 0).ok()?;
    if size < FRAME || !base.is_multiple_of(FRAME) || base >> ADDRESS_BITS != 0 {
        return None;
    }
    let kind = match compatible_with(node.value("compatible")?, COMPATIBLE) {
        Some(0) => WatchdogKind::Sbsa,
        _ => WatchdogKind::Sp805 {
            clock: clock(node)?,
        },
    };
    Some(Watchdog { kind, base })
}

/// The frequency of an SP805's WDOGCLK, where it is a fixed one: how fast
/// another clock is, the tree does not tell.
fn clock(node: Node<'_, '_>) -> Option<NonZeroU64> {
    // It is the first of the clocks. Where their names say otherwise, they
    // would have to be told apart by how many cells each has.
    let names = node.value("clock-names").unwrap_or(WDOGCLK);
    if !names.starts_with(WDOGCLK) {
        return None;
    }
    let phandle = Some(node.value("clocks")?.get(..4)?);
    let mut clock = 0;
    let _ = tree::walk(node.tree(), &mut |chain, facts| {
        let node = chain.node();
        let fixed = compatible_with(facts.compatible, "fixed-clock").is_some();
        if fixed && node.value("phandle") == phandle {
            clock = number(node.value("clock-frequency").unwrap_or_default());
        }
        Ok(())
    });
    NonZeroU64::new(clock)
}
