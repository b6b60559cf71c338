//! The per-CPU timers' interrupts.
//!
//! Linux binding *timer/arm,arch_timer.yaml*: `interrupts` has, in this order,
//! the secure physical, non-secure physical, virtual and EL2 physical timer;
//! with `interrupt-names` the names say which is which.

use super::error::BoardError;
use super::fdt::Node;
use super::gic::Controller;
use super::tree::compatible_with;

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

const COMPATIBLE: [&str; 2] = ["arm,armv8-timer", "arm,armv7-timer"];
/// Type of a private peripheral interrupt in a GIC's specifier.
const PPI: u32 = 1;
/// INTID of the first of them.
const FIRST_PPI: u32 = 16;
/// How many there are.
const PPI_COUNT: u32 = 16;

/// The binding has five; what is behind them is not looked at.
const TIMERS_MAX: usize = 5;

/// Whether `compatible` is that of the per-CPU timers.
pub(super) fn is_timer(compatible: &[u8]) -> bool {
    compatible_with(compatible, &COMPATIBLE).is_some()
}

pub(super) fn read<'t>(
    node: Node<'t>,
    controller: &Controller,
) -> Result<TimerPpis, BoardError<'t>> {
    let mut ppis = TimerPpis::default();
    // Each entry of the extended form begins with its controller's phandle.
    let (name, value, extra) = match node.value("interrupts-extended") {
        Some(value) => ("interrupts-extended", value, 1),
        None => ("interrupts", node.required("interrupts")?, 0),
    };
    let entry = (controller.interrupt_cells + extra) * 4;
    if value.is_empty() || !value.len().is_multiple_of(entry) {
        return Err(node.length(name, value, "whole specifiers of the GIC"));
    }
    let mut names = node
        .value("interrupt-names")
        .map(|names| names.split(|byte| *byte == 0));
    let specifiers = value.chunks_exact(entry).take(TIMERS_MAX);
    for (index, specifier) in specifiers.enumerate() {
        let slot = match &mut names {
            None => match index {
                1 => &mut ppis.physical,
                2 => &mut ppis.virtual_,
                3 => &mut ppis.hypervisor,
                _ => continue,
            },
            Some(names) => match names.next() {
                Some(b"phys") => &mut ppis.physical,
                Some(b"virt") => &mut ppis.virtual_,
                Some(b"hyp-phys") => &mut ppis.hypervisor,
                _ => continue,
            },
        };
        let cell = |at: usize| {
            let cell = specifier.get(at * 4..at * 4 + 4);
            let cell = cell.and_then(|cell| cell.try_into().ok());
            cell.map_or(u32::MAX, u32::from_be_bytes)
        };
        let refuse = |value: u32, expected| {
            let value = u64::from(value);
            Err(node.wrong_value(name, value, expected))
        };
        if extra == 1 && Some(cell(0)) != controller.phandle {
            return refuse(cell(0), "the phandle of the GIC");
        }
        if cell(extra) != PPI {
            return refuse(cell(extra), "interrupt type 1 (PPI)");
        }
        let number = cell(extra + 1);
        if number >= PPI_COUNT {
            return refuse(number, "a PPI from 0 to 15");
        }
        *slot = Some(FIRST_PPI + number);
    }
    if ppis == TimerPpis::default() {
        return Err(node.length(name, value, "a timer that is not secure"));
    }
    Ok(ppis)
}
