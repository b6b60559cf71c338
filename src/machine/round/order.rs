//! The order that the lead gives to one CPU.

use psci_bench::measure::{Action, After, Window};
use psci_bench::spec::stat::Ladder;

/// The CPUs of a round that one CPU wakes by SGI.
#[derive(Clone, Copy)]
pub enum SgiTargets {
    /// None.
    None,
    /// All others that sleep, one after another in the board's order, and as
    /// many ticks apart.
    InTurn {
        /// Whether the lead sleeps, too.
        lead: bool,
        /// Ticks from one SGI to the next.
        step: u64,
    },
    /// All others that sleep, by one write where the GIC can.
    AtOnce {
        /// Whether the lead sleeps, too.
        lead: bool,
    },
    /// The CPU of this index.
    One(usize),
}

/// What a CPU has to do.
#[derive(Clone, Copy)]
pub struct Order {
    /// The call.
    pub action: Action,
    /// Ticks from the start to the call.
    pub delay: u64,
    /// Bytes to make dirty in the CPU's cache before.
    pub dirty: usize,
    /// Ticks from the start to this CPU's own wake-up.
    pub alarm: u64,
    /// Ticks from the start before which nobody is to wake this CPU.
    pub due: u64,
    /// When the lead called CPU_ON; 0 for a CPU that was on already.
    pub turned_on: u64,
    /// Whether the timer frame is to wake this CPU when it is due; its own
    /// timer, if that goes on, at `alarm` only.
    pub frame: bool,
    /// The CPUs that this one wakes by SGI.
    pub wakes: SgiTargets,
    /// Ticks from the start until which the CPU, once it is done, touches no
    /// memory and calls no firmware.
    pub quiet: u64,
    /// What to do afterwards.
    pub after: After,
    /// Whether this CPU stays on until it is released, to see to it that the
    /// lead has come back.
    pub holds: bool,
    /// The states of which PSCI_STAT is to be read.
    pub ladder: Ladder,
    /// How a timer is to be looked at.
    pub window: Option<Window>,
}
