//! Builds the device tree for a board file.
//!
//! The tree follows the Devicetree Specification v0.4 and the Linux bindings. The only additions
//! are `psci-bench,power-level` in idle states, and `psci-bench,no-cpu-off` and
//! `psci-bench,shortest-sleep-us` in the PSCI node.

use anyhow::{Result, anyhow, bail};
use device_tree::declared::Duration;
use device_tree::nodes::{self, BuildNode as _, CPU_PHANDLES, IDLE_PHANDLES};
use device_tree::{DeviceTreeNode, check_bootargs};
use hardware::board::{self as payload, ADDRESSES, GICR, GicVersion, Region};
use hardware::devices::uart::registers;
use hardware::image::Conduit;

use super::board::{BoardFile, Reserved};
use super::devices::{GicChoice, GicV3, WatchdogEntry};
use super::firmware::StateEntry;

/// The options for building a board's device tree.
#[derive(Clone, Debug)]
pub struct Choices<'c> {
    /// The number of CPUs in the tree, from the start of the board file's list.
    pub cpus: u32,
    /// The GIC version, which is ignored if the board has no GIC.
    pub gic: GicVersion,
    /// The conduit for PSCI calls.
    pub conduit: Conduit,
    /// False if CPUs do not come back after CPU_OFF.
    pub cpu_off: bool,
    /// The idle states that the firmware accepts.
    pub idle_states: &'c [StateEntry],
}

const CLOCK_PHANDLE: u32 = 2;

/// Builds the tree for `board`, with `bootargs` in `/chosen`.
pub fn build(board: &BoardFile, choices: &Choices<'_>, bootargs: &str) -> Result<Vec<u8>> {
    check_bootargs(bootargs)?;
    let uart = nodes::uart(
        board.uart.kind,
        board.uart.registers(),
        board.uart.reg_shift,
        board.uart.reg_io_width,
    );
    let mut children = vec![nodes::chosen(&uart, bootargs)];
    children.extend(board.memory.iter().map(|memory| nodes::memory(*memory)));
    children.extend((!board.reserved.is_empty()).then(|| reserved(&board.reserved)));
    let mut psci = nodes::psci(choices.conduit);
    if !choices.cpu_off {
        psci = nodes::without_cpu_off(psci);
    }
    if let Some(us) = board.psci.shortest_sleep_us {
        psci = nodes::with_shortest_sleep(psci, us);
    }
    children.extend([psci, cpus(board, choices)?]);
    let devices = board.gic.as_ref().zip(board.timer.as_ref());
    if let Some((gic, timer)) = devices {
        let timers = nodes::timers(timer.intids().map(Some), timer.erratum);
        children.extend([timers, controller(board, gic, choices)?]);
        children.extend(timer.frame.map(|frame| {
            let registers = Region {
                base: frame.base,
                size: frame.size.into(),
            };
            nodes::timer_frame(frame.control, frame.number, registers, frame.interrupt)
        }));
    }
    children.push(uart);
    children.extend(board.watchdog.iter().flat_map(watchdog_nodes));
    let compatible = format!("psci-bench,{}", board.name);
    let root = nodes::root(&compatible, &board.title, devices.is_some());
    Ok(nodes::flatten(root.with_children(children)))
}

fn reserved(parts: &[Reserved]) -> DeviceTreeNode {
    let parent = DeviceTreeNode::new_unchecked("reserved-memory")
        .with_property("#address-cells", 2_u32)
        .with_property("#size-cells", 2_u32)
        .with_flag("ranges");
    let parts = parts.iter().map(|part| {
        DeviceTreeNode::new_unchecked(format!("{}@{:x}", part.name, part.base))
            .with_reg(&[part.region()])
            .with_flag("no-map")
    });
    parent.with_children(parts)
}

fn cpus(board: &BoardFile, choices: &Choices<'_>) -> Result<DeviceTreeNode> {
    let mut parent = nodes::cpus();
    let mut map = DeviceTreeNode::new_unchecked("cpu-map");
    let state_count = choices.idle_states.len() as u32;
    let states: Vec<u32> = (IDLE_PHANDLES..IDLE_PHANDLES + state_count).collect();
    let mut phandle = CPU_PHANDLES;
    for (number, cluster) in board.clusters(choices.cpus)?.iter().enumerate() {
        let mut siblings = DeviceTreeNode::new_unchecked(format!("cluster{number}"));
        for (core, mpidr) in cluster.iter().enumerate() {
            let mut cpu = nodes::cpu(*mpidr, board.cpu_compatible(number));
            if !states.is_empty() {
                cpu = cpu.with_property("cpu-idle-states", &states);
            }
            parent = parent.with_child(cpu.with_property("phandle", phandle));
            let core =
                DeviceTreeNode::new_unchecked(format!("core{core}")).with_property("cpu", phandle);
            siblings = siblings.with_child(core);
            phandle += 1;
        }
        map = map.with_child(siblings);
    }
    parent = parent.with_child(map);
    if !choices.idle_states.is_empty() {
        parent = parent.with_child(idle_states(choices.idle_states));
    }
    Ok(parent)
}

