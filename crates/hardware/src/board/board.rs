//! The board, as described by its flattened device tree (Devicetree Specification v0.4 and Linux's
//! bindings). The tree is not trusted: a missing or contradictory property is an error that names
//! the node and the property.

use alloc::vec::Vec;

use crate::devices::timer_frame::NoFrame;
use crate::devices::uart::registers;
use crate::image::{Conduit, Uart};
use crate::spec::counter::CounterErratum;

use super::fdt::Fdt;
use super::gic::{self, Gic};
use super::idle::IdleState;
use super::labels::{Cpu, LabelSource};
use super::node::{Node, find_compatible};
use super::ranges::Region;
use super::timers::{self, TimerFrame, TimerPpis};
use super::watchdog::{self, Watchdog};
use crate::text::format_error::{FormatError, Result};

/// The maximum length of a board name in bytes: a UART takes minutes to print a MiB.
const MODEL_MAX: usize = 100;

/// Everything the payload reads about the board. Strings borrow from the tree.
#[derive(Clone, Debug)]
pub struct Board<'t> {
    /// The first 100 bytes of the root's `model` or, if it has none, of its first `compatible`. May
    /// be empty.
    pub model: &'t str,
    /// The console.
    pub uart: Uart,
    /// The interrupt controller. On a board without a GIC, nothing wakes a suspended CPU, so only
    /// operations that need no wake-up are measured.
    pub gic: Option<Gic>,
    /// The per-CPU timer interrupts; empty if there is no GIC.
    pub timers: TimerPpis,
    /// A memory-mapped timer for states that stop the per-CPU timers.
    pub timer_frame: Result<TimerFrame, NoFrame>,
    /// The watchdog, if the board has a usable one.
    pub watchdog: Option<Watchdog>,
    /// The conduit for PSCI calls.
    pub conduit: Conduit,
    /// True if the tree says that CPUs do not come back after CPU_OFF.
    pub forbids_cpu_off: bool,
    /// Memory, in tree order; 1 to [`super::MEMORY_MAX`] regions.
    pub memory: Vec<Region>,
    /// Reserved memory, at most [`super::RESERVED_MAX`] regions, which may overlap.
    pub reserved: Vec<Region>,
    /// Idle states entered by PSCI, at most [`super::IDLE_STATES_MAX`].
    pub idle_states: Vec<IdleState<'t>>,
    /// `/chosen/bootargs`, or "".
    pub bootargs: &'t str,
    /// The size in bytes of the largest second-level cache in the tree.
    pub second_level_cache: Option<u64>,
    /// The number of CPUs that are not disabled, 1 to [`super::CPU_MAX`].
    pub cpu_count: usize,
    /// The counter erratum, from a property of the timer node or from the `compatible` of any CPU
    /// that is not disabled.
    pub counter_erratum: Option<CounterErratum>,
    fdt: Fdt<'t>,
}

