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
//!       -> console, firmware, gic, timers, frame, watchdog, cache, cpus, labels, memory, idle
//! ```
//!
//! The tree may come from anywhere, so every byte of it is distrusted; what
//! is missing or contradictory is an error that names node and property.

use arrayvec::ArrayVec;

use crate::devices::timer_frame::NoFrame;
use crate::image::Conduit;
use crate::spec::counter::CounterErratum;

use super::console::Uart;
use super::cpus::{Cpu, LabelSource};
use super::error::{BoardError, Problem};
use super::frame::TimerFrame;
use super::gic::Gic;
use super::idle::{IDLE_STATES_MAX, IdleState};
use super::memory::{MEMORY_MAX, RESERVED_MAX};
use super::ranges::Region;
use super::timers::TimerPpis;
use super::watchdog::Watchdog;

use super::fdt::{Fdt, Node, Read, Tree};

/// The most bytes of a board's name: at a UART's speed a MiB takes minutes.
const MODEL_MAX: usize = 100;

/// All that the payload knows of the board. Strings are in the tree's bytes.
#[derive(Clone, Debug)]
pub struct Board<'t> {
    /// `model` of the root, else its first `compatible`, at most 100 bytes of
    /// it; may be empty.
    pub model: &'t str,
    /// The console.
    pub uart: Uart,
    /// The interrupt controller. Without one nothing wakes a suspended CPU, and
    /// what needs no waking can be measured all the same.
    pub gic: Option<Gic>,
    /// The per-CPU timers' interrupts; none without a GIC.
    pub timers: TimerPpis,
    /// A memory-mapped timer, for states in which those stop.
    pub timer_frame: Result<TimerFrame, NoFrame>,
    /// A watchdog, if there is one that can be used.
    pub watchdog: Option<Watchdog>,
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
    /// Bytes of the largest second-level cache that the tree describes.
    pub second_level_cache: Option<u64>,
    /// How many CPUs there are that are not disabled, 1 to [`CPU_MAX`].
    pub cpu_count: usize,
    /// The counter's erratum, by a property of the timer's node, or by the
    /// `compatible` of any CPU that is not disabled.
    pub counter_erratum: Option<CounterErratum>,
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
        let tree = Tree::new(super::check::open(tree)?);
        tree.outcome(Self::of(&tree))
    }

    fn of(tree: &Tree<'t>) -> Read<Self> {
        let found = Found::search(tree);
        // Without PSCI there is nothing to measure, so that is said first.
        let conduit = found.conduit(tree)?;
        let uart = super::console::uart(tree)?;
        let (gic, timers) = match (found.controller, found.timer) {
            (None, _) => (None, TimerPpis::default()),
            (Some(_), None) => {
                return Err(tree.no_node("no node compatible with arm,armv8-timer"));
            }
            (Some((node, compatible)), Some(timer)) => {
                let controller = super::gic::read(node, compatible)?;
                let timers = super::timers::read(timer, &controller)?;
                (Some(controller.gic), timers)
            }
        };
        let has_gic = gic.is_some();
        let (cpu_count, has_cortex_a73) = super::cpus::count(tree)?;
        let root = tree.root();
        // A title that is not text is no reason to measure nothing.
        let title = |name| root.text(name).ok().flatten();
        let model = title("model").or_else(|| title("compatible")).unwrap_or("");
        let board = Self {
            // Text of a tree is ASCII.
            model: model.get(..MODEL_MAX).unwrap_or(model),
            uart,
            gic,
            timers,
            timer_frame: match found.frames {
                // Its interrupt would go nowhere without a GIC.
                Some(frames) if has_gic => super::frame::read(frames),
                _ => Err(NoFrame::NotInTree),
            },
            watchdog: found.watchdog.and_then(super::watchdog::read),
            conduit,
            memory: super::memory::read(tree)?,
            reserved: super::memory::reserved(tree)?,
            idle_states: super::idle::read(tree)?,
            bootargs: bootargs(tree)?,
            second_level_cache: found.cache,
            cpu_count,
            counter_erratum: found
                .timer
                .and_then(super::timers::erratum)
                .or(has_cortex_a73.then_some(CounterErratum::CortexA73)),
            fdt: tree.fdt(),
        };
        match board.check_overlaps() {
            Ok(()) => Ok(board),
            Err(problem) => Err(tree.report(BoardError::tree(problem))),
        }
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
        let tree = Tree::new(self.fdt);
        tree.outcome(super::cpus::fill(&tree, mpidr_mt, out))
    }
}

/// What is found by `compatible`, wherever it is: the first of each kind.
#[derive(Default)]
pub(crate) struct Found<'c, 't> {
    psci: Option<Node<'c, 't>>,
    old_psci: Option<Node<'c, 't>>,
    /// With its `compatible`.
    controller: Option<(Node<'c, 't>, &'t [u8])>,
    timer: Option<Node<'c, 't>>,
    frames: Option<Node<'c, 't>>,
    watchdog: Option<Node<'c, 't>>,
    /// Bytes.
    cache: Option<u64>,
}

impl<'c, 't> Found<'c, 't> {
    /// One walk for all.
    pub(crate) fn search(tree: &'c Tree<'t>) -> Self {
        let mut found = Self::default();
        let _ = super::tree::walk(tree, &mut |chain, facts| {
            let (node, compatible) = (chain.node(), facts.compatible);
            if super::firmware::is_psci(compatible) {
                found.psci.get_or_insert(node);
            } else if super::firmware::is_old_psci(compatible) {
                found.old_psci.get_or_insert(node);
            }
            found.cache = found
                .cache
                .max(super::cache::second_level(node, compatible));
            if super::gic::is_gic(compatible) {
                found.controller.get_or_insert((node, compatible));
            } else if super::timers::is_timer(compatible) {
                found.timer.get_or_insert(node);
            } else if super::frame::is_timer(compatible) {
                found.frames.get_or_insert(node);
            } else if super::watchdog::is_watchdog(compatible) {
                found.watchdog.get_or_insert(node);
            }
            Ok(())
        });
        found
    }

    /// How PSCI is called.
    pub(crate) fn conduit(&self, tree: &Tree<'t>) -> Read<Conduit> {
        match (self.psci, self.old_psci) {
            (Some(node), _) => super::firmware::conduit(node),
            (None, Some(old)) => super::firmware::refuse_old(old),
            (None, None) => Err(tree.no_node(super::firmware::absence(tree))),
        }
    }
}

fn bootargs<'t>(tree: &Tree<'t>) -> Read<&'t str> {
    let Some(chosen) = tree.find("/chosen") else {
        return Ok("");
    };
    // Some boot loaders write no value at all for no arguments.
    match chosen.value("bootargs") {
        None | Some([]) => Ok(""),
        Some(value) => {
            let text = chosen.text("bootargs")?.unwrap_or("");
            // Loaders pad with NULs; words behind one would be lost.
            match value.iter().skip(text.len()).any(|byte| *byte != 0) {
                false => Ok(text),
                true => Err(chosen.error("bootargs", Problem::EmbeddedNul(text.len()))),
            }
        }
    }
}
