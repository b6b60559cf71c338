//! Reads a board description from a flattened device tree (Devicetree Specification v0.4 and the
//! Linux bindings). The tree is not trusted. Errors for missing or contradictory properties include
//! the node and property.

use alloc::vec::Vec;

use crate::devices::timer_frame::NoFrame;
use crate::devices::uart::registers;
use crate::image::{Conduit, UartDescription};
use crate::spec::counter::CounterErratum;

use super::fdt::Fdt;
use super::gic::{self, Gic};
use super::idle::IdleStates;
use super::labels::{Cpu, LabelSource};
use super::memory::MemorySource;
use super::node::{Node, find_compatible};
use super::ranges::Region;
use super::timers::{self, CounterFrequency, TimerFrame, TimerPpis};
use super::tree_console::ConsoleSource;
use super::watchdog::{self, Watchdog};
use crate::text::format_error::{FormatError, Result};

/// The maximum length of a board name in bytes. Printing 1 MiB on a UART would take minutes.
const MODEL_MAX: usize = 100;

/// All board information that the payload reads from the tree. Strings borrow from the tree.
#[derive(Clone, Debug)]
pub struct Board<'t> {
    /// The first 100 bytes of the root's `model` or, if there is no model, of its first
    /// `compatible` string. May be empty.
    pub model: &'t str,
    /// The UART that `uart_by` specifies.
    pub uart: UartDescription,
    /// What specifies the console.
    pub uart_by: ConsoleSource,
    /// The interrupt controller. Without a GIC, nothing can wake a suspended CPU, so only
    /// operations that do not need a wake-up are measured.
    pub gic: Option<Gic>,
    /// The registers of a GICv3's interrupt translation service (ITS), if there is a usable one.
    pub its: Option<Region>,
    /// The per-CPU timer interrupts, all of them `None` if there is no GIC.
    pub timers: TimerPpis,
    /// The frequency of the system counter, if the tree gives it.
    pub counter_frequency: CounterFrequency,
    /// A memory-mapped timer for states in which the per-CPU timers stop.
    pub timer_frame: Result<TimerFrame, NoFrame>,
    /// The watchdog, if the board has a usable one.
    pub watchdog: Option<Watchdog>,
    /// The conduit for PSCI calls.
    pub conduit: Conduit,
    /// True if the tree indicates that CPUs do not come back after CPU_OFF.
    pub forbids_cpu_off: bool,
    /// How long a suspend must at least last, in microseconds; 0 to
    /// [`super::SHORTEST_SLEEP_MAX_US`].
    pub shortest_sleep_us: Option<u32>,
    /// 1 to [`super::MEMORY_MAX`] memory regions, in tree order.
    pub memory: Vec<Region>,
    /// How the nodes with these regions were recognized.
    pub memory_source: MemorySource,
    /// At most [`super::RESERVED_MAX`] reserved regions, which can overlap.
    pub reserved: Vec<Region>,
    /// The states below `/cpus/idle-states`, usable or not. May be empty.
    pub idle_states: IdleStates<'t>,
    /// `/chosen/bootargs`, or "".
    pub bootargs: &'t str,
    /// The size in bytes of the largest L2 cache in the tree.
    pub second_level_cache: Option<u64>,
    /// The number of enabled CPUs, 1 to [`super::CPU_MAX`].
    pub cpu_count: usize,
    /// The counter erratum, taken from the timer node or from the `compatible` strings of enabled
    /// CPUs.
    pub counter_erratum: Option<CounterErratum>,
    fdt: Fdt<'t>,
}

impl<'t> Board<'t> {
    /// Reads the device tree at the start of `blob`. Bytes after `totalsize` are ignored.
    ///
    /// # Errors
    /// Returns an error that identifies the first unusable node or property.
    /// [`super::TreeConsole::find`] finds a UART for printing the error.
    // Not inlined because the caller's stack frame stays in use during the entire run.
    #[inline(never)]
    pub fn read(blob: &'t [u8]) -> Result<Self, FormatError> {
        let tree = super::fdt::open(blob)?;
        check_status(tree)?;
        // Check for PSCI first, because nothing can be measured without it.
        let conduit = super::psci_node::conduit(tree)?;
        let (uart, uart_by) = super::tree_console::console(tree)?;
        let controller = find_compatible(tree, gic::COMPATIBLE)
            .map(gic::read)
            .transpose()?;
        let timer = find_compatible(tree, timers::COMPATIBLE);
        let timers = controller.as_ref().map(|gic| timers::read(timer, gic));
        let frames = find_compatible(tree, timers::FRAMES_COMPATIBLE);
        let counter_frequency = CounterFrequency::read(timer, frames)?;
        // Without a GIC, no CPU receives the frame's interrupt.
        let timer_frame = match (frames, &controller) {
            (Some(frames), Some(_)) => timers::read_frame(frames),
            _ => Err(NoFrame::NotInTree),
        };
        let (cpu_count, has_cortex_a73) = super::cpus::count(tree)?;
        let its = match &controller {
            Some(controller) if controller.has_its() => find_compatible(tree, gic::ITS_COMPATIBLE),
            _ => None,
        };
        let (memory_source, memory) = super::memory::read(tree)?;
        let board = Self {
            model: model(Node::root(tree)),
            uart,
            uart_by,
            timers: timers.transpose()?.unwrap_or_default(),
            gic: controller.map(|controller| controller.gic),
            its: its.and_then(gic::read_its),
            counter_frequency,
            timer_frame,
            watchdog: find_compatible(tree, watchdog::COMPATIBLE).and_then(watchdog::read),
            conduit,
            forbids_cpu_off: super::psci_node::forbids_cpu_off(tree),
            shortest_sleep_us: super::psci_node::shortest_sleep_us(tree)?,
            memory,
            memory_source,
            reserved: super::memory::reserved(tree)?,
            idle_states: super::idle::read(tree)?,
            bootargs: bootargs(tree)?,
            second_level_cache: super::cpus::second_level_cache(tree),
            cpu_count,
            counter_erratum: timer
                .and_then(timers::erratum)
                .or(has_cortex_a73.then_some(CounterErratum::CortexA73)),
            fdt: tree,
        };
        board.check_overlaps()?;
        Ok(board)
    }