impl<'t> Board<'t> {
    /// Reads the device tree at the start of `tree`; bytes after `totalsize` are ignored.
    ///
    /// # Errors
    /// Returns an error that names the first unusable node or property.
    /// [`super::TreeConsole::find`] finds the UART to print the error on.
    // Not inlined: the caller's stack frame exists for the whole run.
    #[inline(never)]
    pub fn read(tree: &'t [u8]) -> Result<Self, FormatError> {
        let tree = super::fdt::open(tree)?;
        check_status(tree)?;
        // Without PSCI there is nothing to measure, so this error takes precedence.
        let conduit = super::psci_node::conduit(tree)?;
        let uart = super::stdout_path::uart(tree)?;
        let controller = find_compatible(tree, gic::COMPATIBLE).map(gic::read);
        let controller = controller.transpose()?;
        let timer = find_compatible(tree, timers::COMPATIBLE);
        let timers = controller.as_ref().map(|gic| timers::read(timer, gic));
        // Without a GIC, no CPU receives the frame's interrupt.
        let frames = find_compatible(tree, timers::FRAMES_COMPATIBLE);
        let frames = frames.filter(|_| controller.is_some());
        let (cpu_count, has_cortex_a73) = super::cpus::count(tree)?;
        let board = Self {
            model: model(Node::root(tree)),
            uart,
            timers: timers.transpose()?.unwrap_or_default(),
            gic: controller.map(|controller| controller.gic),
            timer_frame: frames.map_or(Err(NoFrame::NotInTree), timers::read_frame),
            watchdog: find_compatible(tree, watchdog::COMPATIBLE).and_then(watchdog::read),
            conduit,
            forbids_cpu_off: super::psci_node::forbids_cpu_off(tree),
            memory: super::memory::read(tree)?,
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
    /// `mpidr_mt` is bit 24 of MPIDR_EL1, set if Aff0 numbers threads. The bit matters only if
    /// there is no cpu-map.
    ///
    /// # Errors
    /// Returns an error if two CPUs have the same MPIDR, or if cpu-map is invalid or omits a CPU.
    pub fn cpus(&self, mpidr_mt: bool) -> Result<(LabelSource, Vec<Cpu>)> {
        super::cpus::read(self.fdt, self.cpu_count, mpidr_mt)
    }

    /// Returns the name and registers of every device in use, except the console, which is needed
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
        let frames = self.timer_frame.iter().flat_map(TimerFrame::registers);
        let names = ["timer's control frame", "timer frame"];
        devices.extend(names.into_iter().zip(frames));
        let watchdog = self.watchdog.iter();
        devices.extend(watchdog.map(|it| ("watchdog", it.registers())));
        devices
    }

    /// Rejects registers that overlap memory or another device's registers: refreshing a watchdog
    /// at the distributor's address would turn off the GIC.
    fn check_overlaps(&self) -> Result<()> {
        let mut devices = self.devices();
        devices.push(("console", registers(&self.uart)));
        for (index, (name, region)) in devices.iter().enumerate() {
            let overlaps = |it: &&(&str, Region)| it.1.overlaps(region);
            if let Some((other, there)) = devices.iter().take(index).find(overlaps) {
                let (at, there) = (region.base, there.base);
                let message =
                    format_args!("the {name} at {at:#x} overlaps the {other} at {there:#x}");
                return Err(FormatError::new(message));
            }
            // The payload never uses reserved memory, so registers may be located there.
            let is_reserved = self.reserved.iter().any(|part| part.contains(region));
            let mut memory = self.memory.iter().filter(|_| !is_reserved);
            if let Some(there) = memory.find(|memory| memory.overlaps(region)) {
                return Err(FormatError::new(format_args!(
                    "the {name} at {:#x} overlaps memory at {:#x}: correct the memory node, \
                     or reserve that part",
                    region.base, there.base
                )));
            }
        }
        Ok(())
    }
}

/// Rejects a `status` that is not a string: it is unclear whether the node can be used.
fn check_status(tree: Fdt<'_>) -> Result<()> {
    let mut nodes = Node::root(tree).subtree().map(|(_, node)| node);
    let is_cut = |node: &Node<'_>| node.value("status").is_some_and(|it| it.last() != Some(&0));
    match nodes.find(is_cut) {
        Some(node) => Err(node.error("status", format_args!("a string without its final NUL"))),
        None => Ok(()),
    }
}

/// Returns the board's name, or "" if the tree has no name that is text.
fn model<'t>(root: Node<'t>) -> &'t str {
    let title = |name| root.text(name).ok().flatten();
    let model = title("model").or_else(|| title("compatible")).unwrap_or("");
    // Text in a tree is ASCII.
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
    // Loaders pad with NULs, but words after a NUL would be lost.
    if value.iter().skip(end).any(|byte| *byte != 0) {
        let message = format_args!("text follows the NUL at offset {end}");
        return Err(chosen.error("bootargs", message));
    }
    Ok(text)
}
