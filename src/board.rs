//! The board, as its device tree describes it.
//!
//! One image serves all boards: where the console is, which GIC there is, how
//! firmware is called, which CPUs in which clusters, and which idle states
//! with which `power_state`, all of it comes from a flattened device tree
//! (Devicetree Specification v0.4) with the bindings that Linux uses.
//!
//! ```text
//! bytes -> check    is it a sound tree? (one pass; nothing later can panic)
//!       -> tree     nodes with their paths and parents
//!       -> ranges   bus addresses to CPU addresses
//!       -> console, firmware, gic, timers, cpus, labels, memory, idle
//! ```
//!
//! The tree may come from anywhere, so every byte of it is distrusted; what
//! is missing or contradictory is an error that names node and property.

use arrayvec::ArrayVec;

use crate::image::Conduit;

mod check;
mod console;
mod cpus;
mod error;
mod fdt;
mod firmware;
mod gic;
mod idle;
mod labels;
mod memory;
mod ranges;
mod timers;
mod tree;

pub use self::check::total_size;
pub use self::console::{Console, Uart};
pub use self::cpus::{CPU_MAX, Cpu, LabelSource, MPIDR_MASK};
pub use self::error::{BoardError, NodePath, Problem};
pub use self::gic::{Gic, REDISTRIBUTOR_REGIONS_MAX};
pub use self::idle::{IDLE_STATES_MAX, IdleState};
pub use self::memory::{MEMORY_MAX, RESERVED_MAX};
pub use self::ranges::Region;
pub use self::timers::TimerPpis;

use self::fdt::{Fdt, Node};

/// All that the payload knows of the board. Strings are in the tree's bytes.
#[derive(Clone, Debug)]
pub struct Board<'t> {
    /// `model` of the root, else its first `compatible`; may be empty.
    pub model: &'t str,
    /// The console.
    pub uart: Uart,
    /// The interrupt controller.
    pub gic: Gic,
    /// The per-CPU timers' interrupts.
    pub timers: TimerPpis,
    /// How PSCI is called.
    pub conduit: Conduit,
    /// Memory, in the tree's order; at least one region.
    pub memory: ArrayVec<Region, MEMORY_MAX>,
    /// What of it is not to be touched; regions may overlap.
    pub reserved: ArrayVec<Region, RESERVED_MAX>,
    /// Idle states that are entered by PSCI.
    pub idle_states: ArrayVec<IdleState<'t>, IDLE_STATES_MAX>,
    /// `/chosen/bootargs`, or "".
    pub bootargs: &'t str,
    /// How many CPUs there are that are not disabled, 1 to [`CPU_MAX`].
    pub cpu_count: usize,
    fdt: Fdt<'t>,
}

impl<'t> Board<'t> {
    /// Reads the device tree that `tree` begins with; what follows
    /// `totalsize` is ignored.
    ///
    /// # Errors
    /// The first thing found that cannot be used. [`Console::find`] tells
    /// where to print it.
    // Never a part of its caller, whose stack frame lasts as long as the run.
    #[inline(never)]
    pub fn read(tree: &'t [u8]) -> Result<Self, BoardError<'t>> {
        let fdt = check::open(tree)?;
        let found = Found::search(fdt);
        // Without PSCI there is nothing to measure, so that is said first.
        let conduit = found.psci.conduit()?;
        let uart = console::uart(fdt)?;
        let none = |what| BoardError::tree(Problem::NoNode(what));
        let controller = found.controller.unwrap_or(Err(none(
            "no node compatible with arm,gic-v3 or arm,gic-400",
        )))?;
        let timer = found
            .timer
            .ok_or(none("no node compatible with arm,armv8-timer"))?;
        let timers = timers::read(timer, &controller)?;
        let cpu_count = cpus::count(fdt)?;
        let memory = found.memory?.regions;
        if memory.is_empty() {
            return Err(none("no memory node with a size"));
        }
        let root = fdt.root();
        // A title that is not text is no reason to measure nothing.
        let title = |name| root.text(name).ok().flatten();
        Ok(Self {
            model: title("model").or_else(|| title("compatible")).unwrap_or(""),
            uart,
            gic: controller.gic,
            timers,
            conduit,
            memory,
            reserved: memory::reserved(fdt)?,
            idle_states: idle::read(fdt)?,
            bootargs: bootargs(fdt)?,
            cpu_count,
            fdt,
        })
    }

    /// Writes the CPUs to the first [`Self::cpu_count`] places of `out`, in
    /// the order of MPIDR, and tells where their labels come from.
    ///
    /// `mpidr_mt` is bit 24 of MPIDR_EL1: whether Aff0 numbers threads. It
    /// matters only when there is no cpu-map.
    ///
    /// # Errors
    /// When `out` is too short, two CPUs have one MPIDR, or cpu-map is not
    /// sound or leaves a CPU out.
    pub fn cpus(&self, mpidr_mt: bool, out: &mut [Cpu]) -> Result<LabelSource, BoardError<'t>> {
        let out = out
            .get_mut(..self.cpu_count)
            .ok_or(BoardError::tree(Problem::NoRoom(self.cpu_count)))?;
        cpus::fill(self.fdt, mpidr_mt, out)
    }
}

/// What is found by `compatible` or `device_type`, wherever it is.
struct Found<'t> {
    psci: firmware::Psci<'t>,
    controller: Option<Result<gic::Controller, BoardError<'t>>>,
    timer: Option<Node<'t>>,
    memory: Result<memory::List<MEMORY_MAX>, BoardError<'t>>,
}

impl<'t> Found<'t> {
    /// One walk for all. Errors are kept, so that the caller can report the
    /// most telling one first.
    fn search(fdt: Fdt<'t>) -> Self {
        let mut found = Self {
            psci: firmware::Psci::default(),
            controller: None,
            timer: None,
            memory: Ok(memory::List::new()),
        };
        let walked = tree::walk(fdt, &mut |chain, facts| {
            found.psci.visit(chain, facts);
            if found.controller.is_none() && gic::is_gic(facts.compatible) {
                found.controller = Some(gic::read(chain, facts.compatible));
            } else if found.timer.is_none() && timers::is_timer(facts.compatible) {
                found.timer = Some(chain.node());
            }
            if facts.is_memory
                && let Ok(list) = &mut found.memory
                && let Err(error) = list.append(chain)
            {
                found.memory = Err(error);
            }
            Ok(())
        });
        if let Err(error) = walked {
            found.memory = Err(error);
        }
        found
    }
}

fn bootargs(fdt: Fdt<'_>) -> Result<&str, BoardError<'_>> {
    let Some(chosen) = fdt.find("/chosen") else {
        return Ok("");
    };
    // Some boot loaders write no value at all for no arguments.
    match chosen.value("bootargs") {
        None | Some([]) => Ok(""),
        Some(_) => Ok(chosen.text("bootargs")?.unwrap_or("")),
    }
}

#[cfg(test)]
mod tests;
