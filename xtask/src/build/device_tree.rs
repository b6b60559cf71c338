//! Device trees: made of a board file, or the user's with other boot arguments.
//!
//! What is written follows the Devicetree Specification v0.4 and Linux's
//! bindings, so that any reader understands it; `psci-bench,power-level` in
//! idle states is the one property of this project's own.

use std::collections::BTreeSet;

use anyhow::{Context, Result, anyhow, bail};
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use dtoolkit::{Node as _, Property as _};
use psci_bench::board as payload;
use psci_bench::image::TREE_MAX;

use crate::board::{
    Board, Conduit, Controller, Frame, Gic, GicV2, GicV3, IdleState, Timer, UartKind, Watchdog,
    Window,
};

/// What of a board's choices a tree describes.
#[derive(Clone, Debug)]
pub struct Choices<'c> {
    /// How many CPUs.
    pub cpus: u32,
    /// Which interrupt controller, where the board has one.
    pub gic: Gic,
    /// How PSCI is called.
    pub conduit: Conduit,
    /// The idle states that the firmware takes.
    pub idle_states: &'c [IdleState],
    /// `/chosen/bootargs`.
    pub bootargs: &'c str,
}

const GIC_PHANDLE: u32 = 1;
const CLOCK_PHANDLE: u32 = 2;
const IDLE_PHANDLES: u32 = 0x10;
const CPU_PHANDLES: u32 = 0x100;
/// Flags of an interrupt specifier: level-sensitive, active high.
const LEVEL_HIGH: u32 = 4;
/// Bytes of a redistributor: two frames of 64 KiB.
const REDISTRIBUTOR: u64 = 0x2_0000;

/// A node under construction.
struct Node(DeviceTreeNode);

impl Node {
    fn new(name: &str) -> Self {
        Self(DeviceTreeNode::new_unchecked(name))
    }

    fn bytes(mut self, name: &str, value: &[u8]) -> Self {
        self.0
            .add_property(DeviceTreeProperty::new_unchecked(name, value));
        self
    }

    fn cells(self, name: &str, cells: &[u32]) -> Self {
        let bytes: Vec<u8> = cells.iter().flat_map(|cell| cell.to_be_bytes()).collect();
        self.bytes(name, &bytes)
    }

    fn texts(self, name: &str, strings: &[&str]) -> Self {
        let bytes: Vec<u8> = strings.iter().flat_map(|s| s.bytes().chain([0])).collect();
        self.bytes(name, &bytes)
    }

    fn reg(self, windows: &[Window]) -> Self {
        let numbers = windows.iter().flat_map(|window| [window.base, window.size]);
        let bytes: Vec<u8> = numbers.flat_map(u64::to_be_bytes).collect();
        self.bytes("reg", &bytes)
    }

    fn with(mut self, child: Self) -> Self {
        self.0.add_child(child.0);
        self
    }
}

/// The tree of `board`.
///
/// # Errors
/// When the board has no such choice, the boot arguments cannot be in one, or
/// the payload could not use what was made.
pub fn build(board: &Board, choices: &Choices<'_>) -> Result<Vec<u8>> {
    check_bootargs(choices.bootargs)?;
    let uart = format!("/{}", uart_name(board));
    let mut root = Node::new("")
        .cells("#address-cells", &[2])
        .cells("#size-cells", &[2])
        .texts(
            "compatible",
            &[&format!("psci-bench,{}", board.name.get_ref())],
        )
        .texts("model", &[&board.title])
        .with(
            Node::new("chosen")
                .texts("stdout-path", &[&uart])
                .texts("bootargs", &[choices.bootargs]),
        );
    for memory in &board.memory {
        let memory = *memory.get_ref();
        let node = Node::new(&format!("memory@{:x}", memory.base))
            .texts("device_type", &["memory"])
            .reg(&[memory]);
        root = root.with(node);
    }
    if !board.reserved.is_empty() {
        root = root.with(reserved(board));
    }
    root = root.with(psci(choices.conduit)).with(cpus(board, choices)?);
    if let (Some(gic), Some(timer)) = (&board.gic, &board.timer) {
        let timer = timer.get_ref();
        root = root
            .cells("interrupt-parent", &[GIC_PHANDLE])
            .with(timer_node(timer))
            .with(controller(board, gic, choices)?);
        if let Some(frame) = &timer.frame {
            root = root.with(frame_node(frame.get_ref()));
        }
    }
    root = root.with(uart_node(board));
    if let Some(watchdog) = &board.watchdog {
        root = watchdog_nodes(watchdog.get_ref())
            .into_iter()
            .fold(root, Node::with);
    }
    let mut tree = DeviceTree::new();
    tree.root = root.0;
    let blob = tree.to_dtb();
    // A board may be sound, and more than the payload has room for.
    let read = payload::Board::read(&blob);
    let unusable = |error| {
        anyhow!(
            "the payload cannot use the tree of {}: {error}",
            board.title
        )
    };
    let mut cpus = vec![payload::Cpu::default(); choices.cpus as usize];
    read.and_then(|read| read.cpus(false, &mut cpus))
        .map_err(unusable)?;
    Ok(blob)
}

