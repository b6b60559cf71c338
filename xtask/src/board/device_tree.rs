//! The device tree of a board file.
//!
//! It follows the Devicetree Specification v0.4 and Linux's bindings, so that any reader
//! understands it; `psci-bench,power-level` in idle states is the one property of this
//! project's own.

use anyhow::{Result, anyhow, bail};
use dtoolkit::Node as _;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use psci_bench::board::{self as payload, ADDRESSES, GICR, PPIS, Region, SPIS};
use psci_bench::devices::uart::registers;
use psci_bench::image::{Conduit, UartKind};
use psci_bench::spec::psci::StateFormat;

use super::board::{Board, Reserved};
use super::devices::{Controller, Frame, Gic, GicV3, Timer, Uart, Watchdog};
use super::firmware::IdleState;

/// The choices of a board that a tree describes.
#[derive(Clone, Debug)]
pub struct Choices<'c> {
    /// Number of CPUs.
    pub cpus: u32,
    /// The interrupt controller; of no use without a GIC.
    pub gic: Gic,
    /// The conduit of PSCI calls.
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

    fn reg(self, regions: &[Region]) -> Self {
        let numbers = regions.iter().flat_map(|region| [region.base, region.size]);
        let bytes: Vec<u8> = numbers.flat_map(u64::to_be_bytes).collect();
        self.bytes("reg", &bytes)
    }

    fn with(mut self, child: Self) -> Self {
        self.0.add_child(child.0);
        self
    }
}

/// Makes the tree of `board`.
pub fn build(board: &Board, choices: &Choices<'_>) -> Result<Vec<u8>> {
    check_bootargs(choices.bootargs)?;
    let uart = uart_node(&board.uart);
    let chosen = Node::new("chosen")
        .texts("stdout-path", &[&format!("/{}", uart.0.name())])
        .texts("bootargs", &[choices.bootargs]);
    let mut nodes = vec![chosen];
    nodes.extend(board.memory.iter().map(|memory| {
        Node::new(&format!("memory@{:x}", memory.base))
            .texts("device_type", &["memory"])
            .reg(&[*memory])
    }));
    nodes.extend((!board.reserved.is_empty()).then(|| reserved(&board.reserved)));
    let psci = Node::new("psci")
        .texts("compatible", &["arm,psci-1.0", "arm,psci-0.2"])
        .texts("method", &[choices.conduit.word()]);
    nodes.extend([psci, cpus(board, choices)?]);
    let mut root = Node::new("")
        .cells("#address-cells", &[2])
        .cells("#size-cells", &[2])
        .texts("compatible", &[&format!("psci-bench,{}", board.name)])
        .texts("model", &[&board.title]);
    if let (Some(gic), Some(timer)) = (&board.gic, &board.timer) {
        root = root.cells("interrupt-parent", &[GIC_PHANDLE]);
        nodes.extend([timer_node(timer), controller(board, gic, choices)?]);
        nodes.extend(timer.frame.as_ref().map(frame_node));
    }
    nodes.push(uart);
    nodes.extend(board.watchdog.iter().flat_map(watchdog_nodes));
    let mut tree = DeviceTree::new();
    tree.root = nodes.into_iter().fold(root, Node::with).0;
    Ok(tree.to_dtb())
}

fn reserved(parts: &[Reserved]) -> Node {
    let parent = Node::new("reserved-memory")
        .cells("#address-cells", &[2])
        .cells("#size-cells", &[2])
        .bytes("ranges", &[]);
    let parts = parts.iter().map(|part| {
        Node::new(&format!("{}@{:x}", part.name, part.base))
            .reg(&[part.region()])
            .bytes("no-map", &[])
    });
    parts.fold(parent, Node::with)
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
            .cells("arm,psci-suspend-param", &[state.power_state]);
        if let Some(level) = state.level {
            node = node.cells("psci-bench,power-level", &[u32::from(level)]);
        }
        if state.local_timer_stop {
            node = node.bytes("local-timer-stop", &[]);
        }
        // The binding wants latencies, which are not known yet.
        for name in ["entry-latency-us", "exit-latency-us", "min-residency-us"] {
            node = node.cells(name, &[0]);
        }
        parent = parent.with(node.cells("phandle", &[phandle]));
    }
    parent
}

fn timer_node(timer: &Timer) -> Node {
    // Type 1 is a PPI.
    let cell = |intid| [1, intid - PPIS.start, LEVEL_HIGH];
    let node = Node::new("timer")
        .texts("compatible", &["arm,armv8-timer"])
        .cells("interrupts", timer.intids().map(cell).as_flattened());
    match timer.erratum {
        Some(erratum) => node.bytes(erratum.name(), &[]),
        None => node,
    }
}

fn controller(board: &Board, gic: &Controller, choices: &Choices<'_>) -> Result<Node> {
    let lacking = || anyhow!("{} has no GICv{}", board.title, choices.gic.number());
    let (compatible, frames): (&[&str], _) = match choices.gic {
        Gic::V2 => {
            let gic = gic.v2.as_ref().ok_or_else(lacking)?;
            let frames = vec![gic.distributor, gic.cpu_interface];
            (&["arm,gic-400", "arm,cortex-a15-gic"], frames)
        }
        Gic::V3 => {
            let gic = gic.v3.as_ref().ok_or_else(lacking)?;
            (&["arm,gic-v3"], frames_of_v3(gic, choices.cpus)?)
        }
    };
    let base = frames.first().map_or(0, |distributor| distributor.base);
    let mut node = Node::new(&format!("interrupt-controller@{base:x}"))
        .texts("compatible", compatible)
        .reg(&frames);
    if choices.gic == Gic::V3 && frames.len() > 2 {
        node = node.cells("#redistributor-regions", &[frames.len() as u32 - 1]);
    }
    Ok(node
        .bytes("interrupt-controller", &[])
        .cells("#interrupt-cells", &[3])
        .cells("#address-cells", &[0])
        .cells("phandle", &[GIC_PHANDLE]))
}