    /// Returns the CPUs in MPIDR order, and the source of their labels.
    ///
    /// `mpidr_mt` is bit 24 of MPIDR_EL1, which is set if Aff0 is the thread number. The bit is
    /// used only if there is no cpu-map.
    ///
    /// # Errors
    /// Returns an error if two CPUs have the same MPIDR, or if cpu-map is invalid or omits a CPU.
    pub fn cpus(&self, mpidr_mt: bool) -> Result<(LabelSource, Vec<Cpu>)> {
        super::cpus::read(self.fdt, self.cpu_count, mpidr_mt)
    }

    /// Returns the name and registers of every device in use except the console, which is needed
    /// earlier.
    pub fn devices(&self) -> Vec<(&'static str, Region)> {
        let mut devices = Vec::new();
        match &self.gic {
            None => {}
            Some(Gic::V2 {
                distributor,
                cpu_interface,
            }) => {
                devices.push(("GIC's distributor", *distributor));
                devices.push(("GIC's CPU interface", *cpu_interface));
            }
            Some(Gic::V3 {
                distributor,
                redistributors,
                ..
            }) => {
                devices.push(("GIC's distributor", *distributor));
                let regions = redistributors.iter();
                devices.extend(regions.map(|region| ("GIC's redistributors", *region)));
            }
        }
        devices.extend(self.its.map(|registers| ("ITS", registers)));
        let frames = self.timer_frame.iter().flat_map(TimerFrame::registers);
        let names = ["timer's control frame", "timer frame"];
        devices.extend(names.into_iter().zip(frames));
        if let Some(watchdog) = &self.watchdog {
            devices.push(("watchdog", watchdog.registers()));
        }
        devices
    }

    /// Rejects registers that overlap memory or the registers of another device. For example,
    /// refreshing a watchdog at the distributor address would turn off the GIC.
    fn check_overlaps(&self) -> Result<()> {
        let mut devices = self.devices();
        devices.push(("console", registers(&self.uart)));
        for (index, (name, region)) in devices.iter().enumerate() {
            let mut earlier = devices.iter().take(index);
            if let Some((other, there)) = earlier.find(|(_, other)| other.overlaps(region)) {
                return Err(FormatError::new(format_args!(
                    "the {name} at {:#x} overlaps the {other} at {:#x}",
                    region.base, there.base
                )));
            }
            // Registers may be in reserved memory because the payload never uses reserved memory.
            let is_reserved = self.reserved.iter().any(|part| part.contains(region));
            let mut memory = self.memory.iter().filter(|_| !is_reserved);
            if let Some(there) = memory.find(|memory| memory.overlaps(region)) {
                return Err(FormatError::new(format_args!(
                    "the {name} at {:#x} overlaps memory at {:#x}: correct the memory node, or \
                     reserve that part",
                    region.base, there.base
                )));
            }
        }
        Ok(())
    }
}

/// Rejects a `status` that is not a string, because it is unclear whether the node is enabled.
fn check_status(tree: Fdt<'_>) -> Result<()> {
    let mut nodes = Node::root(tree).subtree().map(|(_, node)| node);
    let is_cut = |node: &Node<'_>| {
        let status = node.value("status");
        status.is_some_and(|text| text.last() != Some(&0))
    };
    match nodes.find(is_cut) {
        Some(node) => Err(node.error("status", format_args!("the string has no final NUL"))),
        None => Ok(()),
    }
}

/// Returns the board name, or "" if the tree has no valid name.
fn model<'t>(root: Node<'t>) -> &'t str {
    let title = |name| root.text(name).ok().flatten();
    let model = title("model").or_else(|| title("compatible")).unwrap_or("");
    // `Node::text` accepts only ASCII, so any byte offset is a character boundary.
    model.get(..MODEL_MAX).unwrap_or(model)
}

fn bootargs<'t>(tree: Fdt<'t>) -> Result<&'t str> {
    let Some(chosen) = Node::find(tree, "/chosen") else {
        return Ok("");
    };
    // Some boot loaders write an empty value if there are no arguments.
    let Some(value) = chosen.value("bootargs").filter(|value| !value.is_empty()) else {
        return Ok("");
    };
    let text = chosen.text("bootargs")?.unwrap_or("");
    let end = text.len();
    // Some loaders pad the string with NULs, but text after a NUL would be lost.
    if value.iter().skip(end).any(|byte| *byte != 0) {
        let message = format_args!("text follows the NUL at offset {end}");
        return Err(chosen.error("bootargs", message));
    }
    Ok(text)
}