fn reserved(board: &Board) -> Node {
    let mut parent = Node::new("reserved-memory")
        .cells("#address-cells", &[2])
        .cells("#size-cells", &[2])
        .bytes("ranges", &[]);
    for part in &board.reserved {
        let part = part.get_ref();
        let node = Node::new(&format!("{}@{:x}", part.name, part.base))
            .reg(&[part.window()])
            .bytes("no-map", &[]);
        parent = parent.with(node);
    }
    parent
}

fn psci(conduit: Conduit) -> Node {
    let method = match conduit {
        Conduit::Smc => "smc",
        Conduit::Hvc => "hvc",
    };
    Node::new("psci")
        .texts("compatible", &["arm,psci-1.0", "arm,psci-0.2"])
        .texts("method", &[method])
}

fn cpus(board: &Board, choices: &Choices<'_>) -> Result<Node> {
    let mut parent = Node::new("cpus")
        .cells("#address-cells", &[2])
        .cells("#size-cells", &[0]);
    let mut map = Node::new("cpu-map");
    let states = IDLE_PHANDLES..IDLE_PHANDLES + choices.idle_states.len() as u32;
    let states: Vec<u32> = states.collect();
    let mut phandle = CPU_PHANDLES;
    for (number, cluster) in board.clusters(choices.cpus)?.iter().enumerate() {
        let mut siblings = Node::new(&format!("cluster{number}"));
        for (core, mpidr) in cluster.iter().enumerate() {
            let mut cpu = Node::new(&format!("cpu@{mpidr:x}"))
                .texts("device_type", &["cpu"])
                .texts("compatible", &[board.cpu_compatible(number)])
                .bytes("reg", &mpidr.to_be_bytes())
                .texts("enable-method", &["psci"]);
            if !states.is_empty() {
                cpu = cpu.cells("cpu-idle-states", &states);
            }
            parent = parent.with(cpu.cells("phandle", &[phandle]));
            let core = Node::new(&format!("core{core}")).cells("cpu", &[phandle]);
            siblings = siblings.with(core);
            phandle += 1;
        }
        map = map.with(siblings);
    }
    parent = parent.with(map);
    if !choices.idle_states.is_empty() {
        parent = parent.with(idle_states(choices.idle_states));
    }
    Ok(parent)
}

fn idle_states(states: &[IdleState]) -> Node {
    let mut parent = Node::new("idle-states").texts("entry-method", &["psci"]);
    for (state, phandle) in states.iter().zip(IDLE_PHANDLES..) {
        let mut node = Node::new(&state.name)
            .texts("compatible", &["arm,idle-state"])
            .cells("arm,psci-suspend-param", &[*state.power_state.get_ref()]);
        if let Some(level) = state.level {
            node = node.cells("psci-bench,power-level", &[u32::from(level)]);
        }
        if state.local_timer_stop {
            node = node.bytes("local-timer-stop", &[]);
        }
        // Latencies are what this project is there to find out. The binding
        // wants numbers, and 0 claims nothing.
        for name in ["entry-latency-us", "exit-latency-us", "min-residency-us"] {
            node = node.cells(name, &[0]);
        }
        parent = parent.with(node.cells("phandle", &[phandle]));
    }
    parent
}

fn timer_node(timer: &Timer) -> Node {
    let intids = timer.intids();
    // Type 1 is a PPI, and those count from INTID 16.
    let cells: Vec<u32> = intids
        .iter()
        .flat_map(|intid| [1, intid - 16, LEVEL_HIGH])
        .collect();
    let node = Node::new("timer")
        .texts("compatible", &["arm,armv8-timer"])
        .cells("interrupts", &cells);
    match timer.erratum {
        Some(erratum) => node.bytes(erratum.name(), &[]),
        None => node,
    }
}

