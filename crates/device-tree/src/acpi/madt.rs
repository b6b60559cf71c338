//! The MADT: the CPUs and the interrupt controller (ACPI 6.5, section 5.2.12).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hardware::board::{
    CPU_MAX, GICC_V2, GICD_V2, GICD_V3, GICR, GITS, Mpidr, REDISTRIBUTOR_REGIONS_MAX, Region,
};

use super::layouts::{Gicc, GiccStart, Gicd, GicrRange, Its, Madt};
use super::table::AcpiTable;
use crate::{DeviceTreeNode, Result, merge_regions, nodes};

/// Offset of the first entry.
const ENTRIES: usize = size_of::<Madt>();
/// Offset of the address in a GICD.
const BASE: usize = core::mem::offset_of!(Gicd, base);
/// Entry types.
const GICC: u8 = 0x0b;
const GICD: u8 = 0x0c;
const GICR_RANGE: u8 = 0x0e;
const ITS: u8 = 0x0f;

/// A CPU with an enabled GICC structure (ACPI 6.5, section 5.2.12.14).
#[derive(Clone, Copy, Debug)]
pub struct MadtCpu {
    /// ACPI processor UID.
    pub uid: u32,
    /// The CPU's MPIDR.
    pub mpidr: Mpidr,
    /// The offset of the CPU's entry.
    at: usize,
    /// Base of the GICv2 CPU interface, or 0 if there is none.
    interface: u64,
    /// Base of the CPU's redistributor, or 0 if there is none or if it is in a redistributor range.
    redistributor: u64,
}

/// Returns all entries of this type.
fn entries<'m>(
    madt: &AcpiTable<'m>,
    kind: u8,
) -> impl Iterator<Item = Result<AcpiTable<'m>>> + use<'m> {
    let entries = madt.entries(ENTRIES, 1);
    entries.filter(move |entry| entry.as_ref().map_or(true, |entry| entry.kind() == kind))
}

/// Reads the enabled CPUs, in table order.
pub fn cpus(madt: &AcpiTable<'_>) -> Result<Vec<MadtCpu>> {
    let mut cpus: Vec<MadtCpu> = Vec::new();
    for entry in entries(madt, GICC) {
        let entry = entry?;
        if entry.read::<GiccStart>(0)?.flags.get() & 1 == 0 {
            continue;
        }
        let gicc = entry.read::<Gicc>(0)?;
        let mpidr = Mpidr::try_from(gicc.mpidr.get())
            .map_err(|error| entry.error(0, format_args!("{error}")))?;
        if cpus.len() == CPU_MAX {
            return Err(entry.error(0, format_args!("more than {CPU_MAX} enabled CPUs")));
        }
        cpus.push(MadtCpu {
            uid: gicc.start.uid.get(),
            mpidr,
            at: entry.at,
            interface: gicc.interface.get(),
            redistributor: gicc.redistributor.get(),
        });
    }
    if cpus.is_empty() {
        return Err(madt.error(
            ENTRIES,
            format_args!("no enabled CPU: every GICC has flag bit 0 clear"),
        ));
    }
    let mut mpidrs: Vec<Mpidr> = cpus.iter().map(|cpu| cpu.mpidr).collect();
    mpidrs.sort_unstable();
    match mpidrs.array_windows().find(|[one, other]| one == other) {
        None => Ok(cpus),
        Some([mpidr, _]) => Err(madt.error(
            ENTRIES,
            format_args!("two enabled CPUs have MPIDR {mpidr}; each needs its own"),
        )),
    }
}

/// Builds the interrupt controller node. Adds a note about an ITS that is ignored.
pub fn controller(
    madt: &AcpiTable<'_>,
    cpus: &[MadtCpu],
    notes: &mut Vec<String>,
) -> Result<DeviceTreeNode> {
    let distributor = distributor(madt)?;
    let gicd = distributor.read::<Gicd>(0)?;
    let base = gicd.base.get();
    let version = gicd.version;
    if base == 0 {
        let message =
            format_args!("the GIC distributor is at address 0: use a device tree instead");
        return Err(distributor.error(BASE, message));
    }
    // A GICv2 has no redistributors, whatever the fields say.
    let regions = match version {
        1 | 2 => Vec::new(),
        _ => redistributors(madt, cpus, version == 4)?,
    };
    let frame = |base, size| Region { base, size };
    let count = regions.len();
    match version {
        0 | 3 | 4 if (1..=REDISTRIBUTOR_REGIONS_MAX).contains(&count) => {
            let mut frames = [frame(base, GICD_V3.most)].to_vec();
            frames.extend(regions);
            Ok(nodes::gic_v3(&frames, its(madt, notes)?))
        }
        0..=2 if version > 0 || count == 0 => {
            let interface = frame(cpu_interface(madt, cpus)?, GICC_V2.most);
            Ok(nodes::gic_v2(frame(base, GICD_V2.most), interface))
        }
        0..=4 => {
            let message = format_args!(
                "{count} redistributor regions, expected 1 to {REDISTRIBUTOR_REGIONS_MAX}: use a \
                 device tree instead"
            );
            Err(distributor.error(0, message))
        }
        _ => {
            let message =
                format_args!("GIC version {version}, expected 0 to 4: use a device tree instead");
            Err(distributor.error(0, message))
        }
    }
}

