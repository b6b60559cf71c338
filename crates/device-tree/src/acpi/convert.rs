//! Builds a device tree from ACPI tables.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hardware::board::FormatError;
use hardware::image::Conduit;

use super::layouts::{FadtArm, Header};
use super::madt::{self, MadtCpu};
use super::pptt::Topology;
use super::table::AcpiTable;
use super::tables::Tables;
use super::{gtdt, lpi, serial};
use crate::nodes::{self, BuildNode as _};
use crate::{DeviceTreeNode, Result};

/// The `compatible` string of a converted tree.
const COMPATIBLE: &str = "psci-bench,acpi";
/// The CPUs' `compatible` string if their type does not matter.
const CPU: &str = "arm,armv8";

/// A device tree built from ACPI tables.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The tree as a DTB.
    pub tree: Vec<u8>,
    /// Notes for the user about missing or ignored parts of the tables.
    pub notes: Vec<String>,
}

/// Builds a device tree from a machine's tables. `cpu` is the CPUs' `compatible` string.
/// [`crate::adapt()`] adds memory and boot arguments later.
///
/// # Errors
/// Returns an error if a required table is missing or malformed.
pub fn to_tree(tables: &Tables<'_>, cpu: &str) -> Result<Conversion> {
    // Check for PSCI first, because nothing can be measured without it.
    let fadt = tables.require(*b"FACP", "the PSCI conduit")?;
    let conduit = conduit(&fadt)?;
    let uart = serial::console(tables)?;
    let madt = tables.require(*b"APIC", "the CPUs and the GIC")?;
    let cpus = madt::cpus(&madt)?;
    let gtdt = tables.require(*b"GTDT", "the timers")?;
    let mut notes = tables.notes.clone();
    let timer_stops = gtdt::timer_stops(&gtdt, conduit)?;
    let cpus_node = cpus_node(tables, &cpus, cpu, timer_stops, &mut notes);
    let controller = madt::controller(&madt, &cpus, &mut notes)?;
    let timers_node = gtdt::timers(&gtdt, &mut notes)?;
    let timers = gtdt::platform_timers(&gtdt).unwrap_or_else(|fault| {
        notes.push(format!("{fault}: timer frames and watchdogs are ignored"));
        Vec::new()
    });
    let root = nodes::root(COMPATIBLE, &model(&fadt)?, true)
        .with_child(nodes::chosen(&uart, ""))
        .with_child(nodes::psci(conduit))
        .with_child(cpus_node)
        .with_child(controller)
        .with_child(timers_node)
        .with_child(uart)
        .with_children(gtdt::timer_frame(&timers))
        .with_children(gtdt::watchdog(&timers));
    let tree = nodes::flatten(root);
    Ok(Conversion { tree, notes })
}

/// Builds a device tree that contains only the CPUs and their idle states. Unlike [`to_tree`], it
/// does not need the tables that describe devices.
///
/// # Errors
/// Returns an error if a required table is missing or malformed.
pub fn to_tree_of_cpus(tables: &Tables<'_>) -> Result<Conversion> {
    let fadt = tables.require(*b"FACP", "the PSCI conduit")?;
    let madt = tables.require(*b"APIC", "the CPUs")?;
    let cpus = madt::cpus(&madt)?;
    let gtdt = tables.require(*b"GTDT", "the timers")?;
    let timer_stops = gtdt::timer_stops(&gtdt, conduit(&fadt)?)?;
    let mut notes = tables.notes.clone();
    let cpus_node = cpus_node(tables, &cpus, CPU, timer_stops, &mut notes);
    let root = nodes::root(COMPATIBLE, &model(&fadt)?, false).with_child(cpus_node);
    let tree = nodes::flatten(root);
    Ok(Conversion { tree, notes })
}

/// Reads the conduit for PSCI calls.
fn conduit(fadt: &AcpiTable<'_>) -> Result<Conduit> {
    match fadt.read::<FadtArm>(0)?.arm_boot_flags.get() {
        flags if flags & 1 == 0 => Err(fadt.error(
            core::mem::offset_of!(FadtArm, arm_boot_flags),
            format_args!(
                "bit 0 of the flags ({flags:#x}) is 0, so the firmware has no PSCI: use a \
                 device tree instead"
            ),
        )),
        flags if flags & 1 << 1 == 0 => Ok(Conduit::Smc),
        _ => Ok(Conduit::Hvc),
    }
}

/// Returns the board name, which consists of the OEM ID and the OEM table ID.
fn model(fadt: &AcpiTable<'_>) -> Result<String> {
    let oem = &fadt.read::<Header>(0)?.oem;
    let maker = text(&oem.id);
    let board = text(&oem.table_id);
    Ok(format!("{maker} {board}").trim().into())
}

/// Returns the text of a field, leaving out any characters that are not printable ASCII.
fn text(field: &[u8]) -> String {
    let plain = field.iter().filter(|byte| matches!(byte, b' '..=b'~'));
    let text: String = plain.map(|byte| char::from(*byte)).collect();
    text.trim().into()
}

/// Builds `/cpus`.
fn cpus_node(
    tables: &Tables<'_>,
    cpus: &[MadtCpu],
    compatible: &str,
    timer_stops: bool,
    notes: &mut Vec<String>,
) -> DeviceTreeNode {
    let topology = tables.get(*b"PPTT").and_then(|pptt| {
        let missing = FormatError::new(format_args!("no ACPI table PPTT"));
        Topology::read(pptt.ok_or(missing)?, cpus)
    });
    if let Err(reason) = &topology {
        notes.push(format!("{reason}: CPUs are labeled by MPIDR"));
    }
    let uids: Vec<u32> = cpus.iter().map(|cpu| cpu.uid).collect();
    let states = lpi::idle_states(tables, &uids, timer_stops, notes);
    let mut node = nodes::cpus();
    let lists = states.as_ref().map(|states| &states.lists);
    for (cpu, phandle) in cpus.iter().zip(nodes::CPU_PHANDLES..) {
        let mut cpu_node = nodes::cpu(cpu.mpidr, compatible);
        let list = lists.and_then(|lists| lists.get(&cpu.uid.into()));
        if let Some(list) = list.filter(|list| !list.is_empty()) {
            cpu_node = cpu_node.with_property("cpu-idle-states", list);
        }
        node = node.with_child(cpu_node.with_property("phandle", phandle));
    }
    if let Ok(topology) = topology {
        node = node.with_child(topology.map());
        if let Some(size) = topology.second_level_cache() {
            let cache = DeviceTreeNode::new_unchecked("l2-cache")
                .with_property("compatible", "cache")
                .with_property("cache-level", 2_u32)
                .with_property("cache-size", size as u32);
            node = node.with_child(cache);
        }
    }
    node.with_children(states.map(|states| states.node))
}
