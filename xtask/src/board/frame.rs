//! A frame of the memory-mapped timer that is not secure: what wakes a CPU
//! from states in which its own timer stops.

use anyhow::Result;
use serde::Deserialize;
use toml::Spanned;

use super::source::Source;
use super::watchdog::{FRAME, SPIS};
use super::window::Window;

/// The largest size of a frame in the device tree binding: one cell.
const LARGEST: u64 = 1 << 31;

/// A timer frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    /// First address of CNTBaseN.
    pub base: u64,
    /// Size in bytes.
    pub size: u64,
    /// INTID of its physical timer's interrupt, an SPI.
    pub interrupt: u32,
    /// CNTCTLBase, which says who may use what of the frame.
    pub control: Window,
    /// The frame's number in it.
    pub number: u32,
}

impl Frame {
    /// CNTCTLBase and CNTBaseN.
    #[must_use]
    pub fn windows(&self) -> [Window; 2] {
        let (base, size) = (self.base, self.size);
        [self.control, Window { base, size }]
    }
}

/// Refuses what the payload would take for no frame.
pub(super) fn check(frame: Option<&Spanned<Frame>>, source: &Source<'_>) -> Result<()> {
    let Some(spanned) = frame else {
        return Ok(());
    };
    let fail = |reason: &str| Err(source.error(spanned.span(), reason));
    let frame = spanned.get_ref();
    for Window { base, size } in frame.windows() {
        if !(FRAME..=LARGEST).contains(&size) || !base.is_multiple_of(FRAME) {
            return fail("a timer's frames have at least 4 KiB each, on a page of 4 KiB");
        }
    }
    if !SPIS.contains(&frame.interrupt) {
        return fail("a timer frame's interrupt is an SPI: those are 32 to 1019");
    }
    if frame.number > 7 {
        return fail("timer frames are numbered 0 to 7");
    }
    Ok(())
}