/// Returns the distributor and as many redistributor regions as the CPUs need: an emulated
/// machine has the later ones only then.
fn frames_of_v3(gic: &GicV3, cpus: u32) -> Result<Vec<Region>> {
    let mut room = 0;
    let mut frames = vec![gic.distributor];
    for region in &gic.redistributors {
        if room < u64::from(cpus) {
            frames.push(*region);
            room += region.size / GICR.least;
        }
    }
    if room < u64::from(cpus) {
        bail!("the redistributors are for {room} CPUs, and not for {cpus}");
    }
    Ok(frames)
}

fn uart_node(uart: &Uart) -> Node {
    let (name, compatible): (_, &[&str]) = match uart.kind {
        UartKind::Pl011 => ("pl011", &["arm,pl011", "arm,primecell"]),
        UartKind::Sbsa => ("serial", &["arm,sbsa-uart"]),
        UartKind::Ns16550 => ("serial", &["ns16550a"]),
        UartKind::Cadence => ("serial", &["xlnx,zynqmp-uart", "cdns,uart-r1p12"]),
        UartKind::Imx => ("serial", &["fsl,imx6q-uart", "fsl,imx21-uart"]),
        UartKind::Lpuart => ("serial", &["fsl,imx8ulp-lpuart", "fsl,imx7ulp-lpuart"]),
        UartKind::Stm32 => ("serial", &["st,stm32h7-uart"]),
    };
    let mut node = Node::new(&format!("{name}@{:x}", uart.base))
        .texts("compatible", compatible)
        .reg(&[uart.registers()]);
    for (name, value) in [
        ("reg-shift", uart.reg_shift),
        ("reg-io-width", uart.reg_io_width),
    ] {
        if let Some(value) = value {
            node = node.cells(name, &[value.into()]);
        }
    }
    node
}

/// Returns an interrupt specifier: type 0 is an SPI.
fn spi(intid: u32) -> [u32; 3] {
    [0, intid - SPIS.start, LEVEL_HIGH]
}

/// Makes the memory-mapped timer with one frame; the frame's size has one cell.
fn frame_node(frame: &Frame) -> Node {
    let cells = |number: u64| [(number >> 32) as u32, number as u32];
    let [high, low] = cells(frame.base);
    let child = Node::new(&format!("frame@{:x}", frame.base))
        .cells("frame-number", &[frame.number])
        .cells("interrupts", &spi(frame.interrupt))
        .cells("reg", &[high, low, frame.size]);
    Node::new(&format!("timer@{:x}", frame.control.base))
        .texts("compatible", &["arm,armv7-timer-mem"])
        .reg(&[frame.control])
        .cells("#address-cells", &[2])
        .cells("#size-cells", &[1])
        .bytes("ranges", &[])
        .with(child)
}

/// Makes the watchdog, and its clock if it has one of its own.
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

/// Refuses boot arguments that are not printable ASCII.
pub(crate) fn check_bootargs(bootargs: &str) -> Result<()> {
    if let Some(bad) = bootargs.chars().find(|c| !(' '..='~').contains(c)) {
        bail!("the boot arguments contain {bad:?}: only printable ASCII can be passed on");
    }
    Ok(())
}

/// Returns the GIC that the tree `blob` describes, if any, and the number of CPUs.
pub fn machine(blob: &[u8]) -> Result<(Option<Gic>, usize)> {
    let board = read(blob)?;
    let gic = board.gic.map(|gic| match gic {
        payload::Gic::V2 { .. } => Gic::V2,
        payload::Gic::V3 { .. } => Gic::V3,
    });
    Ok((gic, board.cpu_count))
}

/// Reads the tree `blob` as the payload does, and refuses also what the payload would find
/// only once it runs, or could not report.
pub(crate) fn read(blob: &[u8]) -> Result<payload::Board<'_>> {
    let board = payload::Board::read(blob)?;
    // The CPUs know whether Aff0 numbers threads.
    board.cpus(false).or_else(|_| board.cpus(true))?;
    let mut regions = vec![("the console".to_owned(), registers(&board.uart))];
    regions.extend(board.memory.iter().map(|it| ("memory".to_owned(), *it)));
    let devices = board.devices().into_iter();
    regions.extend(devices.map(|(name, region)| (format!("the {name}"), region)));
    let beyond = |region: &Region| {
        let end = region.base.checked_add(region.size);
        end.is_none_or(|end| end > ADDRESSES)
    };
    if let Some((name, Region { base, size })) = regions.iter().find(|(_, it)| beyond(it)) {
        bail!("{name}: {size:#x} bytes at {base:#x} are beyond the 48 bits that addresses have");
    }
    let fits = |value| StateFormat::ALL.iter().any(|format| format.accepts(value));
    if let Some(state) = board.idle_states.iter().find(|it| !fits(it.power_state)) {
        let (name, value) = (state.name, state.power_state);
        bail!(
            "idle state {name}: arm,psci-suspend-param {value:#x} sets bits that either format of \
             PSCI reserves"
        );
    }
    Ok(board)
}