fn controller(board: &Board, gic: &Controller, choices: &Choices<'_>) -> Result<Node> {
    let lacking = || anyhow!("{} has no GICv{}", board.title, choices.gic.number());
    let node = match choices.gic {
        Gic::V2 => gic_v2(gic.v2.as_ref().ok_or_else(lacking)?.get_ref()),
        Gic::V3 => gic_v3(gic.v3.as_ref().ok_or_else(lacking)?.get_ref(), choices.cpus)?,
    };
    Ok(node
        .bytes("interrupt-controller", &[])
        .cells("#interrupt-cells", &[3])
        .cells("#address-cells", &[0])
        .cells("phandle", &[GIC_PHANDLE]))
}

fn gic_v2(gic: &GicV2) -> Node {
    Node::new(&format!("interrupt-controller@{:x}", gic.distributor.base))
        .texts("compatible", &["arm,gic-400", "arm,cortex-a15-gic"])
        .reg(&[gic.distributor, gic.cpu_interface])
}

/// With as many redistributor regions as the CPUs need: an emulated machine
/// has the later ones only then.
fn gic_v3(gic: &GicV3, cpus: u32) -> Result<Node> {
    let mut room = 0;
    let mut windows = vec![gic.distributor];
    for region in &gic.redistributors {
        if room < u64::from(cpus) {
            windows.push(*region);
            room += region.size / REDISTRIBUTOR;
        }
    }
    if room < u64::from(cpus) {
        bail!("the redistributors are for {room} CPUs, and not for {cpus}");
    }
    let mut node = Node::new(&format!("interrupt-controller@{:x}", gic.distributor.base))
        .texts("compatible", &["arm,gic-v3"])
        .reg(&windows);
    if windows.len() > 2 {
        node = node.cells("#redistributor-regions", &[windows.len() as u32 - 1]);
    }
    Ok(node)
}

fn uart_name(board: &Board) -> String {
    let uart = board.uart.get_ref();
    let kind = match uart.kind {
        UartKind::Pl011 => "pl011",
        _ => "serial",
    };
    format!("{kind}@{:x}", uart.base)
}

fn uart_node(board: &Board) -> Node {
    let uart = board.uart.get_ref();
    let compatible: &[&str] = match uart.kind {
        UartKind::Pl011 => &["arm,pl011", "arm,primecell"],
        UartKind::Ns16550 => &["ns16550a"],
        UartKind::Cadence => &["xlnx,zynqmp-uart", "cdns,uart-r1p12"],
        UartKind::Imx => &["fsl,imx6q-uart", "fsl,imx21-uart"],
        UartKind::Lpuart => &["fsl,imx8ulp-lpuart", "fsl,imx7ulp-lpuart"],
        UartKind::Stm32 => &["st,stm32h7-uart"],
    };
    let mut node = Node::new(&uart_name(board))
        .texts("compatible", compatible)
        .reg(&[uart.window()]);
    for (name, value) in [
        ("reg-shift", uart.reg_shift),
        ("reg-io-width", uart.reg_io_width),
    ] {
        if let Some(value) = value {
            node = node.cells(name, &[u32::from(value)]);
        }
    }
    node
}

/// An interrupt specifier: type 0 is an SPI, and those count from INTID 32.
fn spi(intid: u32) -> [u32; 3] {
    [0, intid - 32, LEVEL_HIGH]
}

/// The memory-mapped timer with one frame, the size of which has one cell.
fn frame_node(frame: &Frame) -> Node {
    let cells = |number: u64| [(number >> 32) as u32, number as u32];
    let [high, low] = cells(frame.base);
    let child = Node::new(&format!("frame@{:x}", frame.base))
        .cells("frame-number", &[frame.number])
        .cells("interrupts", &spi(frame.interrupt))
        .cells("reg", &[high, low, frame.size as u32]);
    Node::new(&format!("timer@{:x}", frame.control.base))
        .texts("compatible", &["arm,armv7-timer-mem"])
        .reg(&[frame.control])
        .cells("#address-cells", &[2])
        .cells("#size-cells", &[1])
        .bytes("ranges", &[])
        .with(child)
}

