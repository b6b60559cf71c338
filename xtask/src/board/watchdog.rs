//! The watchdog that can reset the board, where it has one that is not secure.

use anyhow::Result;
use serde::Deserialize;
use toml::Spanned;

use super::source::Source;
use super::window::Window;

/// Size and alignment of its frames, in bytes.
pub(super) const FRAME: u64 = 0x1000;
/// INTIDs of shared peripheral interrupts.
pub(super) const SPIS: std::ops::Range<u32> = 32..1020;

/// A watchdog, and its registers by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(
    tag = "kind",
    deny_unknown_fields,
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case"
)]
pub enum Watchdog {
    /// Arm PrimeCell SP805.
    Sp805 {
        /// All of them.
        registers: Window,
        /// Frequency of WDOGCLK in Hz.
        clock: u32,
        /// INTID of its interrupt, an SPI.
        interrupt: Option<u32>,
    },
    /// SBSA generic watchdog, which counts as the system counter does.
    SbsaGwdt {
        /// The control frame.
        control: Window,
        /// The refresh frame.
        refresh: Window,
        /// INTID of WS0, an SPI.
        interrupt: u32,
    },
}

impl Watchdog {
    /// Its frames, in the order of the device tree binding.
    #[must_use]
    pub fn frames(&self) -> Vec<Window> {
        match *self {
            Self::Sp805 { registers, .. } => vec![registers],
            Self::SbsaGwdt {
                control, refresh, ..
            } => vec![control, refresh],
        }
    }

    /// INTID of its interrupt.
    #[must_use]
    pub fn interrupt(&self) -> Option<u32> {
        match *self {
            Self::Sp805 { interrupt, .. } => interrupt,
            Self::SbsaGwdt { interrupt, .. } => Some(interrupt),
        }
    }
}

/// Refuses what the payload would take for no watchdog.
pub(super) fn check(watchdog: Option<&Spanned<Watchdog>>, source: &Source<'_>) -> Result<()> {
    let Some(spanned) = watchdog else {
        return Ok(());
    };
    let fail = |reason: &str| Err(source.error(spanned.span(), reason));
    let watchdog = spanned.get_ref();
    for frame in watchdog.frames() {
        if frame.size < FRAME || !frame.base.is_multiple_of(FRAME) {
            return fail("a watchdog's frames have 4 KiB each, on a page of 4 KiB");
        }
    }
    if watchdog
        .interrupt()
        .is_some_and(|intid| !SPIS.contains(&intid))
    {
        return fail("a watchdog's interrupt is an SPI: those are 32 to 1019");
    }
    if matches!(watchdog, Watchdog::Sp805 { clock: 0, .. }) {
        return fail("a watchdog's clock has at least 1 Hz");
    }
    Ok(())
}