/// Returns the only distributor's entry.
fn distributor<'m>(madt: &AcpiTable<'m>) -> Result<AcpiTable<'m>> {
    let mut distributors = entries(madt, GICD);
    let missing_gic = || madt.error(ENTRIES, format_args!("no GIC distributor (entry 0x0c)"));
    let first = distributors.next().ok_or_else(missing_gic)??;
    match distributors.next().transpose()? {
        None => Ok(first),
        Some(second) => {
            let message = format_args!("a second GIC distributor: use a device tree instead");
            Err(second.error(0, message))
        }
    }
}

/// Returns the address of the CPU interface, which is the same for all CPUs of a GICv2.
fn cpu_interface(madt: &AcpiTable<'_>, cpus: &[MadtCpu]) -> Result<u64> {
    let mut common = None;
    for cpu in cpus {
        let mpidr = cpu.mpidr;
        let interface = cpu.interface;
        if interface == 0 {
            let message = format_args!("a GICv2 requires a GICC address, but CPU {mpidr} has none");
            return Err(madt.error(cpu.at, message));
        }
        let first = *common.get_or_insert(interface);
        if interface != first {
            let message = format_args!(
                "the GICC address of CPU {mpidr} is {interface:#x}, but another CPU's is \
                 {first:#x}; a GICv2 has only one: use a device tree instead"
            );
            return Err(madt.error(cpu.at, message));
        }
    }
    Ok(common.unwrap_or(0))
}

/// Returns the registers of the first ITS, if there is one.
fn its(madt: &AcpiTable<'_>, notes: &mut Vec<String>) -> Result<Option<Region>> {
    let Some(entry) = entries(madt, ITS).next().transpose()? else {
        return Ok(None);
    };
    let base = entry.read::<Its>(0)?.base.get();
    if base == 0 {
        let message = format_args!("the ITS is ignored because it is at address 0");
        notes.push(format!("{}", entry.error(0, message)));
        return Ok(None);
    }
    // The binding includes the frame that devices write to.
    let size = 2 * GITS.most;
    Ok(Some(Region { base, size }))
}

/// Returns the redistributor ranges or, if there are none, one region per CPU.
fn redistributors(madt: &AcpiTable<'_>, cpus: &[MadtCpu], has_vlpis: bool) -> Result<Vec<Region>> {
    let mut regions = Vec::new();
    for entry in entries(madt, GICR_RANGE) {
        let entry = entry?;
        let range = entry.read::<GicrRange>(0)?;
        if range.base.get() == 0 {
            let message =
                format_args!("a redistributor range at address 0: use a device tree instead");
            return Err(entry.error(0, message));
        }
        regions.push(Region {
            base: range.base.get(),
            size: range.size.get().into(),
        });
    }
    if regions.is_empty() {
        // A redistributor that supports virtual LPIs has two more frames (IHI 0069, section 12.10).
        let size = GICR.least << u32::from(has_vlpis);
        let is_without = |cpu: &&MadtCpu| cpu.redistributor == 0;
        let without = cpus.iter().find(is_without);
        let has_some = !cpus.iter().all(|cpu| is_without(&cpu));
        if let Some(cpu) = without.filter(|_| has_some) {
            let mpidr = cpu.mpidr;
            let message = format_args!(
                "CPU {mpidr} has no redistributor, but other CPUs have one: use a device tree \
                 instead"
            );
            return Err(madt.error(cpu.at, message));
        }
        if has_some {
            let bases = cpus.iter().map(|cpu| cpu.redistributor);
            regions = bases.map(|base| Region { base, size }).collect();
        }
    }
    // Adjacent regions can be merged, because GICR_TYPER.Last marks the last of a series of
    // contiguous redistributors.
    match regions.len() {
        ..=REDISTRIBUTOR_REGIONS_MAX => Ok(regions),
        _ => Ok(merge_regions(regions)),
    }
}
