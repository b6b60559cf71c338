//! The per-CPU timers' interrupts.
//!
//! Linux binding *timer/arm,arch_timer.yaml*: `interrupts` has, in this order,
//! the secure physical, non-secure physical, virtual and EL2 physical timer;
//! with `interrupt-names` the names identify the timers.

use core::ops::Range;

use super::fdt::word;
use super::gic::Controller;
use super::node::Node;
use crate::spec::counter::CounterErratum;
use crate::spec::format_error::{FormatError, Result};

/// Interrupt numbers (INTID, 16 to 31) of the per-CPU timers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimerPpis {
    /// Non-secure EL1 physical timer, CNTP.
    pub physical: Option<u32>,
    /// EL1 virtual timer, CNTV.
    pub virtual_: Option<u32>,
    /// Non-secure EL2 physical timer, CNTHP.
    pub hypervisor: Option<u32>,
}

/// Type of a private peripheral interrupt in a GIC's specifier.
const PPI: u32 = 1;
/// INTIDs of private peripheral interrupts.
pub const PPIS: Range<u32> = 16..32;

/// The names of the timers in the binding's order, without the fifth.
const NAMES: [&[u8]; 4] = [b"sec-phys", b"phys", b"virt", b"hyp-phys"];
/// The binding has five timers; later ones are ignored.
const TIMERS_MAX: usize = 5;

/// Returns the counter's erratum that the timer's node names.
pub(crate) fn erratum(node: Node<'_>) -> Option<CounterErratum> {
    let mut errata = CounterErratum::OF_SOCS.into_iter();
    errata.find(|erratum| node.value(erratum.name()).is_some())
}

pub(crate) const COMPATIBLE: &str = "arm,armv8-timer arm,armv7-timer";

/// Reads the interrupts of the timers' node, which must lead to `controller`.
pub(crate) fn read(node: Option<Node<'_>>, controller: &Controller) -> Result<TimerPpis> {
    let Some(node) = node else {
        let message = format_args!("no node compatible with arm,armv8-timer");
        return Err(FormatError::new(message));
    };
    let mut ppis = TimerPpis::default();
    // Each entry of the extended form begins with its controller's phandle.
    let (name, value, extra) = match node.value("interrupts-extended") {
        Some(value) => ("interrupts-extended", value, 1),
        None => ("interrupts", node.required("interrupts")?, 0),
    };
    let entry = (controller.interrupt_cells + extra) * 4;
    if value.is_empty() || !value.len().is_multiple_of(entry) {
        return Err(node.wrong_length(name, value.len(), "whole specifiers of the GIC"));
    }
    let names = node.value("interrupt-names");
    let mut names = names.map(|names| names.split(|byte| *byte == 0));
    for index in 0..TIMERS_MAX {
        let Some(specifier) = value.get(index * entry..).filter(|rest| !rest.is_empty()) else {
            break;
        };
        let its_name = match &mut names {
            None => NAMES.get(index).copied(),
            Some(names) => names.next(),
        };
        let known = NAMES.iter().position(|name| Some(*name) == its_name);
        let slot = match known {
            Some(1) => &mut ppis.physical,
            Some(2) => &mut ppis.virtual_,
            Some(3) => &mut ppis.hypervisor,
            _ => continue,
        };
        let cell = |index| word(specifier, index * 4).unwrap_or(u32::MAX);
        let (number, kind, phandle) = (cell(extra + 1), cell(extra), cell(0));
        let (value, expected) = if extra == 1 && Some(phandle) != controller.phandle {
            (phandle, "the phandle of the GIC")
        } else if kind != PPI {
            (kind, "interrupt type 1 (PPI)")
        } else if number >= PPIS.end - PPIS.start {
            (number, "a PPI from 0 to 15")
        } else {
            *slot = Some(PPIS.start + number);
            continue;
        };
        return Err(node.wrong_value(name, value.into(), expected));
    }
    if ppis == TimerPpis::default() {
        return Err(node.wrong_length(name, value.len(), "a timer that is not secure"));
    }
    Ok(ppis)
}
