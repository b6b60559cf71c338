//! Builds the nodes that describe a board, following the Linux bindings.

use alloc::format;
use alloc::vec::Vec;

use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use dtoolkit::{Node as _, ToPropertyValue};
use hardware::board::{IntId, Mpidr, Region};
use hardware::image::{Conduit, UartKind};
use hardware::spec::counter::CounterErratum;

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

/// Adds to a [`DeviceTreeNode`] in one expression. Names are not checked.
pub trait BuildNode: Sized {
    /// Adds a property, which replaces one with the same name.
    #[must_use]
    fn with_property(self, name: &str, value: impl ToPropertyValue) -> Self;

    /// Adds a child after the existing ones. A child with the same name is replaced.
    #[must_use]
    fn with_child(self, child: DeviceTreeNode) -> Self;

    /// Adds children, in order, as [`Self::with_child`] does.
    #[must_use]
    fn with_children(self, children: impl IntoIterator<Item = DeviceTreeNode>) -> Self {
        children.into_iter().fold(self, Self::with_child)
    }

    /// Adds a property without a value.
    #[must_use]
    fn with_flag(self, name: &str) -> Self {
        self.with_property(name, [0_u8; 0])
    }

    /// Adds `reg`, with two address cells and two size cells.
    #[must_use]
    fn with_reg(self, regions: &[Region]) -> Self {
        let numbers = regions.iter().flat_map(|region| [region.base, region.size]);
        let bytes: Vec<u8> = numbers.flat_map(u64::to_be_bytes).collect();
        self.with_property("reg", bytes)
    }
}

impl BuildNode for DeviceTreeNode {
    fn with_property(mut self, name: &str, value: impl ToPropertyValue) -> Self {
        self.add_property(DeviceTreeProperty::new_unchecked(name, value));
        self
    }

    fn with_child(mut self, child: DeviceTreeNode) -> Self {
        self.add_child(child);
        self
    }
}

/// Returns the flattened tree with this root.
pub fn flatten(root: DeviceTreeNode) -> Vec<u8> {
    let mut tree = DeviceTree::new();
    tree.root = root;
    tree.to_dtb()
}

/// Builds the root without children. If `has_gic` is true, the GIC is the interrupt parent.
pub fn root(compatible: &str, model: &str, has_gic: bool) -> DeviceTreeNode {
    let root = DeviceTreeNode::new_unchecked("")
        .with_property("#address-cells", 2_u32)
        .with_property("#size-cells", 2_u32)
        .with_property("compatible", compatible)
        .with_property("model", model);
    if has_gic {
        root.with_property("interrupt-parent", GIC_PHANDLE)
    } else {
        root
    }
}

/// Builds `/chosen`. `uart`, a child of the root, is the console.
pub fn chosen(uart: &DeviceTreeNode, bootargs: &str) -> DeviceTreeNode {
    DeviceTreeNode::new_unchecked("chosen")
        .with_property("stdout-path", format!("/{}", uart.name()))
        .with_property("bootargs", bootargs)
}

/// Builds a memory node.
pub fn memory(region: Region) -> DeviceTreeNode {
    DeviceTreeNode::new_unchecked(format!("memory@{:x}", region.base))
        .with_property("device_type", "memory")
        .with_reg(&[region])
}

/// Builds the PSCI node.
pub fn psci(conduit: Conduit) -> DeviceTreeNode {
    DeviceTreeNode::new_unchecked("psci")
        .with_property("compatible", ["arm,psci-1.0", "arm,psci-0.2"].as_slice())
        .with_property("method", conduit.word())
}

/// Marks the PSCI node to indicate that CPUs do not come back after CPU_OFF.
pub fn without_cpu_off(psci: DeviceTreeNode) -> DeviceTreeNode {
    psci.with_flag("psci-bench,no-cpu-off")
}

/// Sets how long a suspend must at least last, in microseconds.
pub fn with_shortest_sleep(psci: DeviceTreeNode, us: u32) -> DeviceTreeNode {
    psci.with_property("psci-bench,shortest-sleep-us", us)
}

/// Builds `/cpus` without children.
pub fn cpus() -> DeviceTreeNode {
    DeviceTreeNode::new_unchecked("cpus")
        .with_property("#address-cells", 2_u32)
        .with_property("#size-cells", 0_u32)
}

/// Builds a CPU node without a phandle.
pub fn cpu(mpidr: Mpidr, compatible: &str) -> DeviceTreeNode {
    DeviceTreeNode::new_unchecked(format!("cpu@{mpidr:x}"))
        .with_property("device_type", "cpu")
        .with_property("compatible", compatible)
        .with_property("reg", mpidr.number())
        .with_property("enable-method", "psci")
}

/// Builds `/cpus/idle-states` without children.
pub fn idle_states() -> DeviceTreeNode {
    DeviceTreeNode::new_unchecked("idle-states").with_property("entry-method", "psci")
}

