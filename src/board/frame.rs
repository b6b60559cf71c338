//! A frame of the memory-mapped generic timer, which wakes a CPU from states
//! in which its own timer stops.
//!
//! Linux binding *timer/arm,arch_timer_mmio.yaml*. Few boards need it for what
//! is measured here. So a node that is of no use stops nothing; why it is of
//! none is said where it is missed.

use core::fmt;

use super::fdt::{Node, word};
use super::ranges::{self, Region};
use super::tree::{Chain, compatible_with};
use crate::devices::timer_frame::NoFrame;

/// A frame that is not Secure, as the device tree has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerFrame {
    /// First address of CNTCTLBase: a multiple of 4 KiB, with 48 bits at most.
    pub control: u64,
    /// The frame's number in it, 0 to 7.
    pub number: u8,
    /// First address of CNTBaseN, likewise.
    pub base: u64,
    /// INTID of its physical timer's interrupt, an SPI: 32 to 1019.
    pub intid: u32,
}

impl TimerFrame {
    /// The registers that are used: CNTCTLBase and CNTBaseN.
    #[must_use]
    pub const fn registers(&self) -> [Region; 2] {
        let size = FRAME;
        [
            Region {
                base: self.control,
                size,
            },
            Region {
                base: self.base,
                size,
            },
        ]
    }
}

impl fmt::Display for TimerFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (base, intid) = (self.base, u64::from(self.intid));
        write!(f, "timer frame at {base:#x}, interrupt {intid}")
    }
}

/// Size in bytes and alignment of the registers that are used.
const FRAME: u64 = 0x1000;
/// How many bits addresses have here at most.
const ADDRESS_BITS: u32 = 48;
/// The first number that is no frame's.
const FRAMES: u32 = 8;
/// Type of a shared peripheral interrupt in a GIC's specifier.
const SPI: u32 = 0;
/// INTID of the first of them.
const FIRST_SPI: u32 = 32;
/// How many there are.
const SPI_COUNT: u32 = 988;

/// Whether `compatible` is that of the memory-mapped timer.
pub(crate) fn is_timer(compatible: &[u8]) -> bool {
    compatible_with(compatible, "arm,armv7-timer-mem").is_some()
}

/// The first frame of the timer at `node` that is not disabled.
pub(crate) fn read(node: Node<'_, '_>) -> Result<TimerFrame, NoFrame> {
    let is_frame = |child: &Node<'_, '_>| child.value("frame-number").is_some();
    let mut frames = node.children().filter(is_frame);
    let frame = frames.find(|frame| frame.available());
    let frame = frame.ok_or(NoFrame::NotInTree)?;
    let number = frame.u32("frame-number").ok().flatten();
    let number = number.filter(|number| *number < FRAMES);
    Ok(TimerFrame {
        control: registers(node)?,
        number: number.ok_or(NoFrame::Property("frame-number"))? as u8,
        base: registers(frame)?,
        intid: interrupt(frame).ok_or(NoFrame::Property("interrupts"))?,
    })
}

fn registers(node: Node<'_, '_>) -> Result<u64, NoFrame> {
    match ranges::region(&Chain::to(node), 0) {
        Ok(Region { base, size })
            if size >= FRAME && base.is_multiple_of(FRAME) && base >> ADDRESS_BITS == 0 =>
        {
            Ok(base)
        }
        _ => Err(NoFrame::Property("reg")),
    }
}

/// The physical timer's is the first.
fn interrupt(frame: Node<'_, '_>) -> Option<u32> {
    let value = frame.value("interrupts")?;
    let number = word(value, 4)?;
    (word(value, 0)? == SPI && number < SPI_COUNT).then_some(FIRST_SPI + number)
}
