//! The GTDT: the timers and the watchdog (ACPI 6.5, section 5.2.25).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hardware::board::{FRAMES, IntId, Region};
use hardware::image::Conduit;
use hardware::spec::counter::CounterErratum;

use super::layouts::{Gtdt, GtdtLong, TimerBlock, TimerFrame, TimerInterrupt, Watchdog};
use super::table::AcpiTable;
use crate::nodes::{self, BuildNode as _};
use crate::{DeviceTreeNode, Result};

/// Offset of the per-CPU timer interrupts.
const TIMERS: usize = core::mem::offset_of!(Gtdt, secure);
/// Interrupt flag: the timer keeps running in all power states.
const ALWAYS_ON: u32 = 1 << 2;
/// Platform timer types.
const BLOCK: u8 = 0;
const WATCHDOG: u8 = 1;
/// The minimum offset of the platform timers.
const PLATFORM_TIMERS: usize = size_of::<GtdtLong>();
/// Size of each register frame, in bytes.
const PAGE: u64 = 0x1000;
/// HiSilicon SoCs with erratum 161010101, identified by OEM ID and OEM table ID, as in Linux.
const HISILICON: [(&[u8; 6], &[u8; 8]); 3] = [
    (b"HISI  ", b"HIP05   "),
    (b"HISI  ", b"HIP06   "),
    (b"HISI  ", b"HIP07   "),
];

fn page(base: u64) -> Region {
    Region { base, size: PAGE }
}

/// The names of the per-CPU timers, in table order.
const NAMES: [&str; 4] = ["secure", "physical", "virtual", "EL2"];

/// Builds the per-CPU timer node. Adds a note if two timers have the same interrupt.
pub fn timers(gtdt: &AcpiTable<'_>, notes: &mut Vec<String>) -> Result<DeviceTreeNode> {
    let fields = gtdt.read::<Gtdt>(0)?;
    // The timers are in device tree binding order.
    let timers = [
        &fields.secure,
        &fields.physical,
        &fields.virtual_,
        &fields.hypervisor,
    ];
    let mut intids = [None; 4];
    for (timer_index, (intid, timer)) in intids.iter_mut().zip(timers).enumerate() {
        let number = timer.intid.get();
        *intid = Some(IntId::new(number)).filter(|_| number != 0);
        if intid.is_some_and(|intid| !intid.is_ppi()) {
            let at = TIMERS + timer_index * size_of::<TimerInterrupt>();
            let message = format_args!("interrupt {number}, expected a PPI (16 to 31) or 0");
            return Err(gtdt.error(at, message));
        }
    }
    for (timer_index, intid) in intids.iter().enumerate().filter(|timer| timer.1.is_some()) {
        if let Some(first) = intids[..timer_index]
            .iter()
            .position(|other| other == intid)
        {
            let message = format_args!(
                "the {} timer and the {} timer have interrupt {}, but each needs its own",
                NAMES[first],
                NAMES[timer_index],
                timers[timer_index].intid.get()
            );
            let at = TIMERS + timer_index * size_of::<TimerInterrupt>();
            notes.push(format!("{}", gtdt.error(at, message)));
        }
    }
    let header = &fields.header;
    let oem = (&header.oem.id, &header.oem.table_id);
    let is_affected = HISILICON.contains(&oem) && header.oem_revision.get() == 0;
    let erratum = is_affected.then_some(CounterErratum::HiSilicon);
    Ok(nodes::timers(intids, erratum))
}

/// Returns true if the CPUs' wake-up timer stops in states that lose CPU context. If the conduit is
/// HVC, the payload uses the virtual timer. Otherwise it uses the physical timer or, if that has no
/// interrupt, the EL2 physical timer.
pub fn timer_stops(gtdt: &AcpiTable<'_>, conduit: Conduit) -> Result<bool> {
    let fields = gtdt.read::<Gtdt>(0)?;
    let timer = match conduit {
        Conduit::Hvc => &fields.virtual_,
        Conduit::Smc if fields.physical.intid.get() != 0 => &fields.physical,
        Conduit::Smc => &fields.hypervisor,
    };
    Ok(timer.flags.get() & ALWAYS_ON == 0)
}

/// Returns the platform timers.
pub fn platform_timers<'m>(gtdt: &AcpiTable<'m>) -> Result<Vec<AcpiTable<'m>>> {
    let Ok(fields) = gtdt.read::<GtdtLong>(0) else {
        // A revision 1 table ends before these fields.
        return Ok(Vec::new());
    };
    let count = fields.timer_count.get() as usize;
    let offset = fields.timer_offset.get() as usize;
    let timers: Vec<_> = gtdt.entries(offset, 2).take(count).collect::<Result<_>>()?;
    if timers.len() == count && (count == 0 || offset >= PLATFORM_TIMERS) {
        Ok(timers)
    } else {
        let message = format_args!("invalid list of {count} platform timers at {offset:#x}");
        let at = core::mem::offset_of!(GtdtLong, timer_count);
        Err(gtdt.error(at, message))
    }
}

/// Returns true if a device can be located at this page address. Firmware may use address 0 for a
/// missing device.
fn is_usable(page: &Region) -> bool {
    page.base != 0 && page.is_page()
}

/// Builds the memory-mapped timer node, with the timer's first usable frame.
pub fn timer_frame(timers: &[AcpiTable<'_>]) -> Option<DeviceTreeNode> {
    let mut blocks = timers.iter().filter(|timer| timer.kind() == BLOCK);
    blocks.find_map(usable_frame)
}

/// Builds the node for the first usable frame of a timer block. Frames that cannot be read are not
/// usable.
fn usable_frame(block: &AcpiTable<'_>) -> Option<DeviceTreeNode> {
    let fields = block.read::<TimerBlock>(0).ok()?;
    let control = page(fields.control.get());
    if !is_usable(&control) {
        return None;
    }
    let first = fields.frame_offset.get() as usize;
    let count = fields.frame_count.get().min(FRAMES) as usize;
    for frame_index in 0..count {
        let at = first + frame_index * size_of::<TimerFrame>();
        let Ok(fields) = block.read::<TimerFrame>(at) else {
            continue;
        };
        let is_secure = fields.flags.get() & 1 != 0;
        let number = u32::from(fields.number);
        let frame = page(fields.base.get());
        let intid = IntId::new(fields.physical.intid.get());
        if !is_secure && number < FRAMES && is_usable(&frame) && intid.is_spi() {
            return Some(nodes::timer_frame(control, number, frame, intid));
        }
    }
    None
}

/// Builds a node for the first usable watchdog.
pub fn watchdog(timers: &[AcpiTable<'_>]) -> Option<DeviceTreeNode> {
    let mut watchdogs = timers.iter().filter(|timer| timer.kind() == WATCHDOG);
    watchdogs.find_map(|entry| {
        let fields = entry.read::<Watchdog>(0).ok()?;
        let refresh = page(fields.refresh.get());
        let control = page(fields.control.get());
        let is_secure = fields.flags.get() & 1 << 2 != 0;
        if is_secure || !is_usable(&control) || !is_usable(&refresh) {
            return None;
        }
        let intid = IntId::new(fields.intid.get());
        let node = nodes::watchdog(&[control, refresh], intid.is_spi().then_some(intid));
        Some(node.with_property("compatible", "arm,sbsa-gwdt"))
    })
}
