//! Converts a device tree to a [`Board`] with CPUs, memory, devices and idle states.

mod board;
mod cpu_index;
mod cpus;
mod fdt;
mod footprint;
pub mod free_memory;
mod gic;
mod idle;
mod idle_order;
mod labels;
mod memory;
mod node;
mod psci_node;
mod ranges;
mod reference;
mod state_node;
#[cfg(test)]
mod tests;
mod timers;
mod tree_console;
mod watchdog;

pub use self::board::Board;
pub use self::cpu_index::{CPU_MAX, CpuIndex};
pub use self::fdt::{total_size, whole_tree};
pub use self::footprint::Footprint;
pub use self::free_memory::Room;
pub use self::gic::{
    FrameLimits, GICC_V2, GICD_V2, GICD_V3, GICR, GITS, Gic, REDISTRIBUTOR_REGIONS_MAX,
};
pub use self::idle::{IDLE_STATES_MAX, IdleState, IdleStates, LeftOutState};
pub use self::idle_order::StateSet;
pub use self::labels::{Cpu, LabelSource};
pub use self::memory::{MEMORY_MAX, MemorySource, RESERVED_MAX};
pub use self::psci_node::SHORTEST_SLEEP_MAX_US;
pub use self::state_node::LeftOut;
pub use self::timers::{CounterFrequency, FRAMES, TimerFrame, TimerPpis};
pub use self::tree_console::{ConsoleSource, TreeConsole};
pub use self::watchdog::Watchdog;
pub use crate::devices::timer_frame::NoFrame;
pub use crate::devices::watchdog::{NoWatchdog, WatchdogKind};
pub use crate::spec::gic_version::GicVersion;
pub use crate::spec::int_id::IntId;
pub use crate::spec::mpidr::Mpidr;
pub use crate::spec::region::{ADDRESSES, Region};
pub use crate::text::format_error::FormatError;