/// The watchdog, and the clock that it counts by where it has one of its own.
fn watchdog_nodes(watchdog: &Watchdog) -> Vec<Node> {
    let frames = watchdog.frames();
    let base = frames.first().map_or(0, |frame| frame.base);
    let mut node = Node::new(&format!("watchdog@{base:x}")).reg(&frames);
    if let Some(intid) = watchdog.interrupt() {
        node = node.cells("interrupts", &spi(intid));
    }
    match watchdog {
        Watchdog::SbsaGwdt { .. } => vec![node.texts("compatible", &["arm,sbsa-gwdt"])],
        Watchdog::Sp805 { clock, .. } => {
            let clock = Node::new("watchdog-clock")
                .texts("compatible", &["fixed-clock"])
                .cells("#clock-cells", &[0])
                .cells("clock-frequency", &[*clock])
                .cells("phandle", &[CLOCK_PHANDLE]);
            // The binding wants the bus's clock as well: one that is on.
            let node = node
                .texts("compatible", &["arm,sp805", "arm,primecell"])
                .cells("clocks", &[CLOCK_PHANDLE; 2])
                .texts("clock-names", &["wdog_clk", "apb_pclk"]);
            vec![clock, node]
        }
    }
}

/// Refuses boot arguments that no tree could hold.
///
/// # Errors
/// When they are not printable ASCII.
pub fn check_bootargs(bootargs: &str) -> Result<()> {
    if let Some(bad) = bootargs.chars().find(|c| !(' '..='~').contains(c)) {
        bail!("the boot arguments contain {bad:?}: only printable ASCII can be passed on");
    }
    Ok(())
}

/// The user's tree `blob`, with `bootargs` in place of its own where given.
/// Without, not a byte of it is changed.
///
/// # Errors
/// When it is not a tree that the payload could use.
pub fn adapt(blob: &[u8], bootargs: Option<&str>) -> Result<Vec<u8>> {
    if blob.len() > TREE_MAX {
        bail!(
            "{} bytes are more than the {TREE_MAX} that are accepted",
            blob.len()
        );
    }
    // The payload's own reader, so that what is refused here is what it would
    // refuse, and nothing reaches dtoolkit that is not sound.
    payload::Board::read(blob).map_err(|error| anyhow!("{error}"))?;
    let size = payload::total_size(blob).map_err(|error| anyhow!("{error}"))?;
    let blob = blob.get(..size).context("it is truncated")?;
    let Some(bootargs) = bootargs else {
        return Ok(blob.to_vec());
    };
    check_bootargs(bootargs)?;
    let fdt = Fdt::new_unchecked(blob);
    check_names(&fdt.root(), "")?;
    let mut tree = DeviceTree::from_fdt(&fdt);
    if tree.find_node_mut("/chosen").is_none() {
        tree.root.add_child(DeviceTreeNode::new_unchecked("chosen"));
    }
    let chosen = tree.find_node_mut("/chosen").context("no /chosen")?;
    let mut value = bootargs.as_bytes().to_vec();
    value.push(0);
    chosen.add_property(DeviceTreeProperty::new_unchecked("bootargs", value));
    let changed = tree.to_dtb();
    let read = payload::Board::read(&changed).map(|read| read.bootargs == bootargs);
    if !read.map_err(|error| anyhow!("{error}"))? {
        bail!("its boot arguments cannot be changed: it has a second /chosen");
    }
    Ok(changed)
}

/// Refuses a tree with two nodes or properties of one name in one place: of
/// those, dtoolkit keeps the last.
fn check_names(node: &FdtNode<'_>, path: &str) -> Result<()> {
    let mut names = BTreeSet::new();
    for property in node.properties() {
        if !names.insert(property.name().to_owned()) {
            bail!("{path}/: it has two properties {}", property.name());
        }
    }
    names.clear();
    for child in node.children() {
        let path = format!("{path}/{}", child.name());
        if !names.insert(child.name().to_owned()) {
            bail!("{path}: there are two nodes of this name");
        }
        check_names(&child, &path)?;
    }
    Ok(())
}

/// Which GIC the tree `blob` describes, if any, and how many CPUs.
///
/// # Errors
/// When the payload could not use it: what it would find only once it runs is
/// looked for as well.
pub fn machine(blob: &[u8]) -> Result<(Option<Gic>, usize)> {
    let board = payload::Board::read(blob).map_err(|error| anyhow!("{error}"))?;
    usable::check(&board)?;
    let gic = board.gic.map(|gic| match gic {
        payload::Gic::V2 { .. } => Gic::V2,
        payload::Gic::V3 { .. } => Gic::V3,
    });
    Ok((gic, board.cpu_count))
}

mod usable;

#[cfg(test)]
mod tests;