/// Builds an idle state node without latencies or a phandle.
pub fn idle_state(
    name: &str,
    power_state: u32,
    level: Option<u8>,
    timer_stops: bool,
) -> DeviceTreeNode {
    let mut node = DeviceTreeNode::new_unchecked(name)
        .with_property("compatible", "arm,idle-state")
        .with_property("arm,psci-suspend-param", power_state);
    if let Some(level) = level {
        node = node.with_property("psci-bench,power-level", u32::from(level));
    }
    if timer_stops {
        node.with_flag("local-timer-stop")
    } else {
        node
    }
}

/// Builds the per-CPU timer node. `intids` are in binding order: secure, physical, virtual, EL2.
/// The interrupts are named only if one of them is missing.
///
/// # Panics
/// Panics if an INTID is not a PPI or an SPI. Callers must check the INTIDs first.
pub fn timers(intids: [Option<IntId>; 4], erratum: Option<CounterErratum>) -> DeviceTreeNode {
    let cells: Vec<_> = intids.into_iter().flatten().map(specifier).collect();
    let mut node = DeviceTreeNode::new_unchecked("timer")
        .with_property("compatible", "arm,armv8-timer")
        .with_property("interrupts", cells.as_flattened());
    if cells.len() < TIMERS.len() {
        let named = TIMERS.iter().zip(intids).filter(|timer| timer.1.is_some());
        let names: Vec<_> = named.map(|timer| *timer.0).collect();
        node = node.with_property("interrupt-names", &names);
    }
    match erratum {
        Some(erratum) => node.with_flag(erratum.name()),
        None => node,
    }
}

/// Builds a GICv2 node.
pub fn gic_v2(distributor: Region, cpu_interface: Region) -> DeviceTreeNode {
    let compatible = ["arm,gic-400", "arm,cortex-a15-gic"];
    controller(&compatible, &[distributor, cpu_interface]).with_property("#address-cells", 0_u32)
}

/// Builds a GICv3 node. `frames` contains the distributor followed by the redistributor regions.
/// `its` contains the registers of the ITS, if there is one.
pub fn gic_v3(frames: &[Region], its: Option<Region>) -> DeviceTreeNode {
    let mut node = controller(&["arm,gic-v3"], frames);
    if frames.len() > 2 {
        node = node.with_property("#redistributor-regions", frames.len() as u32 - 1);
    }
    let Some(its) = its else {
        return node.with_property("#address-cells", 0_u32);
    };
    let translations = DeviceTreeNode::new_unchecked(format!("msi-controller@{:x}", its.base))
        .with_property("compatible", "arm,gic-v3-its")
        .with_flag("msi-controller")
        .with_property("#msi-cells", 1_u32)
        .with_reg(&[its]);
    node.with_property("#address-cells", 2_u32)
        .with_property("#size-cells", 2_u32)
        .with_flag("ranges")
        .with_child(translations)
}

fn controller(compatible: &[&str], frames: &[Region]) -> DeviceTreeNode {
    let base = frames.first().map_or(0, |distributor| distributor.base);
    DeviceTreeNode::new_unchecked(format!("interrupt-controller@{base:x}"))
        .with_property("compatible", compatible)
        .with_reg(frames)
        .with_flag("interrupt-controller")
        .with_property("#interrupt-cells", 3_u32)
        .with_property("phandle", GIC_PHANDLE)
}

/// Builds a UART node. `reg_shift` and `reg_io_width` are used only for a 16550.
pub fn uart(
    kind: UartKind,
    registers: Region,
    reg_shift: Option<u8>,
    reg_io_width: Option<u8>,
) -> DeviceTreeNode {
    let (name, compatible) = kind.descriptor().node;
    let mut node = DeviceTreeNode::new_unchecked(format!("{name}@{:x}", registers.base))
        .with_property("compatible", compatible)
        .with_reg(&[registers]);
    for (name, value) in [("reg-shift", reg_shift), ("reg-io-width", reg_io_width)] {
        if let Some(value) = value {
            node = node.with_property(name, u32::from(value));
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
pub fn timer_frame(control: Region, number: u32, frame: Region, intid: IntId) -> DeviceTreeNode {
    let cells = |number: u64| [(number >> 32) as u32, number as u32];
    let [high, low] = cells(frame.base);
    let child = DeviceTreeNode::new_unchecked(format!("frame@{:x}", frame.base))
        .with_property("frame-number", number)
        .with_property("interrupts", specifier(intid))
        .with_property("reg", [high, low, frame.size as u32]);
    DeviceTreeNode::new_unchecked(format!("timer@{:x}", control.base))
        .with_property("compatible", "arm,armv7-timer-mem")
        .with_reg(&[control])
        .with_property("#address-cells", 2_u32)
        .with_property("#size-cells", 1_u32)
        .with_flag("ranges")
        .with_child(child)
}

/// Builds a watchdog node without `compatible`. `intid` must be an SPI.
///
/// # Panics
/// Panics if `intid` is not a PPI or an SPI.
pub fn watchdog(frames: &[Region], intid: Option<IntId>) -> DeviceTreeNode {
    let base = frames.first().map_or(0, |frame| frame.base);
    let node = DeviceTreeNode::new_unchecked(format!("watchdog@{base:x}")).with_reg(frames);
    match intid {
        Some(intid) => node.with_property("interrupts", specifier(intid)),
        None => node,
    }
}
