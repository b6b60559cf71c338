//! A frame of the memory-mapped generic timer, which wakes a CPU from states
//! in which its own timer stops.
//!
//! Linux binding *timer/arm,arch_timer_mmio.yaml*. Few boards need the frame, so
//! a frame that cannot be used is no error here; a scenario that needs the frame
//! prints the reason.

use core::fmt;
use core::ops::Range;

use serde::{Deserialize, Serialize};

use super::fdt::word;
use super::node::Node;
use super::ranges::{PAGE, Region, page};
use crate::devices::timer_frame::{FrameProperty, NoFrame};

/// A non-secure frame, as the device tree describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimerFrame {
    /// First address of CNTCTLBase: a multiple of 4 KiB, with 48 bits at most.
    pub control: u64,
    /// Number of the frame in CNTCTLBase, 0 to 7.
    pub number: u8,
    /// First address of CNTBaseN: a multiple of 4 KiB, with 48 bits at most.
    pub base: u64,
    /// INTID of the physical timer's interrupt, an SPI: 32 to 1019.
    pub intid: u32,
}

impl TimerFrame {
    /// Returns the registers that are used: CNTCTLBase and CNTBaseN.
    pub fn registers(&self) -> [Region; 2] {
        [self.control, self.base].map(|base| Region { base, size: PAGE })
    }
}

impl fmt::Display for TimerFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (base, intid) = (self.base, u64::from(self.intid));
        write!(f, "timer frame at {base:#x}, interrupt {intid}")
    }
}

pub(crate) const COMPATIBLE: &str = "arm,armv7-timer-mem";
/// Number of frames that a timer can have.
pub const FRAMES: u32 = 8;
/// Type of a shared peripheral interrupt in a GIC's specifier.
const SPI: u32 = 0;
/// INTIDs of shared peripheral interrupts.
pub const SPIS: Range<u32> = 32..1020;

/// Reads the first frame of the timer at `node` that is not disabled.
pub(crate) fn read(node: Node<'_>) -> Result<TimerFrame, NoFrame> {
    let is_frame = |child: &Node<'_>| child.value("frame-number").is_some();
    let mut frames = node.children().filter(is_frame);
    let frame = frames.find(|frame| frame.is_available());
    let frame = frame.ok_or(NoFrame::NotInTree)?;
    let number = frame.u32("frame-number").ok().flatten();
    let number = number.filter(|number| *number < FRAMES);
    let wrong = NoFrame::Property;
    Ok(TimerFrame {
        control: page(node).ok_or(wrong(FrameProperty::Reg))?,
        number: number.ok_or(wrong(FrameProperty::FrameNumber))? as u8,
        base: page(frame).ok_or(wrong(FrameProperty::Reg))?,
        intid: interrupt(frame).ok_or(wrong(FrameProperty::Interrupts))?,
    })
}

/// Returns the INTID of the physical timer: the first interrupt of the frame.
fn interrupt(frame: Node<'_>) -> Option<u32> {
    let value = frame.value("interrupts")?;
    let number = word(value, 4)?;
    (word(value, 0)? == SPI && number < SPIS.end - SPIS.start).then_some(SPIS.start + number)
}
