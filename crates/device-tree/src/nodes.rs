//! Builds the nodes that describe a board, following the Linux bindings.

use alloc::format;

use hardware::board::{IntId, Mpidr, Region};
use hardware::image::{Conduit, UartKind};
use hardware::spec::counter::CounterErratum;

use super::node::TreeNode;

/// The interrupt controller's phandle.
pub const GIC_PHANDLE: u32 = 1;
/// The first idle state's phandle. The phandle of each subsequent state is one higher.
pub const IDLE_PHANDLES: u32 = 0x10;
/// The first CPU's phandle. The phandle of each subsequent CPU is one higher.
pub const CPU_PHANDLES: u32 = 0x100;
/// Interrupt specifier flags: level-sensitive, active high.
const LEVEL_HIGH: u32 = 4;
/// The per-CPU timers, in binding order.
const TIMERS: [&str; 4] = ["sec-phys", "phys", "virt", "hyp-phys"];

/// Builds the root without children. If `has_gic` is true, the GIC is the interrupt parent.
pub fn root(compatible: &str, model: &str, has_gic: bool) -> TreeNode {
    let root = TreeNode::new("")
        .cells("#address-cells", &[2])
        .cells("#size-cells", &[2])
        .texts("compatible", &[compatible])
        .texts("model", &[model]);
    match has_gic {
        true => root.cells("interrupt-parent", &[GIC_PHANDLE]),
        false => root,
    }
}

/// Builds `/chosen`. `uart`, a child of the root, is the console.
pub fn chosen(uart: &TreeNode, bootargs: &str) -> TreeNode {
    TreeNode::new("chosen")
        .texts("stdout-path", &[&format!("/{}", uart.name())])
        .texts("bootargs", &[bootargs])
}

/// Builds a memory node.
pub fn memory(region: Region) -> TreeNode {
    TreeNode::new(&format!("memory@{:x}", region.base))
        .texts("device_type", &["memory"])
        .reg(&[region])
}

/// Builds the PSCI node.
pub fn psci(conduit: Conduit) -> TreeNode {
    TreeNode::new("psci")
        .texts("compatible", &["arm,psci-1.0", "arm,psci-0.2"])
        .texts("method", &[conduit.word()])
}

/// Marks the PSCI node to indicate that CPUs do not come back after CPU_OFF.
pub fn without_cpu_off(psci: TreeNode) -> TreeNode {
    psci.bytes("psci-bench,no-cpu-off", &[])
}

/// Builds `/cpus` without children.
pub fn cpus() -> TreeNode {
    TreeNode::new("cpus")
        .cells("#address-cells", &[2])
        .cells("#size-cells", &[0])
}

/// Builds a CPU node without a phandle.
pub fn cpu(mpidr: Mpidr, compatible: &str) -> TreeNode {
    TreeNode::new(&format!("cpu@{mpidr:x}"))
        .texts("device_type", &["cpu"])
        .texts("compatible", &[compatible])
        .property("reg", mpidr.number())
        .texts("enable-method", &["psci"])
}

/// Builds `/cpus/idle-states` without children.
pub fn idle_states() -> TreeNode {
    TreeNode::new("idle-states").texts("entry-method", &["psci"])
}

/// Builds an idle state node without latencies or a phandle.
pub fn idle_state(name: &str, power_state: u32, level: Option<u8>, timer_stops: bool) -> TreeNode {
    let mut node = TreeNode::new(name)
        .texts("compatible", &["arm,idle-state"])
        .cells("arm,psci-suspend-param", &[power_state]);
    if let Some(level) = level {
        node = node.cells("psci-bench,power-level", &[u32::from(level)]);
    }
    match timer_stops {
        true => node.bytes("local-timer-stop", &[]),
        false => node,
    }
}

/// Builds the per-CPU timer node. `intids` are in binding order: secure, physical, virtual, EL2.
/// The interrupts are named only if one of them is missing.
///
/// # Panics
/// Panics if an INTID is not a PPI or an SPI. Callers must check the INTIDs first.
pub fn timers(intids: [Option<IntId>; 4], erratum: Option<CounterErratum>) -> TreeNode {
    let cells: alloc::vec::Vec<_> = intids.into_iter().flatten().map(specifier).collect();
    let mut node = TreeNode::new("timer")
        .texts("compatible", &["arm,armv8-timer"])
        .cells("interrupts", cells.as_flattened());
    if cells.len() < TIMERS.len() {
        let named = TIMERS.iter().zip(intids).filter(|timer| timer.1.is_some());
        let names: alloc::vec::Vec<_> = named.map(|timer| *timer.0).collect();
        node = node.texts("interrupt-names", &names);
    }
    match erratum {
        Some(erratum) => node.bytes(erratum.name(), &[]),
        None => node,
    }
}

