//! The conversion of a device tree to a [`Board`]: CPUs, memory, devices, idle states.

mod board;
mod check;
mod console;
mod cpus;
mod fdt;
pub mod free_memory;
mod gic;
mod idle;
mod labels;
mod memory;
mod node;
mod psci;
mod ranges;
#[cfg(test)]
mod tests;
pub mod text;
mod timer_frame;
mod timers;
mod watchdog;

pub use self::board::Board;
pub use self::check::total_size;
pub use self::console::Console;
pub use self::free_memory::Room;
pub use self::gic::{FrameLimits, GICC_V2, GICD_V2, GICD_V3, GICR, Gic, REDISTRIBUTOR_REGIONS_MAX};
pub use self::idle::{IDLE_STATES_MAX, IdleState};
pub use self::labels::{CPU_MAX, Cpu, LabelSource};
pub use self::memory::{MEMORY_MAX, RESERVED_MAX};
pub use self::timer_frame::{FRAMES, SPIS, TimerFrame};
pub use self::timers::{PPIS, TimerPpis};
pub use self::watchdog::Watchdog;
pub use crate::devices::timer_frame::NoFrame;
pub use crate::devices::watchdog::{NoWatchdog, WatchdogKind};
pub use crate::spec::format_error::FormatError;
pub use crate::spec::region::{ADDRESSES, Region};
