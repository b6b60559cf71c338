//! The per-CPU timer interrupts, and the memory-mapped timer that wakes a CPU from states in which
//! its own timer stops.
//!
//! See the Linux binding *timer/arm,arch_timer.yaml*. `interrupts` lists the secure physical,
//! non-secure physical, virtual and EL2 physical timers in that order. If `interrupt-names` is
//! present, the names identify the timers.
//!
//! See the Linux binding *timer/arm,arch_timer_mmio.yaml*. Few boards need the
//! memory-mapped timer, so an unusable frame is not an error here. A scenario that needs the frame
//! prints why it cannot be used.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::fdt::word;
use super::gic::Controller;
use super::node::Node;
use super::ranges::{PAGE, Region, page};
use crate::devices::timer_frame::{FrameProperty, NoFrame};
use crate::spec::counter::CounterErratum;
use crate::spec::int_id::IntId;
use crate::text::format_error::{FormatError, Result};

/// The per-CPU timer interrupts, all of which are PPIs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimerPpis {
    /// Non-secure EL1 physical timer, CNTP.
    pub physical: Option<IntId>,
    /// EL1 virtual timer, CNTV.
    pub virtual_: Option<IntId>,
    /// Non-secure EL2 physical timer, CNTHP.
    pub hypervisor: Option<IntId>,
}

/// The timer names in binding order. The fifth timer is not used.
const NAMES: [&[u8]; 4] = [b"sec-phys", b"phys", b"virt", b"hyp-phys"];
/// The number of timers in the binding. Additional interrupts are ignored.
const TIMERS_MAX: usize = 5;

/// Returns the counter erratum listed in the timer node.
pub(crate) fn erratum(node: Node<'_>) -> Option<CounterErratum> {
    let mut errata = CounterErratum::OF_SOCS.into_iter();
    errata.find(|erratum| node.value(erratum.name()).is_some())
}

/// The frequencies that a device tree gives for the system counter, in Hz. Linux
/// (`drivers/clocksource/arm_arch_timer.c`) uses them in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterFrequency {
    /// The timer node's `clock-frequency`, which overrides CNTFRQ_EL0.
    pub declared: Option<u32>,
    /// The memory-mapped timer's `clock-frequency`, which is used if CNTFRQ_EL0 is 0.
    pub fallback: Option<u32>,
}

impl CounterFrequency {
    /// Reads the frequencies in the timer's and the memory-mapped timer's nodes. A frequency of 0
    /// is a placeholder that a boot loader has not filled in.
    pub(crate) fn read(timer: Option<Node<'_>>, frames: Option<Node<'_>>) -> Result<Self> {
        let frequency = |node: Option<Node<'_>>| match node {
            None => Ok(None),
            Some(node) => Ok(node.u32("clock-frequency")?.filter(|hz| *hz != 0)),
        };
        Ok(Self {
            declared: frequency(timer)?,
            fallback: frequency(frames)?,
        })
    }

    /// Returns the frequency to use if CNTFRQ_EL0 is `register`.
    pub fn choose(self, register: u64) -> u64 {
        let fallback = self.fallback.filter(|_| register == 0);
        self.declared.or(fallback).map_or(register, u64::from)
    }
}

pub(crate) const COMPATIBLE: &str = "arm,armv8-timer arm,armv7-timer";

