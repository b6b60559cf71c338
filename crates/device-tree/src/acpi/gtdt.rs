//! The GTDT: the timers and the watchdog (ACPI 6.5, section 5.2.25).

use alloc::vec::Vec;

use hardware::board::{FRAMES, IntId, Region};
use hardware::image::Conduit;
use hardware::spec::counter::CounterErratum;

use super::table::Table;
use crate::{Node, Result, nodes};

/// Offsets of the interrupts of the non-secure EL1 timer, the virtual one and the EL2 one.
const PHYSICAL: usize = 56;
const VIRTUAL: usize = 64;
const HYPERVISOR: usize = 72;
/// Offsets of the per-CPU timers' interrupts, in the order of the device tree's binding.
const TIMERS: [usize; 4] = [48, PHYSICAL, VIRTUAL, HYPERVISOR];
/// From a timer's interrupt to its flags.
const FLAGS: usize = 4;
/// In these flags: the timer goes on in every state.
const ALWAYS_ON: u64 = 1 << 2;
/// Kinds of platform timers.
const BLOCK: u8 = 0;
const WATCHDOG: u8 = 1;
/// The least offset of platform timers.
const PLATFORM_TIMERS: usize = 96;
/// Size in bytes of a frame in a block.
const FRAME_SIZE: usize = 40;
/// Bytes of registers in each frame of a device.
const PAGE: u64 = 0x1000;
/// SoCs of HiSilicon with erratum 161010101, by OEM ID and OEM table ID, as in Linux.
const HISILICON: [&[u8; 14]; 3] = [b"HISI  HIP05   ", b"HISI  HIP06   ", b"HISI  HIP07   "];

fn page(base: u64) -> Region {
    Region { base, size: PAGE }
}

/// Makes the node of the per-CPU timers.
pub fn timers(gtdt: &Table<'_>) -> Result<Node> {
    let mut intids = [None; TIMERS.len()];
    for (intid, at) in intids.iter_mut().zip(TIMERS) {
        let number = gtdt.field(at, 4)? as u32;
        *intid = Some(IntId::new(number)).filter(|_| number != 0);
        if intid.is_some_and(|intid| !intid.is_ppi()) {
            let message = format_args!("interrupt {number}, expected a PPI (16 to 31) or 0");
            return Err(gtdt.error(at, message));
        }
    }
    let oem = gtdt.bytes.get(10..24).unwrap_or_default();
    let is_affected = HISILICON.iter().any(|name| *name == oem) && gtdt.field(24, 4)? == 0;
    let erratum = is_affected.then_some(CounterErratum::HiSilicon);
    Ok(nodes::timers(intids, erratum))
}

/// Returns true if the timer that wakes the CPUs stops where a CPU loses its context. The
/// payload uses the virtual timer behind HVC, and otherwise the physical one, or without
/// an interrupt for that the EL2 one.
pub fn timer_stops(gtdt: &Table<'_>, conduit: Conduit) -> Result<bool> {
    let timer = match conduit {
        Conduit::Hvc => VIRTUAL,
        Conduit::Smc if gtdt.field(PHYSICAL, 4)? != 0 => PHYSICAL,
        Conduit::Smc => HYPERVISOR,
    };
    Ok(gtdt.field(timer + FLAGS, 4)? & ALWAYS_ON == 0)
}

/// Returns the platform timers.
pub fn platform_timers<'m>(gtdt: &Table<'m>) -> Result<Vec<Table<'m>>> {
    // The table of revision 1 ends before these fields.
    let (count, offset) = match gtdt.bytes.len() {
        ..PLATFORM_TIMERS => (0, 0),
        _ => (gtdt.field(88, 4)? as usize, gtdt.field(92, 4)? as usize),
    };
    let timers: Vec<_> = gtdt.entries(offset, 2).take(count).collect::<Result<_>>()?;
    match timers.len() == count && (count == 0 || offset >= PLATFORM_TIMERS) {
        true => Ok(timers),
        false => Err(gtdt.error(88, format_args!("{count} platform timers at {offset:#x}"))),
    }
}

/// Returns true if a page can be a device's: firmware without one may name address 0.
fn is_usable(page: &Region) -> bool {
    page.base != 0 && page.is_page()
}

/// Makes the node of the memory-mapped timer with the first frame that can be used.
pub fn timer_frame(timers: &[Table<'_>]) -> Option<Node> {
    let mut blocks = timers.iter().filter(|timer| timer.kind() == BLOCK);
    blocks.find_map(|block| {
        let (count, first) = (block.field(12, 4).ok()?, block.field(16, 4).ok()?);
        let control = page(block.field(4, 8).ok()?);
        let offsets =
            (0..count.min(FRAMES.into()) as usize).map(|n| first as usize + n * FRAME_SIZE);
        let mut frames = offsets.filter_map(|at| {
            let is_secure = block.field(at + 36, 4).ok()? & 1 != 0;
            let number = block.field(at, 1).ok()? as u32;
            let frame = page(block.field(at + 4, 8).ok()?);
            let intid = IntId::new(block.field(at + 20, 4).ok()? as u32);
            let is_frame = number < FRAMES && is_usable(&frame) && intid.is_spi();
            let node = || nodes::timer_frame(control, number, frame, intid);
            (!is_secure && is_frame && is_usable(&control)).then(node)
        });
        frames.next()
    })
}

/// Makes the node of the first watchdog that can be used.
pub fn watchdog(timers: &[Table<'_>]) -> Option<Node> {
    let mut watchdogs = timers.iter().filter(|timer| timer.kind() == WATCHDOG);
    watchdogs.find_map(|entry| {
        let [refresh, control] = [4, 12].map(|at| entry.field(at, 8).ok().map(page));
        let (refresh, control) = (refresh?, control?);
        let intid = IntId::new(entry.field(20, 4).ok()? as u32);
        let is_secure = entry.field(24, 4).ok()? & 1 << 2 != 0;
        let intid = Some(intid).filter(|intid| intid.is_spi());
        let node = || nodes::watchdog(&[control, refresh], intid);
        let node = (!is_secure && is_usable(&control) && is_usable(&refresh)).then(node)?;
        Some(node.texts("compatible", &["arm,sbsa-gwdt"]))
    })
}