fn idle_states(states: &[StateEntry]) -> DeviceTreeNode {
    let mut parent = nodes::idle_states();
    for (state, phandle) in states.iter().zip(IDLE_PHANDLES..) {
        let mut node = nodes::idle_state(
            &state.name,
            state.power_state,
            state.level,
            state.local_timer_stop,
        );
        // The binding requires latencies, but the payload does not need them.
        if let Some(latency) = state.latency_us {
            for (duration, us) in [
                (Duration::Entry, latency.entry),
                (Duration::Exit, latency.exit),
                (Duration::MinResidency, latency.min_residency),
            ] {
                node = node.with_property(duration.name(), us);
            }
        }
        parent = parent.with_child(node.with_property("phandle", phandle));
    }
    parent
}

fn controller(board: &BoardFile, gic: &GicChoice, choices: &Choices<'_>) -> Result<DeviceTreeNode> {
    let missing_gic = || anyhow!("{} has no GICv{}", board.title, choices.gic.number());
    Ok(match choices.gic {
        GicVersion::V2 => {
            let v2 = gic.v2.ok_or_else(missing_gic)?;
            nodes::gic_v2(v2.distributor, v2.cpu_interface)
        }
        GicVersion::V3 => {
            let v3 = gic.v3.as_ref().ok_or_else(missing_gic)?;
            nodes::gic_v3(&frames_of_v3(v3, choices.cpus)?, v3.its)
        }
    })
}

/// Returns the distributor and the redistributor regions that the CPUs need. An emulated machine
/// has the later redistributor regions only if it has enough CPUs to need them.
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
        bail!("the redistributors cover only {room} of {cpus} CPUs");
    }
    Ok(frames)
}

/// Builds the watchdog node and, if the watchdog has its own clock, a clock node.
fn watchdog_nodes(watchdog: &WatchdogEntry) -> Vec<DeviceTreeNode> {
    let node = nodes::watchdog(&watchdog.frames(), watchdog.interrupt());
    match watchdog {
        WatchdogEntry::Imx { .. } => vec![node.with_property("compatible", "fsl,imx21-wdt")],
        WatchdogEntry::SbsaGwdt { .. } => vec![node.with_property("compatible", "arm,sbsa-gwdt")],
        WatchdogEntry::Sp805 { clock, .. } => {
            let clock = DeviceTreeNode::new_unchecked("watchdog-clock")
                .with_property("compatible", "fixed-clock")
                .with_property("#clock-cells", 0_u32)
                .with_property("clock-frequency", *clock)
                .with_property("phandle", CLOCK_PHANDLE);
            // The binding also requires a bus clock. A fixed clock works because it is always on.
            let watchdog = node
                .with_property("compatible", ["arm,sp805", "arm,primecell"].as_slice())
                .with_property("clocks", [CLOCK_PHANDLE; 2])
                .with_property("clock-names", ["wdog_clk", "apb_pclk"].as_slice());
            vec![clock, watchdog]
        }
    }
}

/// Returns the GIC version, if the tree describes a GIC, and the number of CPUs.
pub fn machine(blob: &[u8]) -> Result<(Option<GicVersion>, usize)> {
    let board = read(blob)?;
    let gic = board.gic.map(|gic| match gic {
        payload::Gic::V2 { .. } => GicVersion::V2,
        payload::Gic::V3 { .. } => GicVersion::V3,
    });
    Ok((gic, board.cpu_count))
}

/// Parses the tree as the payload does. Also catches errors that the payload would find only at run
/// time or could not report.
pub fn read(blob: &[u8]) -> Result<payload::Board<'_>> {
    let board = payload::Board::read(blob)?;
    // Whether Aff0 is a thread number is known only on the hardware, so accept both
    // interpretations.
    board.cpus(false).or_else(|_| board.cpus(true))?;
    let mut regions = vec![("the console".to_owned(), registers(&board.uart))];
    let memory = board.memory.iter();
    regions.extend(memory.map(|region| ("memory".to_owned(), *region)));
    let devices = board.devices().into_iter();
    regions.extend(devices.map(|(name, region)| (format!("the {name}"), region)));
    for (name, Region { base, size }) in regions {
        if base
            .checked_add(size)
            .is_none_or(|region_end| region_end > ADDRESSES)
        {
            bail!("{name}: {size:#x} bytes at {base:#x} exceed 48-bit addresses");
        }
    }
    Ok(board)
}