/// Builds a GICv2 node.
pub fn gic_v2(distributor: Region, cpu_interface: Region) -> TreeNode {
    let compatible = ["arm,gic-400", "arm,cortex-a15-gic"];
    controller(&compatible, &[distributor, cpu_interface]).cells("#address-cells", &[0])
}

/// Builds a GICv3 node. `frames` contains the distributor followed by the redistributor regions.
/// `its` contains the registers of the ITS, if there is one.
pub fn gic_v3(frames: &[Region], its: Option<Region>) -> TreeNode {
    let mut node = controller(&["arm,gic-v3"], frames);
    if frames.len() > 2 {
        node = node.cells("#redistributor-regions", &[frames.len() as u32 - 1]);
    }
    let Some(its) = its else {
        return node.cells("#address-cells", &[0]);
    };
    let translations = TreeNode::new(&format!("msi-controller@{:x}", its.base))
        .texts("compatible", &["arm,gic-v3-its"])
        .bytes("msi-controller", &[])
        .cells("#msi-cells", &[1])
        .reg(&[its]);
    node.cells("#address-cells", &[2])
        .cells("#size-cells", &[2])
        .bytes("ranges", &[])
        .with(translations)
}

fn controller(compatible: &[&str], frames: &[Region]) -> TreeNode {
    let base = frames.first().map_or(0, |distributor| distributor.base);
    TreeNode::new(&format!("interrupt-controller@{base:x}"))
        .texts("compatible", compatible)
        .reg(frames)
        .bytes("interrupt-controller", &[])
        .cells("#interrupt-cells", &[3])
        .cells("phandle", &[GIC_PHANDLE])
}

/// Builds a UART node. `reg_shift` and `reg_io_width` are used only for a 16550.
pub fn uart(
    kind: UartKind,
    registers: Region,
    reg_shift: Option<u8>,
    reg_io_width: Option<u8>,
) -> TreeNode {
    let (name, compatible) = kind.descriptor().node;
    let mut node = TreeNode::new(&format!("{name}@{:x}", registers.base))
        .texts("compatible", compatible)
        .reg(&[registers]);
    for (name, value) in [("reg-shift", reg_shift), ("reg-io-width", reg_io_width)] {
        if let Some(value) = value {
            node = node.cells(name, &[value.into()]);
        }
    }
    node
}

/// Returns the interrupt specifier for a PPI or an SPI.
///
/// # Panics
/// Panics for any other interrupt. Callers must check `intid` first.
pub fn specifier(intid: IntId) -> [u32; 3] {
    let (kind, number) = intid.specifier().expect("a PPI or an SPI");
    [kind, number, LEVEL_HIGH]
}

/// Builds the memory-mapped timer node with one frame. The frame's size is stored in one cell.
/// `intid` must be an SPI.
///
/// # Panics
/// Panics if `intid` is not a PPI or an SPI.
pub fn timer_frame(control: Region, number: u32, frame: Region, intid: IntId) -> TreeNode {
    let cells = |number: u64| [(number >> 32) as u32, number as u32];
    let [high, low] = cells(frame.base);
    let child = TreeNode::new(&format!("frame@{:x}", frame.base))
        .cells("frame-number", &[number])
        .cells("interrupts", &specifier(intid))
        .cells("reg", &[high, low, frame.size as u32]);
    TreeNode::new(&format!("timer@{:x}", control.base))
        .texts("compatible", &["arm,armv7-timer-mem"])
        .reg(&[control])
        .cells("#address-cells", &[2])
        .cells("#size-cells", &[1])
        .bytes("ranges", &[])
        .with(child)
}

/// Builds a watchdog node without `compatible`. `intid` must be an SPI.
///
/// # Panics
/// Panics if `intid` is not a PPI or an SPI.
pub fn watchdog(frames: &[Region], intid: Option<IntId>) -> TreeNode {
    let base = frames.first().map_or(0, |frame| frame.base);
    let node = TreeNode::new(&format!("watchdog@{base:x}")).reg(frames);
    match intid {
        Some(intid) => node.cells("interrupts", &specifier(intid)),
        None => node,
    }
}