/// Reads the timer node's interrupts, which must be connected to `controller`.
pub(crate) fn read(node: Option<Node<'_>>, controller: &Controller) -> Result<TimerPpis> {
    let Some(node) = node else {
        let message = format_args!("no node compatible with arm,armv8-timer");
        return Err(FormatError::new(message));
    };
    let mut ppis = TimerPpis::default();
    // In the extended form, each entry starts with the interrupt controller's phandle.
    let (name, value, extra) = match node.value("interrupts-extended") {
        Some(value) => ("interrupts-extended", value, 1),
        None => ("interrupts", node.required("interrupts")?, 0),
    };
    let entry = (controller.interrupt_cells + extra) * 4;
    if value.is_empty() || !value.len().is_multiple_of(entry) {
        return Err(node.wrong_length(name, value.len(), "complete GIC interrupt specifiers"));
    }
    let mut names = node
        .value("interrupt-names")
        .map(|list| list.split(|byte| *byte == 0));
    for index in 0..TIMERS_MAX {
        let Some(specifier) = value.get(index * entry..).filter(|cells| !cells.is_empty()) else {
            break;
        };
        let its_name = match &mut names {
            None => NAMES.get(index).copied(),
            Some(names) => names.next(),
        };
        let known = NAMES.iter().position(|name| Some(*name) == its_name);
        let ppi = match known {
            Some(1) => &mut ppis.physical,
            Some(2) => &mut ppis.virtual_,
            Some(3) => &mut ppis.hypervisor,
            _ => continue,
        };
        let cell = |index| word(specifier, index * 4).unwrap_or(u32::MAX);
        let phandle = cell(0);
        let kind = cell(extra);
        let number = cell(extra + 1);
        let (wrong, expected) = if extra == 1 && Some(phandle) != controller.phandle {
            (phandle, "the GIC's phandle")
        } else if kind != IntId::TYPE_PPI {
            (kind, "interrupt type 1 (PPI)")
        } else if let Some(intid) = IntId::from_ppi(number) {
            *ppi = Some(intid);
            continue;
        } else {
            (number, "a PPI from 0 to 15")
        };
        return Err(node.wrong_value(name, wrong.into(), expected));
    }
    if ppis == TimerPpis::default() {
        return Err(node.wrong_length(name, value.len(), "a non-secure timer"));
    }
    Ok(ppis)
}

/// A non-secure frame described in the device tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimerFrame {
    /// The base address of CNTCTLBase, a multiple of 4 KiB that fits in 48 bits.
    pub control: u64,
    /// The frame number in CNTCTLBase, 0 to 7.
    pub number: u8,
    /// The base address of CNTBaseN, a multiple of 4 KiB that fits in 48 bits.
    pub base: u64,
    /// The physical timer's interrupt, an SPI.
    pub intid: IntId,
}

impl TimerFrame {
    /// Returns the register frames in use: CNTCTLBase and CNTBaseN.
    pub fn registers(&self) -> [Region; 2] {
        [self.control, self.base].map(|base| Region { base, size: PAGE })
    }
}

impl fmt::Display for TimerFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { base, intid, .. } = self;
        write!(f, "timer frame at {base:#x}, interrupt {intid}")
    }
}

/// The memory-mapped timer's `compatible` string.
pub(crate) const FRAMES_COMPATIBLE: &str = "arm,armv7-timer-mem";
/// The maximum number of frames in a timer.
pub const FRAMES: u32 = 8;

/// Reads the timer's first enabled frame.
pub(crate) fn read_frame(node: Node<'_>) -> Result<TimerFrame, NoFrame> {
    let wrong = NoFrame::Property;
    let is_frame = |child: &Node<'_>| child.value("frame-number").is_some();
    let mut frames = node.children().filter(is_frame);
    let frame = frames
        .find(|frame| frame.is_available())
        .ok_or(NoFrame::NotInTree)?;
    let control = page(node).ok_or(wrong(FrameProperty::Reg))?;
    let number = match frame.u32("frame-number") {
        Ok(Some(number)) if number < FRAMES => number as u8,
        _ => return Err(wrong(FrameProperty::FrameNumber)),
    };
    Ok(TimerFrame {
        control,
        number,
        base: page(frame).ok_or(wrong(FrameProperty::Reg))?,
        intid: interrupt(frame).ok_or(wrong(FrameProperty::Interrupts))?,
    })
}

/// Returns the physical timer's interrupt, which is the first interrupt in the frame node.
fn interrupt(frame: Node<'_>) -> Option<IntId> {
    let value = frame.value("interrupts")?;
    let kind = word(value, 0)?;
    let intid = IntId::from_spi(word(value, 4)?)?;
    (kind == IntId::TYPE_SPI).then_some(intid)
}

#[cfg(test)]
mod tests {
    use super::CounterFrequency;

    #[test]
    fn declared_frequency_overrides_the_register_and_the_fallback_replaces_zero() {
        for (declared, fallback, register, expected) in [
            (None, None, 62_500_000, 62_500_000),
            (None, None, 0, 0),
            (Some(24), Some(25), 26, 24),
            (Some(24), Some(25), 0, 24),
            (None, Some(25), 26, 26),
            (None, Some(25), 0, 25),
        ] {
            let frequency = CounterFrequency { declared, fallback };
            assert_eq!(frequency.choose(register), expected, "{frequency:?}");
        }
    }
}
